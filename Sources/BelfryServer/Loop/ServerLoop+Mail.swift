import BelfryLoop

// The mail between loops: one mailbox entry for each loop and turn.

extension ServerLoop {
    /// Handles the messages of other loops.
    mutating func readMail() {
        var messages: [LoopMessage] = []
        outbox.shared.mailboxes[outbox.number].drain(into: &messages)
        for message in messages {
            switch message {
            case .submissions(let submissions):
                for submission in submissions where !host.postponed.takes(submission, &outbox) {
                    _ = host.perform(submission, &outbox)
                }
            case .output(let output):
                outbox.take(output)
            case .arrived(let arrival):
                callers.admit(arrival, &outbox)
            case .committed(let ticket):
                host.takeCommit(ticket, &outbox)
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
                callers.entrance.take(context)
            case .renewEngine(let context):
                engine?.certificates = context
            case .backup(let outcome, let reply):
                callers.connections.takeBackup(outcome, reply, &outbox)
            case .backupPart(let part, let id):
                callers.connections.takePart(part, for: id, &outbox)
            case .verdict(let digest, let verdict):
                takeVerdict(digest, verdict)
            case .stop:
                finish()
            }
            react()
        }
    }
}
