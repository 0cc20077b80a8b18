import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryTLS
import BelfryWire

// Connections come, wait, fall silent and go; their protocols are in other files.

extension Callers {
    mutating func accept(_ id: ConnectionID, listener: Int, _ context: inout LoopContext) {
        entrance.accept(
            id, listener: listener, of: gate.countedAddress(of: id, &context), into: &connections,
            &context
        )
    }

    /// Accepts a connection that another loop gave to this one.
    mutating func admit(_ arrival: Arrival, _ context: inout LoopContext) {
        guard let event = context.loop.adopt(arrival) else { return }
        switch event {
        case .accepted(let id, let listener): accept(id, listener: listener, &context)
        case .refused(let id, let listener): entrance.refuse(id, listener: listener, &context)
        default:
            preconditionFailure("a connection that is adopted is accepted or refused")
        }
    }

    /// Ends the input of a connection whose peer has closed its side of TCP.
    ///
    /// The end of the TLS session came before, or never comes, which does not matter: HTTP and
    /// WebSocket have their own ends.
    mutating func endInput(_ id: ConnectionID, _ context: inout LoopContext) {
        if entrance.tls?.session(of: id)?.inputHasEnded == true { return }
        connections.endInput(id, &context)
    }

    // MARK: Deadlines

    mutating func meetDeadline(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let connection = connections.connection(id), !connection.isClosing else { return }
        if connection.kind != .http, connection.credentialDeadline <= context.loop.now {
            return connections.dismiss(id, .credentialsExpired, &context)
        }
        switch connection.deadline {
        case .head where connection.unfinished?.exchange?.parser.hasBegunRequest != true,
            .idle, .answer:
            // Nothing was begun, so there is nothing to answer (RFC 9112 §9.5).
            entrance.noteLateHandshake(id, &context)
            connections.closeSoon(id, &context)
        case .head, .body:
            refuseRequest(
                id, Problem(.timeout, "The request did not arrive in time."),
                of: connection.unfinished?.exchange, &context)
        case .copy:
            // A copy may take any time, while the store makes progress.
            let patience = context.configuration.storeAnswerTimeout
            guard shared.store?.isHeldUp(for: patience) == true else {
                return connections.setDeadline(id, .copy, &context)
            }
            let problem = Problem(
                .backupFailed, "The store has not answered in time (--store-answer-timeout).")
            refuseRequest(id, problem, of: nil, &context)
        case .drain:
            context.log.write(.debug, "closing a client that does not read its answers")
            connections.cut(id, &context)
        case .ping, .comment:
            keepAlive(id, &context)
        case .pong:
            context.log.write(
                .debug, "closing a client that answers no ping", ("client", "c\(connection.client)")
            )
            connections.cut(id, &context)
        case .slow:
            connections.closeTooSlow(id, &context)
        }
    }

    /// Sends a sign of life on a silent connection.
    private mutating func keepAlive(_ id: ConnectionID, _ context: inout LoopContext) {
        guard let words = connections[id].kind.words else { return }
        if connections[id].deadline == .comment, connections[id].mailbox == 0 {
            // Its center knows the position; in a mailbox a position acknowledges.
            let connection = connections[id]
            connections.tell(
                connection.center, .keepAlive(client: connection.client), by: id,
                connection.encoding, &context)
            return connections.setDeadline(id, .comment, &context)
        }
        let start = context.loop.output.count
        let next = words.appendKeepAlive(to: &context.loop.output)
        context.loop.send(start..<context.loop.output.count, to: id, as: .delivery)
        connections.setDeadline(id, next, &context)
    }
}
