import BelfryBytes

/// Percent-encoding of path segments and query values (RFC 3986 §2.1).
public enum PercentEncoding {
    /// Adds the decoded bytes of `text` to `output`; `+` stays a plus sign.
    ///
    /// - Throws: `HTTPError.invalidPercentEncoding`, and `HTTPError.invalidUTF8` for decoded
    ///   bytes that are not UTF-8.
    public static func decode(
        _ text: Span<UInt8>, into output: inout [UInt8]
    ) throws(HTTPError) {
        if text.firstIndex(of: ASCII.percent, in: text.indices) == text.count, isASCII(text) {
            output.append(text)
            return
        }
        let start = output.count
        var hasHighByte = false
        var index = 0
        while index < text.count {
            var byte = text[index]
            index += 1
            if byte == ASCII.percent {
                guard text.count - index >= 2, let high = ASCII.hexValue(text[index]),
                    let low = ASCII.hexValue(text[index + 1])
                else { throw .invalidPercentEncoding }
                byte = high << 4 | low
                index += 2
            }
            hasHighByte = hasHighByte || byte >= 0x80
            output.append(byte)
        }
        guard hasHighByte else { return }
        do {
            _ = try UTF8Span(validating: output.span.extracting(droppingFirst: start))
        } catch {
            throw .invalidUTF8
        }
    }

    private static func isASCII(_ text: Span<UInt8>) -> Bool {
        var bits: UInt8 = 0
        for index in text.indices { bits |= text[index] }
        return bits < 0x80
    }

    /// Adds `text` to `output` with all bytes but the unreserved ones encoded.
    ///
    /// The result fits a path segment and the name or value of a query parameter alike.
    public static func encode(_ text: Span<UInt8>, into output: inout [UInt8]) {
        for index in text.indices {
            let byte = text[index]
            if ByteSet.unreserved.contains(byte) {
                output.append(byte)
            } else {
                output.append(ASCII.percent)
                output.append(hexDigit(byte >> 4))
                output.append(hexDigit(byte & 15))
            }
        }
    }

    /// Gives `text` with all bytes but the unreserved ones encoded.
    public static func encoded(_ text: String) -> [UInt8] {
        var output: [UInt8] = []
        encode(text.utf8.span, into: &output)
        return output
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? ASCII.zero + value : 0x37 + value
    }
}
