import BelfryCenter
import BelfryHTTP
import BelfrySystem
import BelfryWire

/// A client at a stream of Server-Sent Events (HTML Standard §9.2).
struct EventStreamTransport: ClientTransport {
    /// What the silence of its connection means first.
    static let silence = Connection.DeadlineKind.comment

    /// Appends the head of a stream, a first comment, and when to come back after a cut.
    ///
    /// The stream ends with its connection, so that the frames need no chunks and one frame serves
    /// all streams (RFC 9112 §6.3).
    static func appendOpening(
        _ reply: HTTPReply, of client: UInt64, date: [UInt8], _ random: inout SystemRandom,
        to output: inout [UInt8]
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
        ResponseWriter.appendStreamHead(status: 200, fields: fields, date: date.span, to: &output)
        // Clients that were cut at once come back spread over two seconds.
        let retry = 1_000 + Int(random.next() % 2_000 as UInt64)
        EventStream.append(comment: "belfry c\(client)", to: &output)
        EventStream.append(retryMilliseconds: retry, to: &output)
    }

    /// Appends the event of a delivery.
    static func append(
        _ notification: Notification, of delivery: Delivery, epoch: [UInt8],
        to frames: inout [UInt8]
    ) {
        EventStream.append(
            notification: notification, epoch: epoch, isRedelivered: delivery.isRedelivered,
            observer: delivery.form == .named ? delivery.observer : nil, to: &frames)
    }

    func appendKeepAlive(to output: inout [UInt8]) -> Connection.DeadlineKind {
        output.append(contentsOf: ":\n\n".utf8)
        return .comment
    }

    func appendDraining(
        untilMilliseconds end: Int64, reconnectAfter: Duration, to output: inout [UInt8]
    ) {
        EventStream.append(
            retryMilliseconds: Int(reconnectAfter / .milliseconds(1)), to: &output)
    }

    /// A stream has no frame for its end: only that credentials have expired is told, since
    /// coming back with them is no use.
    func append(_ farewell: Farewell, to output: inout [UInt8]) {
        switch farewell {
        case .credentialsExpired: EventStream.append(comment: farewell.reason, to: &output)
        case .tooSlow, .tooMuchUnfinished, .stopping: break
        }
    }
}
