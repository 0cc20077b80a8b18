import BelfryBytes
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire

// The limits of unfinished input over all connections.

extension Callers {
    /// Keeps bytes that must wait for an earlier answer.
    mutating func keepWaiting(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ context: inout LoopContext
    ) {
        connections.keepWaiting(id, bytes, &context)
        boundUnfinished(&context)
    }

    /// Counts the input that a connection keeps.
    mutating func countUnfinished(of id: ConnectionID, _ context: inout LoopContext) {
        connections[id].unfinished?.recount()
        boundUnfinished(&context)
    }

    /// Drops the largest unfinished input, or the oldest handshake, when all have too much.
    ///
    /// Handshakes go when they have more than half of it. Without the limit a thousand clients that
    /// each send nearly all of a large request could take a thousand times its limit. An eighth of
    /// the limit is freed at once, so that the search through all connections is rare.
    mutating func boundUnfinished(_ context: inout LoopContext) {
        if connections.unfinishedTotal.count > unfinishedWatch.share {
            boundUnfinishedShares(&context)
        }
        let limit = context.configuration.unfinishedByteLimit / context.configuration.loopCount
        while connections.unfinishedTotal.count > limit, let tls = entrance.tls,
            tls.handshakeByteCount > limit / 2,
            let oldest = tls.oldestHandshake()
        {
            entrance.refuseHandshake(oldest, in: &connections, &context)
        }
        guard connections.unfinishedTotal.count > limit else { return }
        for largest in connections.unfinishedFromLargest(with: entrance.tls) {
            if connections.unfinishedTotal.count <= limit - limit / 8 { return }
            refuseUnfinished(largest, &context)
        }
    }

    mutating func refuseUnfinished(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let connection = connections.connection(id) else { return }
        context.counters.inputsRefused += 1
        context.meet(.unfinished)
        let begun = connection.unfinished?.exchange
        connection.unfinished?.clear()
        entrance.tls?.discount(id)
        if connection.kind != .http {
            connections[id].unfinished = nil
            connections.dismiss(id, .tooMuchUnfinished, &context)
        } else if connection.isAwaiting || connection.reading.isThrottled {
            // Its answers have an order, so it cannot be answered.
            connections.cut(id, &context)
        } else {
            let problem = Problem(
                .overloaded, "The broker holds too many unfinished requests; try again later.")
            refuseRequest(id, problem, of: begun, &context)
        }
    }
}
