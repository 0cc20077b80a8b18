import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire

// The limits of unfinished input over all connections.

extension Callers {
    /// Keeps bytes that must wait for an earlier answer.
    mutating func keepWaiting(_ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox) {
        connections.keepWaiting(id, bytes, &outbox)
        boundUnfinished(&outbox)
    }

    /// Counts the input that a connection keeps.
    mutating func countUnfinished(of id: ConnectionID, _ outbox: inout Outbox) {
        connections[id].unfinished?.recount()
        boundUnfinished(&outbox)
    }

    /// Drops the largest unfinished input, or the oldest handshake, when all have too much.
    ///
    /// Handshakes go when they have more than half of it. Without the limit a thousand clients that
    /// each send nearly all of a large request could take a thousand times its limit. An eighth of
    /// the limit is freed at once, so that the search through all connections is rare.
    mutating func boundUnfinished(_ outbox: inout Outbox) {
        if connections.unfinishedTotal.count > unfinishedWatch.share {
            boundUnfinishedShares(&outbox)
        }
        let limit = outbox.configuration.unfinishedByteLimit / outbox.configuration.loopCount
        while connections.unfinishedTotal.count > limit, let tls = entrance.tls,
            tls.handshakeByteCount > limit / 2,
            let oldest = tls.oldestHandshake()
        {
            entrance.refuseHandshake(oldest, in: &connections, &outbox)
        }
        guard connections.unfinishedTotal.count > limit else { return }
        for largest in connections.unfinishedFromLargest(with: entrance.tls) {
            if connections.unfinishedTotal.count <= limit - limit / 8 { return }
            refuseUnfinished(largest, &outbox)
        }
    }

    mutating func refuseUnfinished(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connections.connection(id) else { return }
        outbox.counters.inputsRefused += 1
        outbox.meet(.unfinished)
        let begun = connection.unfinished?.exchange
        connection.unfinished?.clear()
        entrance.tls?.discount(id)
        if connection.kind != .http {
            connections[id].unfinished = nil
            connections.dismiss(id, .tooMuchUnfinished, &outbox)
        } else if connection.isAwaiting || connection.reading.isThrottled {
            // Its answers have an order, so it cannot be answered.
            connections.cut(id, &outbox)
        } else {
            let problem = Problem(
                .overloaded, "The broker holds too many unfinished requests; try again later.")
            refuseRequest(id, problem, of: begun, &outbox)
        }
    }
}
