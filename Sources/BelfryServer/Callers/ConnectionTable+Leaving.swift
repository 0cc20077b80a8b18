import BelfryCenter
import BelfryLoop
import BelfryWebSocket

// Connections end, and their centers are notified.

extension ConnectionTable {
    /// Forgets a connection that has ended, on whatever side.
    mutating func forget(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard has(id) else { return }
        leave(id, isForgotten: true, &outbox)
    }

    /// Notifies the center of a client, a mailbox or a wait of its connection's end.
    ///
    /// - Parameters:
    ///   - id: the connection, which is present.
    ///   - isForgotten: whether it is removed before the center hears of it.
    ///   - end: the way it has ended.
    mutating func leave(
        _ id: ConnectionID, isForgotten: Bool = false, end: ConnectionEnd = .broken,
        _ outbox: inout Outbox
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
        outbox.tellSuspension(of: client, true, because: "away")
        let note =
            if mailbox != 0 {
                ConnectionNote.detachReader(observer: mailbox)
            } else if client != 0 {
                ConnectionNote.disconnect(client: client, end: end)
            } else {
                ConnectionNote.endWait
            }
        tell(center, note, by: id, encoding, &outbox)
    }

    /// Queues a note of a connection for a center, which sends no answer.
    mutating func tell(
        _ center: [UInt8], _ note: ConnectionNote, by id: ConnectionID,
        _ encoding: FrameEncoding, _ outbox: inout Outbox
    ) {
        departing.append(
            Submission(
                center: center, request: .note(note), caller: outbox.anonymous.anyone,
                reply: Reply(
                    loop: outbox.number, connection: id, form: .none, encoding: encoding)))
    }

    /// Takes the notes for centers.
    mutating func takeDeparting() -> [Submission] {
        var taken: [Submission] = []
        swap(&taken, &departing)
        return taken
    }

    /// Closes a connection at once.
    mutating func cut(_ id: ConnectionID, _ outbox: inout Outbox) {
        leave(id, &outbox)
        self[Int(id.index)] = nil
        outbox.loop.close(id)
    }

    /// Closes a connection once its output has left.
    mutating func closeSoon(_ id: ConnectionID, _ outbox: inout Outbox) {
        move(id, .closes(lingering: true), &outbox)
    }

    /// Tells a client why it must go, by its transport, and closes its connection.
    ///
    /// The connection is no client any more at once: its center sends nothing behind that.
    mutating func dismiss(_ id: ConnectionID, _ farewell: Farewell, _ outbox: inout Outbox) {
        guard let kind = kind(of: id) else { return }
        leave(id, &outbox)
        let start = outbox.loop.output.count
        kind.words?.append(farewell, to: &outbox.loop.output)
        let end = outbox.loop.output.count
        if end > start { outbox.loop.send(start..<end, to: id, as: .answer) }
        closeSoon(id, &outbox)
    }

    /// Sends a Close frame as the last frame, and closes the connection.
    ///
    /// The connection is no client any more at once: its center sends nothing behind the Close
    /// frame.
    ///
    /// - Parameter isAnswer: whether the client has sent a Close frame with this code.
    mutating func closeWebSocket(
        _ id: ConnectionID, _ code: CloseCode?, reason: String, isAnswer: Bool = false,
        _ outbox: inout Outbox
    ) {
        guard kind(of: id) != nil else { return }
        leave(id, end: isAnswer && code == .normalClosure ? .closed : .broken, &outbox)
        let start = outbox.loop.output.count
        FrameWriter.appendClose(code, reason: Array(reason.utf8), to: &outbox.loop.output)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        closeSoon(id, &outbox)
    }
}
