import BelfryBytes

/// Writes the requests of a client (RFC 9112 §3) to the end of an output buffer.
public enum RequestWriter {
    /// Adds a request; Host comes first, and Content-Length when the method has content.
    ///
    /// - Parameters:
    ///   - method: A method that has a name.
    ///   - target: The target, already encoded: see `PercentEncoding`. A byte that no target may
    ///     have is a bug of the caller, and stops the process.
    ///   - host: The host and port to ask for.
    public static func append(
        method: HTTPMethod, target: [UInt8], host: String, fields: [HTTPField] = [],
        content: Span<UInt8>, to output: inout [UInt8]
    ) {
        guard let name = method.name else {
            preconditionFailure("a method to be sent has a name")
        }
        output.append(contentsOf: name.utf8)
        output.append(ASCII.space)
        for byte in target {
            let isAllowed =
                ByteSet.target.contains(byte) || byte == ASCII.percent
                || byte == ASCII.questionMark
            precondition(isAllowed, "a target is encoded (RFC 3986 §2)")
            output.append(byte)
        }
        output.append(contentsOf: " HTTP/1.1\r\n".utf8)
        HTTPField("Host", host).append(to: &output)
        for field in fields {
            field.append(to: &output)
        }
        if content.count > 0 || hasContent(method) {
            output.append(contentsOf: "Content-Length: ".utf8)
            output.appendDecimal(content.count)
            output.append(contentsOf: "\r\n".utf8)
        }
        output.append(contentsOf: "\r\n".utf8)
        output.append(content)
    }

    /// Methods whose empty content is worth a length (RFC 9110 §8.6).
    private static func hasContent(_ method: HTTPMethod) -> Bool {
        switch method {
        case .post, .put, .patch: true
        case .get, .head, .delete, .options, .trace, .connect, .other: false
        }
    }
}
