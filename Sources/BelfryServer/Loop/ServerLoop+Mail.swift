import BelfryLoop

// The mail between loops: one mailbox entry for each loop and turn.

extension ServerLoop {
    /// Handles the messages of other loops.
    mutating func readMail() {
        var messages: [LoopMessage] = []
        context.shared.mailboxes[context.number].drain(into: &messages)
        for message in messages {
            switch message {
            case .submissions(let submissions):
                for submission in submissions where !host.postponed.takes(submission, &context) {
                    _ = host.perform(submission, &context)
                }
            case .output(let output):
                context.take(output)
            case .arrived(let arrival):
                callers.admit(arrival, &context)
            case .committed(let ticket):
                host.takeCommit(ticket, &context)
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
            case .renew(let certificate):
                callers.entrance.take(certificate)
            case .renewEngine(let certificates):
                engine?.certificates = certificates
            case .backup(let outcome, let reply):
                callers.connections.takeBackup(outcome, reply, &context)
            case .backupPart(let part, let id):
                callers.connections.takePart(part, for: id, &context)
            case .verdict(let digest, let verdict):
                takeVerdict(digest, verdict)
            case .stop:
                finish()
            }
            react()
        }
    }
}
