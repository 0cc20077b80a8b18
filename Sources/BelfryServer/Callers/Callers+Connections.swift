import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryTLS
import BelfryWire

// Connections come, wait, fall silent and go; their protocols are in other files.

extension Callers {
    mutating func accept(_ id: ConnectionID, listener: Int, _ outbox: inout Outbox) {
        entrance.accept(
            id, listener: listener, of: countedAddress(of: id, &outbox), into: &connections, &outbox
        )
    }

    /// The asker that a new connection counts for; a listed proxy passes on many clients.
    private mutating func countedAddress(of id: ConnectionID, _ outbox: inout Outbox) -> Asker? {
        guard
            outbox.shares.countsAddresses || outbox.configuration.addressConnectionLimit != nil,
            let address = Gate.peerAddress(of: id, &outbox), !gate.policies.proxy.trusts(address)
        else { return nil }
        return .address(address.counted)
    }

    /// Accepts a connection that another loop gave to this one.
    mutating func admit(_ arrival: Arrival, _ outbox: inout Outbox) {
        guard let event = outbox.loop.adopt(arrival) else { return }
        switch event {
        case .accepted(let id, let listener): accept(id, listener: listener, &outbox)
        case .refused(let id, let listener): entrance.refuse(id, listener: listener, &outbox)
        default:
            preconditionFailure("a connection that is adopted is accepted or refused")
        }
    }

    /// Ends the input of a connection whose peer has closed its side of TCP.
    ///
    /// The end of the TLS session came before, or never comes, which does not matter: HTTP and
    /// WebSocket have their own ends.
    mutating func endInput(_ id: ConnectionID, _ outbox: inout Outbox) {
        if entrance.tls?.session(of: id)?.inputHasEnded == true { return }
        connections.endInput(id, &outbox)
    }

    // MARK: Deadlines

    mutating func meetDeadline(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let connection = connections.connection(id), !connection.isClosing else { return }
        if connection.kind != .http, connection.credentialDeadline <= outbox.loop.now {
            return connections.dismiss(id, .credentialsExpired, &outbox)
        }
        switch connection.deadline {
        case .head where connection.unfinished?.exchange?.parser.hasBegunRequest != true,
            .idle, .answer:
            // Nothing was begun, so there is nothing to answer (RFC 9112 §9.5).
            entrance.noteLateHandshake(id, &outbox)
            connections.closeSoon(id, &outbox)
        case .head, .body:
            refuseRequest(
                id, Problem(.timeout, "The request did not arrive in time."),
                of: connection.unfinished?.exchange, &outbox)
        case .copy:
            // A copy may take any time, while the store makes progress.
            let patience = outbox.configuration.storeAnswerTimeout
            guard shared.store?.isHeldUp(for: patience) == true else {
                return connections.setDeadline(id, .copy, &outbox)
            }
            let problem = Problem(
                .backupFailed, "The store has not answered in time (--store-answer-timeout).")
            refuseRequest(id, problem, of: nil, &outbox)
        case .drain:
            outbox.log.write(.debug, "closing a client that does not read its answers")
            connections.cut(id, &outbox)
        case .ping, .comment:
            keepAlive(id, &outbox)
        case .pong:
            outbox.log.write(
                .debug, "closing a client that answers no ping", ("client", "c\(connection.client)")
            )
            connections.cut(id, &outbox)
        case .slow:
            connections.closeTooSlow(id, &outbox)
        }
    }

    /// Sends a sign of life on a silent connection.
    private mutating func keepAlive(_ id: ConnectionID, _ outbox: inout Outbox) {
        guard let words = connections[id].kind.words else { return }
        if connections[id].deadline == .comment, connections[id].mailbox == 0 {
            // Its center knows the position; in a mailbox a position acknowledges.
            let connection = connections[id]
            connections.tell(
                connection.center, .keepAlive(client: connection.client), by: id,
                connection.encoding, &outbox)
            return connections.setDeadline(id, .comment, &outbox)
        }
        let start = outbox.loop.output.count
        let next = words.appendKeepAlive(to: &outbox.loop.output)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .delivery)
        connections.setDeadline(id, next, &outbox)
    }
}
