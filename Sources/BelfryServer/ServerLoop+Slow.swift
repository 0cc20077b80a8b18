import BelfryCenter
import BelfryLoop
import BelfryWebSocket

// Clients that do not read: past the high-water mark they are suspended, and closed if they stay so.

extension ServerLoop {
    /// Decides what a full socket means.
    ///
    /// A request's answer may be large: its client gets time to read it. A client that observes is
    /// suspended as slow (law 5), and its center holds what comes.
    mutating func meetHighWater(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isClosing else { return }
        switch connection.kind {
        case .http, .debugWebSocket:
            connections[id].isThrottled = true
            loop.pauseReading(id)
            setDeadline(id, .drain)
        case .webSocket, .events:
            counters.slowClients += 1
            connections[id].isSlow = true
            setDeadline(id, .slow)
            tellSuspension(of: connection.client, true, because: "slow")
            submit(.becomeSlow(client: connection.client), of: connection)
        }
    }

    /// The socket of a connection has room again.
    mutating func meetRoom(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isClosing else { return }
        if connection.isSlow || connection.isFlushing {
            connections[id].isSlow = false
            connections[id].isFlushing = false
            if connection.isSlow {
                tellSuspension(of: connection.client, false, because: "slow")
                setDeadline(id, connection.kind == .webSocket ? .ping : .comment)
            }
            submit(.drain(client: connection.client), of: connection)
        }
        release(id)
    }

    /// More is held for a client than one step writes: the next step follows when there is room.
    mutating func flushFurther(_ client: UInt64, on id: ConnectionID) {
        guard let connection = connection(id), connection.client == client, !connection.isClosing
        else { return }
        connections[id].isFlushing = true
        loop.tellWhenDrained(id)
    }

    /// A client that does not read its answers must not ask for more of them.
    mutating func throttleIfFull(_ id: ConnectionID) {
        guard loop.isBackpressured(id), loop.unsentByteCount(of: id) > Self.slowOutputByteLimit,
            connection(id) != nil
        else { return }
        connections[id].isThrottled = true
        loop.pauseReading(id)
    }

    /// How many bytes may wait for a slow client before its calls wait too.
    static let slowOutputByteLimit = 2 << 20

    private mutating func submit(_ request: CenterRequest, of connection: Connection) {
        guard connection.client != 0 else { return }
        submit(
            Submission(
                center: connection.center, request: request, caller: anonymous,
                reply: Reply(loop: number, connection: connection.id, form: .none)))
    }

    /// The client stayed slow for too long: it must not cost memory for ever (Protocol.md, 11).
    ///
    /// Its connection ends; the client and what it is held stay.
    mutating func closeTooSlow(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isClosing else { return }
        counters.clientsTooSlow += 1
        tellClosed(
            .tooSlow, .info, "closing a client that does not read", client: connection.client)
        switch connection.kind {
        case .webSocket, .debugWebSocket: closeWebSocket(id, .tooSlow, reason: "too slow")
        case .http, .events: closeSoon(id)
        }
    }

    /// All sockets together hold too much: the slowest are closed (Protocol.md section 11).
    mutating func closeSlowest() {
        let limit = configuration.unsentByteLimit / configuration.loopCount
        guard loop.unsentByteTotal > limit else { return }
        // All are looked at once, however many must go.
        var clients: [(unsentByteCount: Int, connection: Connection)] = []
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot] else { continue }
            let count = loop.unsentByteCount(of: connection.id)
            if count > 0 { clients.append((count, connection)) }
        }
        clients.sort { $0.unsentByteCount > $1.unsentByteCount }
        for (_, slowest) in clients where loop.unsentByteTotal > limit {
            meet(.unsent)
            closeSlowest(slowest.id)
        }
    }

    /// Closes a client that has the most waiting of all, or of all that share something with it.
    mutating func closeSlowest(_ id: ConnectionID) {
        counters.clientsTooSlow += 1
        tellClosed(
            .slowest, .warning, "closing the slowest client", client: connections[id].client)
        leave(id)
        connections[Int(id.index)] = nil
        loop.close(id)
    }
}
