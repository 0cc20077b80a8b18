/// The state machine of a status line (RFC 9112 §4): `HTTP-version SP 3DIGIT SP [ reason ] CRLF`.
///
/// The second SP may be missing when there is no reason, as some servers have it.
struct StatusLine: Sendable {
    private(set) var minorVersion: UInt8 = 0
    private(set) var status = 0
    private var position = 0
    private var isAtLineFeed = false

    /// Reads on; true when the line is over and `cursor` behind its LF.
    mutating func scan(
        _ bytes: Span<UInt8>, at cursor: inout Int, limit: Int
    ) throws(HTTPError) -> Bool {
        while cursor < bytes.count {
            let byte = bytes[cursor]
            cursor += 1
            if isAtLineFeed {
                guard byte == ASCII.lineFeed else { throw .bareCarriageReturn }
                return true
            }
            if position >= 12, byte == ASCII.carriageReturn {
                isAtLineFeed = true
                continue
            }
            guard position < limit else { throw .requestLineTooLong(limit: limit) }
            try take(byte)
            position += 1
        }
        return false
    }

    private mutating func take(_ byte: UInt8) throws(HTTPError) {
        let prefix = "HTTP/1.".utf8.span
        switch position {
        case 0..<5, 6:
            guard byte == prefix[position] else { throw .malformedStartLine }
        case 5:
            guard ASCII.isDigit(byte) else { throw .malformedVersion }
            guard byte == prefix[5] else { throw .unsupportedVersion }
        case 7:
            guard ASCII.isDigit(byte) else { throw .malformedVersion }
            minorVersion = min(byte &- ASCII.zero, 1)
        case 8, 12:
            guard byte == ASCII.space else { throw .malformedStartLine }
        case 9...11:
            guard ASCII.isDigit(byte), byte != ASCII.zero || position > 9 else {
                throw .malformedStartLine
            }
            status = status * 10 + Int(byte &- ASCII.zero)
        default:
            guard byte != ASCII.lineFeed else { throw .bareLineFeed }
            guard ASCII.isText(byte) else { throw .malformedStartLine }
        }
    }
}
