public import BelfryCenter
internal import BelfryJSON

/// The messages of the broker over JSON-RPC 2.0.
///
/// The answers of a batch are joined by the caller: `[`, `,`, `]`.
public enum RPC {
    /// Appends a delivery to an acknowledging observer: a request, whose response is the
    /// acknowledgement.
    public static func append(
        request notification: Notification, observer: UInt64, selector: [UInt8],
        isRedelivered: Bool, to output: inout [UInt8]
    ) {
        output.append("{\"jsonrpc\":\"2.0\",\"id\":")
        appendDeliveryID(
            DeliveryName(observer: observer, sequence: notification.sequence), to: &output)
        output.append(",\"method\":")
        JSONWriter.append(string: selector.span, to: &output)
        output.append(contentsOf: paramsKey)
        Shape.append(
            notification: notification, isRedelivered: isRedelivered, observer: observer,
            to: &output)
        output.append(UInt8(ascii: "}"))
    }

    private static let answerStart = [UInt8]("{\"jsonrpc\":\"2.0\",\"id\":".utf8)
    private static let resultKey = [UInt8](",\"result\":".utf8)
    private static let paramsKey = [UInt8](",\"params\":".utf8)

    /// Appends the text before a result; `id` is the raw JSON of the request.
    public static func beginResult(id: [UInt8], to output: inout [UInt8]) {
        beginAnswer(id: id, to: &output)
        output.append(contentsOf: resultKey)
    }

    /// Appends the text behind a result.
    public static func endResult(to output: inout [UInt8]) {
        output.append(UInt8(ascii: "}"))
    }

    /// Appends an answer with a fault of JSON-RPC itself; `detail` becomes its data.
    public static func append(
        error code: RPCErrorCode, detail: String? = nil, id: [UInt8], to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        beginError(code, message: code.message, id: id, to: &output, with: &writer)
        if let detail {
            writer.key("data", into: &output)
            writer.beginObject(into: &output)
            writer.member("detail", string: detail, into: &output)
            writer.endObject(into: &output)
        }
        endError(to: &output, with: &writer)
    }

    /// Appends an answer with a problem document as the data of its error.
    public static func append(problem: Problem, id: [UInt8], to output: inout [UInt8]) {
        var writer = JSONWriter()
        beginError(.problem, message: problem.kind.title, id: id, to: &output, with: &writer)
        writer.key("data", into: &output)
        problem.append(to: &output, with: &writer)
        endError(to: &output, with: &writer)
    }

    /// Appends `belfry.gap`.
    public static func append(gap: Gap, to output: inout [UInt8]) {
        append("belfry.gap", to: &output) { output, writer in
            writer.gap(gap, into: &output)
        }
    }

    /// Appends `belfry.removed`.
    public static func append(
        removed observer: UInt64, _ tombstone: Tombstone, to output: inout [UInt8]
    ) {
        append("belfry.removed", to: &output) { output, writer in
            writer.removal(of: observer, tombstone, into: &output)
        }
    }

    /// Appends `belfry.settled`: an ask is over for a responder that was shown it.
    public static func append(
        settled id: NotificationID, observer: UInt64, _ reason: Settlement,
        to output: inout [UInt8]
    ) {
        append("belfry.settled", to: &output) { output, writer in
            writer.settlement(of: id, observer: observer, reason, into: &output)
        }
    }

    /// Appends `belfry.draining`: until when the broker still answers, and when to come back.
    public static func append(
        drainingUntil deadline: Int64, reconnectAfter: Duration, to output: inout [UInt8]
    ) {
        append("belfry.draining", to: &output) { output, writer in
            writer.beginObject(into: &output)
            writer.time("deadline", deadline, into: &output)
            writer.member("reconnectAfter", seconds: reconnectAfter, into: &output)
            writer.endObject(into: &output)
        }
    }

    private static func append(
        _ method: String, to output: inout [UInt8],
        params: (inout [UInt8], inout JSONWriter) -> Void
    ) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.member("jsonrpc", string: "2.0", into: &output)
        writer.member("method", string: method, into: &output)
        writer.key("params", into: &output)
        params(&output, &writer)
        writer.endObject(into: &output)
    }

    private static func beginAnswer(id: [UInt8], to output: inout [UInt8]) {
        output.append(contentsOf: answerStart)
        output.append(contentsOf: id)
    }

    private static func beginError(
        _ code: RPCErrorCode, message: String, id: [UInt8], to output: inout [UInt8],
        with writer: inout JSONWriter
    ) {
        beginAnswer(id: id, to: &output)
        output.append(",\"error\":")
        writer.beginObject(into: &output)
        writer.member("code", integer: code.rawValue, into: &output)
        writer.member("message", string: message, into: &output)
    }

    private static func endError(to output: inout [UInt8], with writer: inout JSONWriter) {
        writer.endObject(into: &output)
        output.append("}")
    }
}

/// The first message to a client.
public struct Welcome: Sendable, Equatable {
    /// The number of the client.
    public var client: UInt64
    /// The secret that speaks for it, whole: `c4.Qz…`.
    public var session: [UInt8]
    /// The name of its center.
    public var center: [UInt8]
    /// The identity of this life of the center.
    public var epoch: [UInt8]
    /// The sequence number of the last notification.
    public var sequence: UInt64
    /// The position of an event stream that breaks before its first event.
    ///
    /// The stream resumes behind this sequence number; it begins anew where this is nil.
    public var position: UInt64?

    /// Joins the parts.
    public init(
        client: UInt64, session: [UInt8], center: [UInt8], epoch: [UInt8], sequence: UInt64
    ) {
        self.client = client
        self.session = session
        self.center = center
        self.epoch = epoch
        self.sequence = sequence
    }
}
