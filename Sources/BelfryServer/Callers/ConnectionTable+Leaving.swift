import BelfryCenter
import BelfryLoop
import BelfryWebSocket

// Connections end, and their centers are notified.

extension ConnectionTable {
    /// Forgets a connection that has ended, on whatever side.
    mutating func forget(_ id: ConnectionID, _ context: inout LoopContext) {
        guard has(id) else { return }
        leave(id, isForgotten: true, &context)
    }

    /// Notifies the center of a client, a mailbox or a wait of its connection's end.
    ///
    /// - Parameters:
    ///   - id: the connection, which is present.
    ///   - isForgotten: whether it is removed before the center hears of it.
    ///   - end: the way it has ended.
    mutating func leave(
        _ id: ConnectionID, isForgotten: Bool = false, end: ConnectionEnd = .broken,
        _ context: inout LoopContext
    ) {
        let (client, mailbox) = (self[id].client, self[id].mailbox)
        let center = self[id].center
        let isAnybody = !center.isEmpty
        let encoding = self[id].encoding
        if isForgotten {
            self[Int(id.index)] = nil
        } else if isAnybody {
            self[id].client = 0
            self[id].mailbox = 0
            self[id].center = []
        }
        guard isAnybody else { return }
        context.tellSuspension(of: client, true, because: "away")
        let note =
            if mailbox != 0 {
                ConnectionNote.detachReader(observer: mailbox)
            } else if client != 0 {
                ConnectionNote.disconnect(client: client, end: end)
            } else {
                ConnectionNote.endWait
            }
        tell(center, note, by: id, encoding, &context)
    }

    /// Queues a note of a connection for a center, which sends no answer.
    mutating func tell(
        _ center: [UInt8], _ note: ConnectionNote, by id: ConnectionID,
        _ encoding: FrameEncoding, _ context: inout LoopContext
    ) {
        departing.append(
            Submission(
                center: center, request: .note(note), caller: context.anonymous.anyone,
                reply: Reply(
                    loop: context.number, connection: id, form: .none, encoding: encoding)))
    }

    /// Takes the notes for centers.
    mutating func takeDeparting() -> [Submission] {
        var taken: [Submission] = []
        swap(&taken, &departing)
        return taken
    }

    /// Closes a connection at once.
    mutating func cut(_ id: ConnectionID, _ context: inout LoopContext) {
        leave(id, &context)
        self[Int(id.index)] = nil
        context.loop.close(id)
    }

    /// Closes a connection once its output has left.
    mutating func closeSoon(_ id: ConnectionID, _ context: inout LoopContext) {
        move(id, .closes(lingering: true), &context)
    }

    /// Tells a client why it must go, by its transport, and closes its connection.
    ///
    /// The connection is no client any more at once: its center sends nothing behind that.
    mutating func dismiss(_ id: ConnectionID, _ farewell: Farewell, _ context: inout LoopContext) {
        guard let kind = kind(of: id) else { return }
        leave(id, &context)
        let start = context.loop.output.count
        kind.words?.append(farewell, to: &context.loop.output)
        let end = context.loop.output.count
        if end > start { context.loop.send(start..<end, to: id, as: .answer) }
        closeSoon(id, &context)
    }

    /// Sends a Close frame as the last frame, and closes the connection.
    ///
    /// The connection is no client any more at once: its center sends nothing behind the Close
    /// frame.
    ///
    /// - Parameter isAnswer: whether the client has sent a Close frame with this code.
    mutating func closeWebSocket(
        _ id: ConnectionID, _ code: CloseCode?, reason: String, isAnswer: Bool = false,
        _ context: inout LoopContext
    ) {
        guard kind(of: id) != nil else { return }
        leave(id, end: isAnswer && code == .normalClosure ? .closed : .broken, &context)
        let start = context.loop.output.count
        FrameWriter.appendClose(code, reason: Array(reason.utf8), to: &context.loop.output)
        context.loop.send(start..<context.loop.output.count, to: id, as: .answer)
        closeSoon(id, &context)
    }
}
