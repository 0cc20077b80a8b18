import BelfryBytes

/// Writes responses (RFC 9112 §4) to the end of an output buffer.
///
/// `date` is the value of Date, from `HTTPDate`; each function writes exactly one framing.
public enum ResponseWriter {
    private static let okJSON = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: ".utf8)
    private static let contentLength = Array("\r\nContent-Length: ".utf8)
    private static let headEnd = Array("\r\n\r\n".utf8)

    /// Adds a whole response with its content.
    ///
    /// The answer to HEAD has the length without the content; 204 and 304 have neither.
    public static func append(
        status: Int, fields: [HTTPField] = [], content: Span<UInt8>,
        for context: ResponseContext, date: Span<UInt8>, to output: inout [UInt8]
    ) {
        appendHead(
            status: status, fields: fields, contentByteCount: content.count, for: context,
            date: date, to: &output)
        if allowsContent(status, context) { output.append(content) }
    }

    /// Adds a head; the caller adds `contentByteCount` bytes if `allowsContent` says so.
    public static func appendHead(
        status: Int, fields: [HTTPField] = [], contentByteCount: Int,
        for context: ResponseContext, date: Span<UInt8>, to output: inout [UInt8]
    ) {
        appendStart(status, fields, date, to: &output)
        if status != 204, status != 304 {
            output.append(contentsOf: "Content-Length: ".utf8)
            output.appendDecimal(contentByteCount)
            output.append(contentsOf: "\r\n".utf8)
        }
        appendConnection(context, to: &output)
    }

    /// Adds the head of `200 OK` with `application/json`: the usual answer, from a constant.
    public static func appendJSONHead(
        contentByteCount: Int, for context: ResponseContext, date: Span<UInt8>,
        to output: inout [UInt8]
    ) {
        output.append(contentsOf: okJSON)
        output.append(date)
        output.append(contentsOf: contentLength)
        output.appendDecimal(contentByteCount)
        if context.keepsAlive, context.minorVersion >= 1 {
            output.append(contentsOf: headEnd)
        } else {
            output.append(contentsOf: "\r\n".utf8)
            appendConnection(context, to: &output)
        }
    }

    /// Adds `200 OK` with content of `application/json`.
    public static func appendJSON(
        _ content: Span<UInt8>, for context: ResponseContext, date: Span<UInt8>,
        to output: inout [UInt8]
    ) {
        appendJSONHead(contentByteCount: content.count, for: context, date: date, to: &output)
        if !context.isHead { output.append(content) }
    }

    /// Adds `200 OK` with content of `application/json` by a head that was made beforehand.
    ///
    /// The usual answer becomes three copies.
    public static func appendJSON(
        _ content: [UInt8], fields: [HTTPField] = [], for context: ResponseContext,
        _ head: PreparedJSONHead, to output: inout [UInt8]
    ) {
        output.append(contentsOf: head.bytes)
        let isUsual = context.keepsAlive && context.minorVersion >= 1 && fields.isEmpty
        output.appendDecimalLine(content.count, isLast: isUsual)
        for field in fields { field.append(to: &output) }
        if !isUsual { appendConnection(context, to: &output) }
        if !context.isHead { output.append(contentsOf: content) }
    }

    /// Adds the head of a response of unknown length; its connection ends it (RFC 9112 §6.3).
    public static func appendStreamHead(
        status: Int, fields: [HTTPField] = [], date: Span<UInt8>, to output: inout [UInt8]
    ) {
        appendStart(status, fields, date, to: &output)
        appendConnection(.closing, to: &output)
    }

    /// Adds `100 Continue`; never for HTTP/1.0 (RFC 9110 §10.1.1).
    public static func appendContinue(to output: inout [UInt8]) {
        output.append(contentsOf: "HTTP/1.1 100 Continue\r\n\r\n".utf8)
    }

    /// Whether content may follow the head of this response (RFC 9112 §6.3).
    public static func allowsContent(_ status: Int, _ context: ResponseContext) -> Bool {
        !context.isHead && status >= 200 && status != 204 && status != 304
    }

    private static func appendStart(
        _ status: Int, _ fields: [HTTPField], _ date: Span<UInt8>, to output: inout [UInt8]
    ) {
        precondition(100...599 ~= status, "a status has three digits (RFC 9110 §15)")
        output.append(contentsOf: "HTTP/1.1 ".utf8)
        output.appendDecimal(status)
        output.append(ASCII.space)
        output.append(contentsOf: ReasonPhrase.of(status).utf8)
        output.append(contentsOf: "\r\nDate: ".utf8)
        output.append(date)
        output.append(contentsOf: "\r\n".utf8)
        for field in fields {
            field.append(to: &output)
        }
    }

    /// Adds the fate of the connection where it is not the default, and ends the head.
    static func appendConnection(_ context: ResponseContext, to output: inout [UInt8]) {
        if !context.keepsAlive {
            output.append(contentsOf: "Connection: close\r\n".utf8)
        } else if context.minorVersion == 0 {
            output.append(contentsOf: "Connection: keep-alive\r\n".utf8)
        }
        output.append(contentsOf: "\r\n".utf8)
    }
}
