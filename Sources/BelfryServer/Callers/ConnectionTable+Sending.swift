import BelfryHTTP
import BelfryLoop
import BelfryStore
import BelfryWire

// Large files and backups leave piece by piece.

extension ConnectionTable {
    /// The bytes of a large file that are handed to a socket at once.
    ///
    /// A client that does not read costs only these, and not the file.
    static let pieceByteCount = 16 << 10

    /// Sends a file that all connections share: its head now, the content piece by piece.
    mutating func sendFile(
        _ content: [UInt8], _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply,
        _ outbox: inout Outbox
    ) {
        guard content.count > Self.pieceByteCount, !reply.context.isHead, answer.status == 200
        else {
            outbox.content.append(contentsOf: content)
            send(answer, to: id, reply, &outbox)
            return
        }
        beginContent(of: content.count, answer, to: id, reply, &outbox)
        unfinished(of: id).content = content
        _ = sendPiece(to: id, &outbox)
        throttle(id, &outbox)
    }

    /// Sends the head of an answer whose content follows in pieces; the next requests wait.
    mutating func beginContent(
        of byteCount: Int, _ answer: Answer, to id: ConnectionID, _ reply: HTTPReply,
        _ outbox: inout Outbox
    ) {
        let start = outbox.loop.output.count
        var bytes: [UInt8] = []
        outbox.appendHead(answer, reply, contentByteCount: byteCount, to: &bytes)
        outbox.loop.output.append(contentsOf: bytes)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        unfinished(of: id).sentByteCount = 0
        move(id, .contentBegan, &outbox)
        if !reply.context.keepsAlive { move(id, .isLast, &outbox) }
        setDeadline(id, .drain, &outbox)
    }

    /// Sends the next piece of a large file; false where there is none, or it was the last one.
    mutating func sendPiece(to id: ConnectionID, _ outbox: inout Outbox) -> Bool {
        guard let connection = connection(id), !connection.isClosing,
            let unfinished = connection.unfinished, !unfinished.content.isEmpty
        else { return false }
        let start = outbox.loop.output.count
        let end = min(unfinished.sentByteCount + Self.pieceByteCount, unfinished.content.count)
        outbox.loop.output.append(contentsOf: unfinished.content[unfinished.sentByteCount..<end])
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        unfinished.sentByteCount = end
        setDeadline(id, .drain, &outbox)
        guard end == unfinished.content.count else { return true }
        unfinished.content = []
        unfinished.sentByteCount = 0
        askForPart(id, &outbox)
        return false
    }

    /// Begins to send a copy that is made, or answers why there is none.
    mutating func takeBackup(
        _ outcome: Result<StoreCopy, BackupError>, _ reply: Reply, _ outbox: inout Outbox
    ) {
        let id = reply.connection
        guard case .http(let http) = reply.form, kind(of: id) == .http else { return }
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

    /// Asks for the next part of a copy, if there is one.
    mutating func askForPart(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let copy = self[id].unfinished?.copy else { return }
        copy.readOn { [mailbox = outbox.shared.mailboxes[outbox.number]] part in
            _ = mailbox.post(.backupPart(part, id))
        }
    }

    /// Sends a part, or cuts the connection of an unreadable one: the client must notice.
    mutating func takePart(_ part: [UInt8], for id: ConnectionID, _ outbox: inout Outbox) {
        guard kind(of: id) == .http, let unfinished = self[id].unfinished,
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
