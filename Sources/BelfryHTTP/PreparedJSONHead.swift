import BelfryBytes

/// A usual answer's head, in one piece: `200 OK` or another status, with `application/json`.
///
/// It is as good as its date: make a new one when the second changes.
public struct PreparedJSONHead: Sendable {
    /// All of the head but its length.
    let bytes: [UInt8]
    /// All of the head, with three digits for the length.
    let whole: [UInt8]

    /// The position of the length in the whole head.
    var lengthStart: Int { bytes.count }

    /// Makes the head of a status for a date, from `HTTPDate`.
    public init(status: Int, date: Span<UInt8>) {
        var bytes = Array("HTTP/1.1 \(status) \(ReasonPhrase.of(status))\r\n".utf8)
        bytes.append(contentsOf: "Content-Type: application/json\r\nDate: ".utf8)
        bytes.append(date)
        bytes.append(contentsOf: "\r\nContent-Length: ".utf8)
        self.bytes = bytes
        whole = bytes + Array("000\r\n\r\n".utf8)
    }
}

extension ResponseWriter {
    /// Adds the head of `200 OK` with `application/json`, and tells where its content starts.
    ///
    /// The content of 100 to 999 bytes is written behind it; then `setLength` completes the head.
    public static func appendJSONHead(
        _ head: PreparedJSONHead, for context: ResponseContext, to output: inout [UInt8]
    ) -> Int {
        output.append(head.whole.span)
        if !context.keepsAlive || context.minorVersion == 0 {
            output.removeLast(2)
            appendConnection(context, to: &output)
        }
        return output.count
    }

    /// Adds an answer of `application/json` that names a location.
    public static func appendJSON(
        _ content: [UInt8], location: [UInt8], for context: ResponseContext,
        _ head: PreparedJSONHead, to output: inout [UInt8]
    ) {
        output.append(contentsOf: head.bytes)
        output.appendDecimalLine(content.count, isLast: false)
        output.append(contentsOf: locationStart)
        output.append(contentsOf: location)
        output.append(contentsOf: lineEnd)
        appendConnection(context, to: &output)
        if !context.isHead { output.append(contentsOf: content) }
    }

    private static let locationStart = Array("Location: ".utf8)
    private static let lineEnd = Array("\r\n".utf8)

    /// Writes the length into a head that was added at `start`.
    public static func setLength(
        _ byteCount: Int, _ head: PreparedJSONHead, at start: Int, in output: inout [UInt8]
    ) {
        precondition(100...999 ~= byteCount, "the head has room for three digits")
        let place = start + head.lengthStart
        var rest = UInt32(truncatingIfNeeded: byteCount)
        var text = output.mutableSpan
        for digit in 0..<3 {
            text[place + 2 - digit] = ASCII.zero &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
