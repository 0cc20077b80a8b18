import BelfryLoop
import BelfryWire

// What goes to other loops: one mailbox entry of each kind for each loop and turn.

extension Outbox {
    /// Lets the loop of its center have a submission at the end of the turn.
    mutating func send(_ submission: Submission, to target: Int) {
        outbound[target].submissions.append(submission)
    }

    /// Whether something waits for the end of the turn.
    @inline(__always)
    var hasOutbound: Bool {
        outbound.contains { !$0.submissions.isEmpty || !$0.output.isEmpty }
    }

    /// Hands each other loop what this turn has for it.
    mutating func sendToOtherLoops() {
        for target in outbound.indices where target != number {
            if !outbound[target].submissions.isEmpty {
                var submissions: [Submission] = []
                swap(&submissions, &outbound[target].submissions)
                if !post(.submissions(submissions), to: target) { refuse(submissions) }
            }
            if !outbound[target].output.isEmpty {
                var output = RemoteOutput()
                swap(&output, &outbound[target].output)
                _ = post(.output(output), to: target)
            }
        }
    }

    private mutating func post(_ message: LoopMessage, to target: Int) -> Bool {
        // A loop that falls 65,536 turns behind is stuck; what it misses is told, not hidden.
        let hasRoom = shared.mailboxes[target].post(message)
        if !hasRoom { meet(.mail) }
        return hasRoom
    }

    /// Nothing of these was accepted, and whoever asked is told so.
    private mutating func refuse(_ submissions: [Submission]) {
        for submission in submissions where submission.reply.loop == number {
            content.removeAll(keepingCapacity: true)
            let problem = Problem(
                .overloaded, "The broker cannot keep up with this center; try again later.")
            deliver(problemAnswer(problem), submission.reply)
        }
    }

    /// Tells all other loops something.
    func tellOthers(_ message: LoopMessage) {
        for target in shared.mailboxes.indices where target != number {
            _ = shared.mailboxes[target].post(message)
        }
    }

    /// Writes what another loop has for connections of this one, and says what they are to do about it.
    mutating func take(_ output: RemoteOutput) {
        let removed = shared.removedObservers.read()
        let offset = loop.output.count
        let frameOffset = loop.frames.count
        loop.output.append(contentsOf: output.bytes)
        loop.frames.append(contentsOf: output.frames)
        for item in output.items {
            if case .deliveries(let row) = item.content {
                gather(output, row, without: removed)
                loop.sendFrames(frameOffset + item.start..<frameOffset + item.end, to: targets)
                continue
            }
            let target = ConnectionNumber(rawValue: item.connection)
            let range = offset + item.start..<offset + item.end
            loop.send(range, to: target.connection, as: item.content.outputKind)
            if item.content.changesConnection { add(item.content, to: target) }
        }
    }

    /// Gathers the connections of a row, but not those whose observer was removed while the frames
    /// were under way (rule C11).
    private mutating func gather(
        _ output: RemoteOutput, _ row: Range<Int>, without removed: Set<UInt64>
    ) {
        targets.removeAll(keepingCapacity: targets.capacity <= 1 << 16)
        if removed.isEmpty {
            targets.append(contentsOf: output.connections[row])
        } else {
            for place in row where !removed.contains(output.observers[place]) {
                targets.append(output.connections[place])
            }
        }
    }
}
