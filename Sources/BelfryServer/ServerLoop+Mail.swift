import BelfryCenter
import BelfryLoop
import BelfryWire

// What loops tell each other: one mailbox entry for each loop and turn.

extension ServerLoop {
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
            answerContent.removeAll(keepingCapacity: true)
            let problem = Problem(
                .overloaded, "The broker does not keep up with this center; try again later.")
            deliver(problemAnswer(problem), submission.reply)
        }
    }

    /// Does what other loops ask for.
    mutating func readMail() {
        var messages: [LoopMessage] = []
        shared.mailboxes[number].drain(into: &messages)
        for message in messages {
            switch message {
            case .submissions(let submissions):
                for submission in submissions { perform(submission) }
            case .output(let output):
                take(output)
            case .arrived(let arrival):
                admit(arrival)
            case .committed(let ticket):
                takeCommit(ticket)
            case .drain:
                beginStopping()
            case .settled:
                stop.settledCount += 1
                seal()
            case .sealed:
                noteSealed()
            case .released:
                takeRelease()
            case .answered:
                noteAnswered(by: 1)
            case .reload(let configuration):
                take(configuration)
            case .renew(let context):
                take(context)
            case .backup(let outcome, let reply):
                takeBackup(outcome, reply)
            case .backupPart(let part, let id):
                takePart(part, for: id)
            case .verdict(let digest, let caller):
                takeVerdict(digest, caller)
            case .stop:
                finish()
            }
        }
    }

    /// Sends what another loop has for connections of this one.
    private mutating func take(_ output: RemoteOutput) {
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
            let id = ConnectionNumber(rawValue: item.connection).connection
            let range = offset + item.start..<offset + item.end
            guard let connection = connection(id), !connection.isClosing else {
                abandon(item, on: id)
                continue
            }
            switch item.content {
            case .deliveries: break
            case .notice:
                loop.send(range, to: id, as: .delivery)
            case .lastFrames:
                loop.send(range, to: id, as: .delivery)
                connections[id].client = 0
                connections[id].mailbox = 0
                closeSoon(id)
            case .answer(let sequel):
                loop.send(range, to: id, as: .answer)
                follow(sequel, on: id, nil)
            case .lateAnswer:
                loop.send(range, to: id, as: .answer)
            case .flushGoesOn(let client):
                flushFurther(client, on: id)
            }
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

    /// The connection has gone while its answer was under way: what it became must go too.
    private mutating func abandon(_ item: RemoteOutput.Item, on id: ConnectionID) {
        guard case .answer(let sequel) = item.content else { return }
        let request: CenterRequest
        let name: [UInt8]
        switch sequel {
        case .none, .close: return
        case .client(let client, _, _, let center):
            (request, name) = (.disconnect(client: client), center)
        case .stream(let observer, _, let center):
            (request, name) = (.detachReader(observer: observer), center)
        }
        submit(
            Submission(
                center: name, request: request, caller: anonymous,
                reply: Reply(
                    loop: number, connection: id, form: .none,
                    encoding: ConnectionNumber(rawValue: item.connection).encoding)))
    }
}
