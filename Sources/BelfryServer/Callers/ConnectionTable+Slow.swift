import BelfryLoop
import BelfryWebSocket

// Clients that do not read: past the high-water mark they are suspended, and closed after a while.

extension ConnectionTable {
    /// Handles a full socket.
    ///
    /// The answer to a request may be large: its client gets time to read it. A client that
    /// observes is suspended as slow (law 5), and its center holds further deliveries.
    mutating func meetHighWater(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let connection = connection(id), !connection.isClosing else { return }
        guard connection.kind.observes else {
            move(id, .throttled, &context)
            return setDeadline(id, .drain, &context)
        }
        context.counters.slowClients += 1
        self[id].pace = .slow
        setDeadline(id, .slow, &context)
        context.tellSuspension(of: connection.client, true, because: "slow")
        tellCenter(of: connection, .becomeSlow(client: connection.client), &context)
    }

    /// Handles a socket that has room again.
    mutating func meetRoom(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let connection = connection(id), !connection.isClosing else { return }
        if connection.pace != .keepsUp {
            self[id].pace = .keepsUp
            if connection.pace == .slow {
                context.tellSuspension(of: connection.client, false, because: "slow")
            }
            if connection.deadline == .slow {
                setDeadline(id, connection.kind.silence, &context)
            }
            tellCenter(of: connection, .drain(client: connection.client), &context)
        }
        noteRoom(of: id, &context)
    }

    /// Waits for room for the next step of a client's held deliveries, or of its replay.
    ///
    /// A step is smaller than the high-water mark, so a client that reads none of it never meets
    /// that: it has the time of a slow client for each step.
    mutating func awaitRoom(_ client: UInt64, on id: ConnectionID, _ context: inout LoopContext) {
        guard let connection = connection(id), connection.client == client, !connection.isClosing
        else { return }
        if connection.pace == .keepsUp {
            self[id].pace = .flushing
            setDeadline(id, .slow, &context)
        }
        context.loop.tellWhenDrained(id)
    }

    /// Throttles a client that does not read its answers, and must not request more.
    mutating func throttleIfFull(_ id: ConnectionID, _ context: inout LoopContext) {
        guard context.loop.isBackpressured(id),
            context.loop.unsentByteCount(of: id) > Self.slowOutputByteLimit
        else { return }
        move(id, .throttled, &context)
    }

    /// The bytes that may wait for a slow client before its calls wait, too.
    static let slowOutputByteLimit = 2 << 20

    private mutating func tellCenter(
        of connection: Connection, _ note: ConnectionNote, _ context: inout LoopContext
    ) {
        guard connection.client != 0 else { return }
        tell(connection.center, note, by: connection.id, self[connection.id].encoding, &context)
    }

    /// Closes a client that stayed slow for too long, to free its memory (Protocol.md, 11).
    ///
    /// Its connection ends; the client and its held notifications stay.
    mutating func closeTooSlow(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let connection = connection(id), !connection.isClosing else { return }
        context.counters.clientsTooSlow += 1
        context.tellClosed(
            .tooSlow, .info, "closing a client that does not read", client: connection.client)
        dismiss(id, .tooSlow, &context)
    }

    /// Closes the slowest clients when all sockets together hold too much (Protocol.md section 11).
    mutating func closeSlowest(_ context: inout LoopContext) {
        let limit = context.configuration.unsentByteLimit / context.configuration.loopCount
        guard context.loop.unsentByteTotal > limit else { return }
        // All are sorted once, however many must go.
        var clients: [(unsentByteCount: Int, connection: Connection)] = []
        for slot in 0..<slotCount {
            guard let connection = self[slot] else { continue }
            let count = context.loop.unsentByteCount(of: connection.id)
            if count > 0 { clients.append((count, connection)) }
        }
        clients.sort { $0.unsentByteCount > $1.unsentByteCount }
        for (_, slowest) in clients where context.loop.unsentByteTotal > limit {
            context.meet(.unsent)
            closeSlowest(slowest.id, &context)
        }
    }

    /// Closes the client with the most unsent output, of all or of those that share with it.
    mutating func closeSlowest(_ id: ConnectionID, _ context: inout LoopContext) {
        context.counters.clientsTooSlow += 1
        context.tellClosed(
            .slowest, .warning, "closing the slowest client", client: self[id].client)
        cut(id, &context)
    }
}
