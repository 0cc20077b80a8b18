import BelfryBytes
import BelfryJSON

/// Writes the messages of a client to the end of an output buffer.
public enum ClientWriter {
    /// Adds CONNECT, which is due once INFO has come, and behind the TLS handshake if there is one.
    public static func appendConnect(_ options: ConnectOptions, to output: inout [UInt8]) {
        output.append(literal: "CONNECT ")
        output += options.json
        output.append(literal: "\r\n")
    }

    /// Adds PING.
    public static func appendPing(to output: inout [UInt8]) {
        output.append(literal: "PING\r\n")
    }

    /// Adds PONG.
    public static func appendPong(to output: inout [UInt8]) {
        output.append(literal: "PONG\r\n")
    }

    /// Adds SUB; `sid` is a number that no other subscription of the connection has.
    public static func appendSubscribe(
        to subject: Subject, sid: UInt64, to output: inout [UInt8]
    ) {
        output.append(literal: "SUB ")
        output += subject.bytes
        appendNumber(sid, to: &output)
        output.append(literal: "\r\n")
    }

    /// Adds UNSUB, which takes effect at once, or when `max` messages have come in all.
    public static func appendUnsubscribe(
        sid: UInt64, max: UInt64? = nil, to output: inout [UInt8]
    ) {
        output.append(literal: "UNSUB")
        appendNumber(sid, to: &output)
        if let max { appendNumber(max, to: &output) }
        output.append(literal: "\r\n")
    }

    /// Adds PUB, or HPUB if there are headers.
    ///
    /// That a pattern is published to is a bug of the caller, and stops the process.
    public static func appendPublish(
        _ payload: Span<UInt8>, to subject: Subject, replyTo: Subject? = nil,
        headers: HeaderBlock? = nil, to output: inout [UInt8]
    ) {
        precondition(
            !subject.isPattern && replyTo?.isPattern != true, "a pattern is not published to")
        output.append(literal: headers == nil ? "PUB " : "HPUB ")
        output += subject.bytes
        if let replyTo {
            output.append(.space)
            output += replyTo.bytes
        }
        if let headers { appendNumber(UInt64(headers.bytes.count), to: &output) }
        appendNumber(UInt64((headers?.bytes.count ?? 0) + payload.count), to: &output)
        output.append(literal: "\r\n")
        if let headers { output += headers.bytes }
        output.append(payload)
        output.append(literal: "\r\n")
    }

    private static func appendNumber(_ number: UInt64, to output: inout [UInt8]) {
        output.append(.space)
        JSONWriter.append(integer: number, to: &output)
    }
}
