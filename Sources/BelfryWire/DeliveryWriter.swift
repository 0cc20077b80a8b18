public import BelfryCenter
internal import BelfryJSON

/// Writes deliveries that call a selector.
///
/// It keeps the parts that the next one mostly repeats: the start and the time.
public struct DeliveryWriter: Sendable {
    private var selector: [UInt8] = []
    /// All of a delivery up to the value of the sequence number, with the identifier still blank.
    private var start: [UInt8]
    private var time: (milliseconds: Int64, text: [UInt8])

    /// A writer that keeps nothing of use yet.
    public init() {
        start = Self.start(calling: [])
        time = (0, Shape.postedAt(milliseconds: 0))
    }

    /// Appends a delivery, which calls the selector with the notification.
    public mutating func append(
        _ notification: Notification, calling selector: [UInt8], isRedelivered: Bool,
        to output: inout [UInt8]
    ) {
        if selector != self.selector {
            start = Self.start(calling: selector)
            self.selector = selector
        }
        if notification.postedAt != time.milliseconds {
            time = (
                notification.postedAt, Shape.postedAt(milliseconds: notification.postedAt)
            )
        }
        output.makeRoom(forMore: start.count + 256 + notification.content.byteCount)
        output.append(contentsOf: start)
        Shape.append(contentOf: notification, isOneLine: false, to: &output)
        output.append(contentsOf: time.text)
        Shape.append(
            endOf: notification, isRedelivered: isRedelivered, observer: nil, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    private static func start(calling selector: [UInt8]) -> [UInt8] {
        var start = Array("{\"jsonrpc\":\"2.0\",\"method\":".utf8)
        JSONWriter.append(string: selector.span, to: &start)
        return start + Array(",\"params\":".utf8) + Shape.blankStart
    }
}
