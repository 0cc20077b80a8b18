import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryStore
import BelfryWire

// A backup (decision 52): the store makes a copy between its commits, and the loop sends it part by part.

extension Callers {
    /// Begins a backup (POST /v1/backup); the answer follows once the copy is whole.
    mutating func beginBackup(for id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        let caller = exchange.caller ?? outbox.anonymous
        // It has what is held in all centers.
        guard caller.grants.allowEverywhere(.admin) else {
            throw Problem.lacking("admin", caller)
        }
        let query = try Query(exchange.parser.head)
        try query.finish()
        guard let store = shared.store else {
            throw Problem(
                .noStore, "The broker keeps everything in memory; --data says where it stores.")
        }
        let reply = Reply(loop: outbox.number, connection: id, form: .http(exchange.reply))
        do throws(BackupError) {
            try store.backUp { [mailbox = shared.mailboxes[outbox.number]] outcome in
                _ = mailbox.post(.backup(outcome, reply))
            }
        } catch {
            throw Problem(error)
        }
        move(id, .asked, &outbox)
        // The copy takes as long as it takes; it ends by itself.
        outbox.loop.setDeadline(id, at: nil)
    }

    /// The copy is whole, or there is none.
    mutating func takeBackup(
        _ outcome: Result<StoreCopy, BackupError>, _ reply: Reply, _ outbox: inout Outbox
    ) {
        let id = reply.connection
        guard case .http(let http) = reply.form, connections.kind(of: id) == .http else { return }
        switch outcome {
        case .success(let copy):
            var answer = Answer(contentType: .other("application/vnd.sqlite3"))
            answer.fields = [
                .noStore,
                HTTPField("Content-Disposition", "attachment; filename=\"belfry.db\""),
            ]
            beginContent(of: copy.byteCount, answer, to: id, http, &outbox)
            unfinished(of: id).copy = copy
            askForPart(id, &outbox)
        case .failure(let error):
            answer(Problem(error), to: id, http, &outbox)
        }
    }

    /// Asks for what comes behind the part that was sent, if anything does.
    mutating func askForPart(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let copy = connections[id].unfinished?.copy else { return }
        copy.readOn { [mailbox = shared.mailboxes[outbox.number]] part in
            _ = mailbox.post(.backupPart(part, id))
        }
    }

    /// Sends a part; where it could not be read, the client must see that its copy is not whole.
    mutating func takePart(_ part: [UInt8], for id: ConnectionID, _ outbox: inout Outbox) {
        guard connections.kind(of: id) == .http, let unfinished = connections[id].unfinished,
            unfinished.copy != nil
        else { return }
        guard !part.isEmpty else {
            outbox.log.write(.warning, "a backup was cut off: it could not be read")
            cut(id, &outbox)
            return
        }
        unfinished.content = part
        unfinished.copiedByteCount += part.count
        if unfinished.copiedByteCount == unfinished.copy?.byteCount { unfinished.copy = nil }
        throttle(id, &outbox)
    }
}

extension Problem {
    /// Tells why there is no backup.
    init(_ error: BackupError) {
        switch error {
        case .underWay:
            self.init(
                .backupUnderWay,
                "Another backup is under way, and there is one at a time; try again when it is over."
            )
        case .closing:
            self = .isStopping
        case .failed(.full):
            self.init(.backupFailed, "The disk has no room for a copy; the store goes on.")
        case .failed(let error):
            self.init(.backupFailed, "There is no copy: \(error.sentence).")
        }
    }
}
