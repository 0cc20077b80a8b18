import BelfryLoop
import BelfryWebSocket

// Clients that do not read: past the high-water mark they are suspended, and closed after a while.

extension ConnectionTable {
    /// Handles a full socket.
    ///
    /// The answer to a request may be large: its client gets time to read it. A client that
    /// observes is suspended as slow (law 5), and its center holds further deliveries.
    mutating func meetHighWater(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id), !connection.isClosing else { return }
        guard connection.kind.observes else {
            move(id, .throttled, &outbox)
            return setDeadline(id, .drain, &outbox)
        }
        outbox.counters.slowClients += 1
        self[id].pace = .slow
        setDeadline(id, .slow, &outbox)
        outbox.tellSuspension(of: connection.client, true, because: "slow")
        tellCenter(of: connection, .becomeSlow(client: connection.client), &outbox)
    }

    /// Handles a socket that has room again.
    mutating func meetRoom(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id), !connection.isClosing else { return }
        if connection.pace != .keepsUp {
            self[id].pace = .keepsUp
            if connection.pace == .slow {
                outbox.tellSuspension(of: connection.client, false, because: "slow")
                setDeadline(id, connection.kind.silence, &outbox)
            }
            tellCenter(of: connection, .drain(client: connection.client), &outbox)
        }
        noteRoom(of: id, &outbox)
    }

    /// Waits for room for the next step of a client's held deliveries.
    mutating func awaitRoom(_ client: UInt64, on id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id), connection.client == client, !connection.isClosing
        else { return }
        if connection.pace == .keepsUp { self[id].pace = .flushing }
        outbox.loop.tellWhenDrained(id)
    }

    /// Throttles a client that does not read its answers, and must not request more.
    mutating func throttleIfFull(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard outbox.loop.isBackpressured(id),
            outbox.loop.unsentByteCount(of: id) > Self.slowOutputByteLimit
        else { return }
        move(id, .throttled, &outbox)
    }

    /// The bytes that may wait for a slow client before its calls wait, too.
    static let slowOutputByteLimit = 2 << 20

    private mutating func tellCenter(
        of connection: Connection, _ note: ConnectionNote, _ outbox: inout Outbox
    ) {
        guard connection.client != 0 else { return }
        tell(connection.center, note, by: connection.id, self[connection.id].encoding, &outbox)
    }

    /// Closes a client that stayed slow for too long, to free its memory (Protocol.md, 11).
    ///
    /// Its connection ends; the client and its held notifications stay.
    mutating func closeTooSlow(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id), !connection.isClosing else { return }
        outbox.counters.clientsTooSlow += 1
        outbox.tellClosed(
            .tooSlow, .info, "closing a client that does not read", client: connection.client)
        dismiss(id, .tooSlow, &outbox)
    }

    /// Closes the slowest clients when all sockets together hold too much (Protocol.md section 11).
    mutating func closeSlowest(_ outbox: inout Outbox) {
        let limit = outbox.configuration.unsentByteLimit / outbox.configuration.loopCount
        guard outbox.loop.unsentByteTotal > limit else { return }
        // All are sorted once, however many must go.
        var clients: [(unsentByteCount: Int, connection: Connection)] = []
        for slot in 0..<slotCount {
            guard let connection = self[slot] else { continue }
            let count = outbox.loop.unsentByteCount(of: connection.id)
            if count > 0 { clients.append((count, connection)) }
        }
        clients.sort { $0.unsentByteCount > $1.unsentByteCount }
        for (_, slowest) in clients where outbox.loop.unsentByteTotal > limit {
            outbox.meet(.unsent)
            closeSlowest(slowest.id, &outbox)
        }
    }

    /// Closes the client with the most unsent output, of all or of those that share with it.
    mutating func closeSlowest(_ id: ConnectionID, _ outbox: inout Outbox) {
        outbox.counters.clientsTooSlow += 1
        outbox.tellClosed(
            .slowest, .warning, "closing the slowest client", client: self[id].client)
        cut(id, &outbox)
    }
}
