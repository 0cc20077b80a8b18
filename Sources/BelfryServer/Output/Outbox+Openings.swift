import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import BelfryWire

// What WebSockets and event streams begin with.

extension Outbox {
    /// Appends the 101 response.
    mutating func appendOpening(_ reply: HTTPReply, to bytes: inout [UInt8]) {
        heads.renew(at: loop.wallNow)
        let details = reply.details
        OpeningAnswer.append(
            acceptKey: details.acceptKey, subprotocol: details.subprotocol,
            extensions: details.extensions, date: heads.date, to: &bytes)
    }

    /// Opens the WebSocket of a client, with its first frame.
    mutating func openWebSocket(_ welcome: Welcome, _ sequel: Sequel, _ reply: Reply) {
        send(sequel, reply) { outbox, http, bytes in
            outbox.appendOpening(http, to: &bytes)
            outbox.content.removeAll(keepingCapacity: true)
            RPC.append(welcome: welcome, to: &outbox.content)
            FrameWriter.append(.text, payload: outbox.content.span, to: &bytes)
        }
    }

    /// Opens the event stream of a client.
    mutating func openStream(of client: UInt64, _ sequel: Sequel, _ reply: Reply) {
        send(sequel, reply) { outbox, http, bytes in
            outbox.appendStreamStart(http, client: client, to: &bytes)
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

    /// Appends the head of a stream, a first comment, and when to come back after a cut.
    ///
    /// The stream ends with its connection, so that the frames need no chunks and one frame serves
    /// all streams (RFC 9112 §6.3).
    private mutating func appendStreamStart(
        _ reply: HTTPReply, client: UInt64, to bytes: inout [UInt8]
    ) {
        var fields = [
            HTTPField("Content-Type", "text/event-stream"), HTTPField("X-Accel-Buffering", "no"),
        ]
        if reply.hasSecretTarget {
            fields += [.noStore, .noReferrer]
        } else {
            fields.append(HTTPField("Cache-Control", "no-cache"))
        }
        if let origin = reply.allowedOrigin {
            fields.append(HTTPField("Access-Control-Allow-Origin", origin))
        }
        if reply.variesByOrigin { fields.append(HTTPField("Vary", "Origin")) }
        heads.renew(at: loop.wallNow)
        ResponseWriter.appendStreamHead(
            status: 200, fields: fields, date: heads.date.span, to: &bytes)
        // Clients that were cut at once come back spread over two seconds.
        let retry = 1_000 + Int(random.next() % 2_000 as UInt64)
        EventStream.append(comment: "belfry c\(client)", to: &bytes)
        EventStream.append(retryMilliseconds: retry, to: &bytes)
    }
}
