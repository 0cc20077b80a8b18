import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// What WebSockets and event streams begin with.

extension Outbox {
    /// Appends the 101 response.
    mutating func appendOpening(_ reply: HTTPReply, to bytes: inout [UInt8]) {
        heads.renew(at: loop.wallNow)
        WebSocketTransport.appendOpening(reply.details, date: heads.date, to: &bytes)
    }

    /// Opens the WebSocket of a client, with its first frame.
    mutating func openWebSocket(_ welcome: Welcome, _ sequel: Sequel, _ reply: Reply) {
        send(sequel, reply) { outbox, http, bytes in
            outbox.appendOpening(http, to: &bytes)
            WebSocketTransport.append(welcome, content: &outbox.content, to: &bytes)
        }
    }

    /// Opens the event stream of a client.
    mutating func openStream(of client: UInt64, _ sequel: Sequel, _ reply: Reply) {
        send(sequel, reply) { outbox, http, bytes in
            outbox.heads.renew(at: outbox.loop.wallNow)
            EventStreamTransport.appendOpening(
                http, of: client, date: outbox.heads.date, &outbox.random, to: &bytes)
        }
    }

    /// Sends an answer that is no usual response; on a connection of this loop it is written where it
    /// leaves from.
    private mutating func send(
        _ sequel: Sequel, _ reply: Reply,
        _ write: (inout Outbox, HTTPReply, inout [UInt8]) -> Void
    ) {
        // What opens is asked for by a request.
        guard case .http(let http) = reply.form else { return }
        var bytes: [UInt8] = []
        guard reply.loop == number else {
            write(&self, http, &bytes)
            return send(bytes, .answer(sequel), to: reply.number)
        }
        let start = loop.output.count
        swap(&bytes, &loop.output)
        write(&self, http, &bytes)
        swap(&bytes, &loop.output)
        loop.send(start..<loop.output.count, to: reply.connection, as: .answer)
        add(.answer(sequel), to: reply.number)
    }
}
