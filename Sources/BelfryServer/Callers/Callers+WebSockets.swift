import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// WebSockets: the opening, messages, control frames and the close (RFC 6455).

extension Callers {
    /// Decides the opening handshake.
    mutating func openWebSocket(_ id: ConnectionID, _ context: inout LoopContext) throws(Problem) {
        try exchange.openWebSocket(allowsDeflate: context.configuration.compressesMessages)
        connections[id].encoding = exchange.reply.encoding
    }

    /// Opens the echo, which needs no center.
    mutating func openDebugWebSocket(_ id: ConnectionID, _ context: inout LoopContext)
        throws(Problem)
    {
        try exchange.openDebugWebSocket(allowsDeflate: context.configuration.compressesMessages)
        connections[id].encoding = exchange.reply.encoding
        context.outbox.heads.renew(at: context.loop.wallNow)
        let start = context.loop.output.count
        var bytes: [UInt8] = []
        WebSocketTransport.appendAnswer(exchange.reply, context.outbox, to: &bytes)
        context.loop.output.append(contentsOf: bytes)
        context.loop.send(start..<context.loop.output.count, to: id, as: .answer)
        connections[id].kind = .debugWebSocket
        connections.setDeadline(id, .ping, &context)
    }

    /// The calls of a message, which are performed on the loop of the client's center.
    mutating func calls(from id: ConnectionID, _ context: inout LoopContext) -> Submission {
        Submission(
            center: connections[id].center,
            request: .calls(
                text: messages.reader.message,
                CallingClient(number: connections[id].client, session: connections[id].session)),
            caller: connections[id].caller
                ?? context.anonymous[isLocal: connections[id].isLocal],
            reply: Reply(
                loop: context.number, connection: id, form: .calls,
                encoding: connections[id].encoding),
            address: gate.askerAddress(of: id, connections[id].address, &context))
    }
}
