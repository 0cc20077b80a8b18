import BelfryCenter
import BelfryWebSocket
import BelfryWire

/// A client with a WebSocket, in frames of JSON-RPC (RFC 6455).
struct WebSocketTransport: ClientTransport {
    /// Whether it is the echo, which has no messages of its own.
    var isEcho = false

    static let silence = Connection.DeadlineKind.ping
    static let sendsMessages = true

    func appendOpening(
        _ welcome: Welcome, _ reply: HTTPReply, _ outbox: inout Outbox, to output: inout [UInt8]
    ) {
        Self.appendAnswer(reply, &outbox, to: &output)
        outbox.content.removeAll(keepingCapacity: true)
        RPC.append(
            welcome: welcome, pingInterval: outbox.pingIntervalText, to: &outbox.content)
        FrameWriter.append(.text, payload: outbox.content.span, to: &output)
    }

    /// Appends the 101 response.
    static func appendAnswer(
        _ reply: HTTPReply, _ outbox: inout Outbox, to output: inout [UInt8]
    ) {
        let details = reply.details
        OpeningAnswer.append(
            acceptKey: details.acceptKey, subprotocol: details.subprotocol,
            extensions: details.extensions, date: outbox.heads.date, to: &output)
    }

    @inline(__always)
    static func append(
        _ notification: Notification, of delivery: Delivery, at center: Int,
        in centers: inout CenterTable, by writer: inout DeliveryWriter, to frames: inout [UInt8]
    ) {
        let selector = centers[center].selector(delivery.selector)
        let frame = FrameWriter.beginFrame(in: &frames)
        if delivery.form == .acknowledged {
            RPC.append(
                request: notification, observer: delivery.observer, selector: selector,
                isRedelivered: delivery.isRedelivered, to: &frames)
        } else {
            writer.append(
                notification, calling: selector, isRedelivered: delivery.isRedelivered, to: &frames)
        }
        FrameWriter.endFrame(frame, .text, in: &frames)
    }

    /// The payload of a frame, behind its header.
    static func payload(of frame: Range<Int>) -> Range<Int> {
        frame.dropFirst(FrameWriter.headerByteCount(frameByteCount: frame.count))
    }

    /// Appends a compressed frame of a payload in the arena; nil if it is not smaller.
    static func append(
        compressing payload: Range<Int>, by deflater: Deflater, to frames: inout [UInt8]
    ) -> Range<Int>? {
        // The arena grows while it is read, so the deflater reads a copy.
        let text = Array(frames[payload])
        return FrameWriter.append(.text, compressing: text.span, by: deflater, to: &frames)
    }

    static func append(
        _ addressed: Addressed, _ notification: Notification, of delivery: Delivery,
        at center: Int,
        in centers: borrowing CenterTable, to frames: inout [UInt8]
    ) {
        let frame = FrameWriter.beginFrame(in: &frames)
        RPC.append(
            addressed, notification, observer: delivery.observer,
            isRequest: delivery.form != .action,
            isRedelivered: delivery.isRedelivered, to: &frames)
        FrameWriter.endFrame(frame, .text, in: &frames)
    }

    static func append(
        change notification: Notification, _ keyPath: [UInt8], of delivery: Delivery,
        at center: Int, in centers: borrowing CenterTable, to frames: inout [UInt8]
    ) {
        let frame = FrameWriter.beginFrame(in: &frames)
        RPC.append(
            change: notification, keyPath: keyPath,
            calling: centers[center].selector(delivery.selector),
            isRedelivered: delivery.isRedelivered, to: &frames)
        FrameWriter.endFrame(frame, .text, in: &frames)
    }

    func append(gap: Gap, to output: inout [UInt8]) {
        var text: [UInt8] = []
        RPC.append(gap: gap, to: &text)
        FrameWriter.append(.text, payload: text.span, to: &output)
    }

    func append(
        settled ask: NotificationID, at observer: UInt64, _ reason: Settlement,
        to output: inout [UInt8]
    ) {
        var text: [UInt8] = []
        RPC.append(settled: ask, observer: observer, reason, to: &text)
        FrameWriter.append(.text, payload: text.span, to: &output)
    }

    func append(removed observer: UInt64, _ tombstone: Tombstone, to output: inout [UInt8]) {
        var text: [UInt8] = []
        RPC.append(removed: observer, tombstone, to: &text)
        FrameWriter.append(.text, payload: text.span, to: &output)
    }

    func appendKeepAlive(to output: inout [UInt8]) -> Connection.DeadlineKind {
        let empty: [UInt8] = []
        FrameWriter.append(.ping, payload: empty.span, to: &output)
        return .pong
    }

    func appendDraining(
        untilMilliseconds end: Int64, reconnectAfter: Duration, to output: inout [UInt8]
    ) {
        if isEcho { return }
        var text: [UInt8] = []
        RPC.append(drainingUntil: end, reconnectAfter: reconnectAfter, to: &text)
        FrameWriter.append(.text, payload: text.span, to: &output)
    }

    func append(_ farewell: Farewell, to output: inout [UInt8]) {
        FrameWriter.appendClose(
            farewell.closeCode, reason: Array(farewell.reason.utf8), to: &output)
    }
}
