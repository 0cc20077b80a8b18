import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// The first message to clients that get deliveries as they come.

extension Outbox {
    /// Answers the request that opens a client, or its stream, by its transport.
    ///
    /// On a connection of this loop the answer is written directly into the output.
    mutating func open(
        _ transport: Transport, _ welcome: Welcome, _ sequel: Sequel, _ reply: Reply
    ) {
        // Only requests open clients.
        guard case .http(let http) = reply.form else { return }
        heads.renew(at: loop.wallNow)
        var bytes: [UInt8] = []
        guard reply.loop == number else {
            transport.words.appendOpening(welcome, http, &self, to: &bytes)
            return send(bytes, .answer(sequel), to: reply.number)
        }
        let start = loop.output.count
        swap(&bytes, &loop.output)
        transport.words.appendOpening(welcome, http, &self, to: &bytes)
        swap(&bytes, &loop.output)
        loop.send(start..<loop.output.count, to: reply.connection, as: .answer)
        add(.answer(sequel), to: reply.number)
    }
}
