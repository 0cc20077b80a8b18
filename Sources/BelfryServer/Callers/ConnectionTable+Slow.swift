import BelfryLoop
import BelfryWebSocket

// Clients that do not read: past the high-water mark they are suspended, and closed if they stay so.

extension ConnectionTable {
    /// Decides what a full socket means.
    ///
    /// A request's answer may be large: its client gets time to read it. A client that observes is
    /// suspended as slow (law 5), and its center holds what comes.
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

    /// The socket of a connection has room again.
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

    /// More is held for a client than one step writes: the next step follows when there is room.
    mutating func awaitRoom(_ client: UInt64, on id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id), connection.client == client, !connection.isClosing
        else { return }
        if connection.pace == .keepsUp { self[id].pace = .flushing }
        outbox.loop.tellWhenDrained(id)
    }

    /// A client that does not read its answers must not ask for more of them.
    mutating func throttleIfFull(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard outbox.loop.isBackpressured(id),
            outbox.loop.unsentByteCount(of: id) > Self.slowOutputByteLimit
        else { return }
        move(id, .throttled, &outbox)
    }

    /// How many bytes may wait for a slow client before its calls wait too.
    static let slowOutputByteLimit = 2 << 20

    private mutating func tellCenter(
        of connection: Connection, _ note: ConnectionNote, _ outbox: inout Outbox
    ) {
        guard connection.client != 0 else { return }
        tell(connection.center, note, by: connection.id, self[connection.id].encoding, &outbox)
    }

    /// The client stayed slow for too long: it must not cost memory for ever (Protocol.md, 11).
    ///
    /// Its connection ends; the client and what it is held stay.
    mutating func closeTooSlow(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connection(id), !connection.isClosing else { return }
        outbox.counters.clientsTooSlow += 1
        outbox.tellClosed(
            .tooSlow, .info, "closing a client that does not read", client: connection.client)
        dismiss(id, .tooSlow, &outbox)
    }

    /// All sockets together hold too much: the slowest are closed (Protocol.md section 11).
    mutating func closeSlowest(_ outbox: inout Outbox) {
        let limit = outbox.configuration.unsentByteLimit / outbox.configuration.loopCount
        guard outbox.loop.unsentByteTotal > limit else { return }
        // All are looked at once, however many must go.
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

    /// Closes a client that has the most waiting of all, or of all that share something with it.
    mutating func closeSlowest(_ id: ConnectionID, _ outbox: inout Outbox) {
        outbox.counters.clientsTooSlow += 1
        outbox.tellClosed(
            .slowest, .warning, "closing the slowest client", client: self[id].client)
        cut(id, &outbox)
    }
}
