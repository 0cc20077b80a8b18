import BelfryCenter
import BelfryHTTP
import BelfrySystem
import BelfryWire

/// A client with a stream of Server-Sent Events (HTML Standard §9.2).
struct EventStreamTransport: ClientTransport {
    static let silence = Connection.DeadlineKind.comment
    static let sendsMessages = false

    /// Appends the head of a stream, a first comment with its position, and the time to reconnect.
    ///
    /// The stream ends with its connection, so that the frames need no chunks and one frame serves
    /// all streams (RFC 9112 §6.3).
    func appendOpening(
        _ welcome: Welcome, _ reply: HTTPReply, _ outbox: inout Outbox, to output: inout [UInt8]
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
            fields.append(HTTPField("Access-Control-Expose-Headers", "Belfry-Position"))
        }
        var position: [UInt8] = []
        EventStream.appendPosition(
            epoch: welcome.epoch, sequence: welcome.sequence, to: &position)
        fields.append(HTTPField("Belfry-Position", position))
        if reply.variesByOrigin { fields.append(HTTPField("Vary", "Origin")) }
        ResponseWriter.appendStreamHead(
            status: 200, fields: fields, date: outbox.heads.date.span, to: &output)
        // Clients that were cut at the same time reconnect spread over two seconds.
        let retry = 1_000 + Int(outbox.random.next() % 2_000 as UInt64)
        let greeting = "belfry c\(welcome.client)"
        if let sequence = welcome.position {
            EventStream.append(
                comment: greeting, epoch: welcome.epoch, sequence: sequence, to: &output)
        } else {
            EventStream.append(comment: greeting, to: &output)
        }
        EventStream.append(retryMilliseconds: retry, to: &output)
    }

    static func append(
        _ notification: Notification, of delivery: Delivery, at center: Int,
        in centers: inout CenterTable, by writer: inout DeliveryWriter, to frames: inout [UInt8]
    ) {
        EventStream.append(
            notification: notification, epoch: centers[center].epoch,
            isRedelivered: delivery.isRedelivered,
            observer: delivery.form == .named ? delivery.observer : nil, to: &frames)
    }

    static func append(
        _ addressed: Addressed, _ notification: Notification, of delivery: Delivery,
        at center: Int,
        in centers: borrowing CenterTable, to frames: inout [UInt8]
    ) {
        EventStream.append(
            addressed, notification, epoch: centers[center].epoch, observer: delivery.observer,
            isRedelivered: delivery.isRedelivered, to: &frames)
    }

    static func append(
        change notification: Notification, _ keyPath: [UInt8], of delivery: Delivery,
        at center: Int, in centers: borrowing CenterTable, to frames: inout [UInt8]
    ) {
        // A stream of a mailbox is for one observer, a client's for all of its observers.
        EventStream.append(
            change: notification, keyPath: keyPath, epoch: centers[center].epoch,
            isRedelivered: delivery.isRedelivered, observer: nil, to: &frames)
    }

    func append(gap: Gap, to output: inout [UInt8]) {
        EventStream.append(gap: gap, to: &output)
    }

    func append(
        settled ask: NotificationID, at observer: UInt64, _ reason: Settlement,
        to output: inout [UInt8]
    ) {
        EventStream.append(settled: ask, observer: observer, reason, to: &output)
    }

    func append(removed observer: UInt64, _ tombstone: Tombstone, to output: inout [UInt8]) {
        EventStream.append(removed: observer, tombstone, to: &output)
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

    /// Appends a comment on expired credentials, or on another reader; other ends have no frame.
    ///
    /// Coming back with expired credentials is useless.
    func append(_ farewell: Farewell, to output: inout [UInt8]) {
        switch farewell {
        case .credentialsExpired: EventStream.append(comment: farewell.reason, to: &output)
        case .takenOver:
            // Two readers that came back at once would replace each other without end.
            EventStream.append(retryMilliseconds: 30_000, to: &output)
            EventStream.append(comment: "another reader has taken over", to: &output)
        case .tooSlow, .tooMuchUnfinished, .stopping, .clusterLost, .clientRemoved: break
        }
    }
}
