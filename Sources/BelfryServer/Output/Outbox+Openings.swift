import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// What clients that are told things begin with.

extension Outbox {
    /// Answers the request that opens a client, or the stream of one, in the words of its transport; on a connection
    /// of this loop the answer is written where it leaves from.
    mutating func open(
        _ transport: Transport, _ welcome: Welcome, _ sequel: Sequel, _ reply: Reply
    ) {
        // What opens is asked for by a request.
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
