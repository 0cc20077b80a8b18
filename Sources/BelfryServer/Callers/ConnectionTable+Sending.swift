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
        _ content: [UInt8], _ answer: consuming Answer, to id: ConnectionID, _ reply: HTTPReply,
        _ context: inout LoopContext
    ) {
        guard content.count > Self.pieceByteCount, !reply.context.isHead, answer.status == 200
        else {
            answer.content.append(contentsOf: content)
            send(answer, to: id, reply, &context)
            return
        }
        beginContent(of: content.count, answer, to: id, reply, &context)
        unfinished(of: id).content = content
        _ = sendPiece(to: id, &context)
        throttle(id, &context)
    }

    /// Sends the head of an answer whose content follows in pieces; the next requests wait.
    mutating func beginContent(
        of byteCount: Int, _ answer: consuming Answer, to id: ConnectionID, _ reply: HTTPReply,
        _ context: inout LoopContext
    ) {
        let start = context.loop.output.count
        var bytes: [UInt8] = []
        context.appendHead(answer, reply, contentByteCount: byteCount, to: &bytes)
        context.loop.output.append(contentsOf: bytes)
        context.loop.send(start..<context.loop.output.count, to: id, as: .answer)
        unfinished(of: id).sentByteCount = 0
        move(id, .contentBegan, &context)
        if !reply.context.keepsAlive { move(id, .isLast, &context) }
        setDeadline(id, .drain, &context)
    }

    /// Sends the next piece of a large file; false where there is none, or it was the last one.
    mutating func sendPiece(to id: ConnectionID, _ context: inout LoopContext) -> Bool {
        guard let connection = connection(id), !connection.isClosing,
            let unfinished = connection.unfinished, !unfinished.content.isEmpty
        else { return false }
        let start = context.loop.output.count
        let end = min(unfinished.sentByteCount + Self.pieceByteCount, unfinished.content.count)
        context.loop.output.append(contentsOf: unfinished.content[unfinished.sentByteCount..<end])
        context.loop.send(start..<context.loop.output.count, to: id, as: .answer)
        unfinished.sentByteCount = end
        setDeadline(id, .drain, &context)
        guard end == unfinished.content.count else { return true }
        unfinished.content = []
        unfinished.sentByteCount = 0
        askForPart(id, &context)
        return false
    }

    /// Begins to send a copy that is made, or answers why there is none.
    mutating func takeBackup(
        _ outcome: Result<StoreCopy, BackupError>, _ reply: Reply, _ context: inout LoopContext
    ) {
        let id = reply.connection
        guard case .http(let http) = reply.form, kind(of: id) == .http else { return }
        switch outcome {
        case .success(let copy):
            var answer = context.outbox.answers.make(.other("application/vnd.sqlite3"))
            answer.fields = [
                .noStore,
                HTTPField("Content-Disposition", "attachment; filename=\"belfry.db\""),
            ]
            beginContent(of: copy.byteCount, answer, to: id, http, &context)
            unfinished(of: id).copy = copy
            askForPart(id, &context)
        case .failure(let error):
            answer(Problem(error), to: id, http, &context)
        }
    }

    /// Asks for the next part of a copy, if there is one.
    mutating func askForPart(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let copy = self[id].unfinished?.copy else { return }
        copy.readOn { [mailbox = context.shared.mailboxes[context.number]] part in
            _ = mailbox.post(.backupPart(part, id))
        }
    }

    /// Sends a part, or cuts the connection of an unreadable one: the client must notice.
    mutating func takePart(_ part: [UInt8], for id: ConnectionID, _ context: inout LoopContext) {
        guard kind(of: id) == .http, let unfinished = self[id].unfinished,
            unfinished.copy != nil
        else { return }
        guard !part.isEmpty else {
            context.log.write(.warning, "a backup was cut off: it could not be read")
            cut(id, &context)
            return
        }
        unfinished.content = part
        unfinished.copiedByteCount += part.count
        if unfinished.copiedByteCount == unfinished.copy?.byteCount { unfinished.copy = nil }
        throttle(id, &context)
    }
}
