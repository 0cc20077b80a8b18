import BelfryHTTP
import BelfryLoop

// Reading: each pass hands out requests until none is left, or until the rest must wait.

extension Callers {
    /// Begins with the input of a connection; nil where none of it can be read now.
    mutating func begin(
        reading id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> ReadingPass? {
        guard let kind = connections.kind(of: id) else { return nil }
        if connections.mustWait(id) {
            keepWaiting(id, bytes, &outbox)
            return nil
        }
        var pass = ReadingPass(id: id, outputStart: outbox.loop.outputByteCount, kind: kind)
        switch kind {
        // Where little waits for all sockets, little waits for this one.
        case .http
        where outbox.loop.unsentByteTotal > ConnectionTable.roomByteCount
            && outbox.loop.unsentByteCount(of: id) > ConnectionTable.roomByteCount:
            // No answer is made while earlier ones are unread.
            keepWaiting(id, bytes, &outbox)
            connections.throttle(id, &outbox)
            return nil
        case .http:
            if connections.hasUnfinished(id) { pass.beginsRequest = !takeUpExchange(of: id) }
        case .client(let transport) where !transport.sendsMessages:
            return nil  // Its client has nothing more to say.
        case .client, .debugWebSocket:
            guard messages.takeUp(of: id, bytes, &connections, &outbox) else {
                boundUnfinished(&outbox)
                return nil
            }
        }
        return pass
    }

    /// Reads on to the next request; nil when the rest waits, or there is none.
    mutating func next(
        _ pass: inout ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        if pass.kind == .http { return nextRequest(&pass, bytes, &outbox) }
        if messages.next(&pass, bytes, &connections, &outbox) { return .calls }
        if connections.hasUnfinished(pass.id) { boundUnfinished(&outbox) }
        return nil
    }

    /// Finishes a post without a submission: a connection with its answer continues, or closes.
    @inline(__always)
    mutating func finishPost(_ id: ConnectionID, _ answer: PostAnswer, _ outbox: inout Outbox) {
        switch answer {
        case .waiting: connections.wait(id, &outbox)
        case .delivered: break
        case .written:
            let keepsAlive = exchange.reply.context.keepsAlive
            if keepsAlive, connections.takesRequests(id) { return }
            connections.follow(keepsAlive ? .none : .close, on: id, &outbox)
        }
    }
}
