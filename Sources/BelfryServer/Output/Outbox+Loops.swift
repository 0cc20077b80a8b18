import BelfryLoop
import BelfryWire

// Output for other loops: one mailbox entry of each kind for each loop and turn.

extension Outbox {
    /// Sends a submission to the loop of its center at the end of the turn.
    mutating func send(_ submission: Submission, to target: Int) {
        outbound[target].submissions.append(submission)
    }

    /// Whether output for other loops waits for the end of the turn.
    @inline(__always)
    var hasOutbound: Bool {
        outbound.contains { !$0.submissions.isEmpty || !$0.output.isEmpty }
    }

    /// Hands each other loop its messages of this turn.
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
        // A loop that falls 65,536 turns behind is stuck; losses are reported, not hidden.
        let hasRoom = shared.mailboxes[target].post(message)
        if !hasRoom { meet(.mail) }
        return hasRoom
    }

    /// Refuses submissions that the other loop did not accept.
    private mutating func refuse(_ submissions: [Submission]) {
        for submission in submissions where submission.reply.loop == number {
            content.removeAll(keepingCapacity: true)
            let problem = Problem(
                .overloaded, "The broker cannot keep up with this center; try again later.")
            deliver(problemAnswer(problem), submission.reply)
        }
    }

    /// Sends all other loops a message.
    func tellOthers(_ message: LoopMessage) {
        for target in shared.mailboxes.indices where target != number {
            _ = shared.mailboxes[target].post(message)
        }
    }

    /// Writes the output of another loop for connections of this one, and adds their items.
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

    /// Gathers the connections of a row.
    ///
    /// It leaves out those whose observer was removed while the frames were under way (rule C11).
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
