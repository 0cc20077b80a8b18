import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryStore
import BelfryWire

// Backups (decision 52): the store makes a copy between its commits, and the loop sends it in
// parts.

extension Callers {
    /// Begins a backup (POST /v1/backup); the answer follows once the copy is whole.
    mutating func beginBackup(for id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        let caller = exchange.caller(outbox.anonymous)
        // The copy has the contents of all centers.
        guard caller.grants.allowEverywhere(.admin) else {
            throw Problem.lacking("admin", caller)
        }
        let query = try Query(exchange.parser.head)
        try query.finish()
        guard let store = shared.store else {
            throw Problem(
                .noStore, "The broker keeps everything in memory; start it with --data.")
        }
        let reply = Reply(
            loop: outbox.number, connection: id, form: .http(exchange.reply), encoding: .plain)
        do throws(BackupError) {
            try store.backUp { [mailbox = shared.mailboxes[outbox.number]] outcome in
                _ = mailbox.post(.backup(outcome, reply))
            }
        } catch {
            throw Problem(error)
        }
        connections.move(id, .asked, &outbox)
        connections.setDeadline(id, .copy, &outbox)
    }
}

extension Problem {
    /// The problem of a backup that was not made.
    init(_ error: BackupError) {
        switch error {
        case .underWay:
            self.init(
                .backupUnderWay,
                "Another backup is in progress; try again when it has finished."
            )
        case .closing:
            self = .isStopping
        case .failed(.full):
            self.init(.backupFailed, "The disk has no room for a copy; the store is not affected.")
        case .failed(let error):
            self.init(.backupFailed, "The backup failed: \(error.sentence).")
        }
    }
}
