import BelfryCenter
import BelfryWebSocket
import BelfryWire

/// A client at a WebSocket, in frames of JSON-RPC (RFC 6455).
struct WebSocketTransport: ClientTransport {
    /// Whether it is the echo, which has no words of its own.
    var isEcho = false

    /// What the silence of its connection means first.
    static let silence = Connection.DeadlineKind.ping

    /// Appends the 101 response.
    @inline(__always)
    static func appendOpening(
        _ details: HTTPReply.Details, date: [UInt8], to output: inout [UInt8]
    ) {
        OpeningAnswer.append(
            acceptKey: details.acceptKey, subprotocol: details.subprotocol,
            extensions: details.extensions, date: date, to: &output)
    }

    /// Appends the first frame; `content` is room for its text.
    @inline(__always)
    static func append(
        _ welcome: Welcome, content: inout [UInt8], to output: inout [UInt8]
    ) {
        content.removeAll(keepingCapacity: true)
        RPC.append(welcome: welcome, to: &content)
        FrameWriter.append(.text, payload: content.span, to: &output)
    }

    /// Appends the frame of a delivery.
    @inline(__always)
    static func append(
        _ notification: Notification, of delivery: Delivery, calling selector: [UInt8],
        by writer: inout DeliveryWriter, to frames: inout [UInt8]
    ) {
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
