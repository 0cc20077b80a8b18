import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// WebSockets: the opening, messages, control frames and the close (RFC 6455).

extension Callers {
    /// Decides the opening handshake.
    mutating func openWebSocket(_ id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        try exchange.openWebSocket(allowsDeflate: outbox.configuration.compressesMessages)
        connections[id].encoding = exchange.reply.encoding
    }

    /// Opens the echo, which needs no center.
    mutating func openDebugWebSocket(_ id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        try exchange.openDebugWebSocket(allowsDeflate: outbox.configuration.compressesMessages)
        connections[id].encoding = exchange.reply.encoding
        outbox.heads.renew(at: outbox.loop.wallNow)
        let start = outbox.loop.output.count
        var bytes: [UInt8] = []
        WebSocketTransport.appendAnswer(exchange.reply, &outbox, to: &bytes)
        outbox.loop.output.append(contentsOf: bytes)
        outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        connections[id].kind = .debugWebSocket
        connections.setDeadline(id, .ping, &outbox)
    }

    /// The calls of a message, which are performed on the loop of the client's center.
    mutating func calls(from id: ConnectionID, _ outbox: inout Outbox) -> Submission {
        Submission(
            center: connections[id].center,
            request: .calls(
                text: messages.reader.message,
                CallingClient(number: connections[id].client, session: connections[id].session)),
            caller: connections[id].caller
                ?? outbox.anonymous[isLocal: connections[id].isLocal],
            reply: Reply(
                loop: outbox.number, connection: id, form: .calls,
                encoding: connections[id].encoding),
            address: gate.askerAddress(of: id, connections[id].address, &outbox))
    }
}
