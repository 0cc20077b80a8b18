import BelfryBytes

/// The state machine of a request line (RFC 9112 §3); positions count from its first byte.
///
/// `method SP request-target SP HTTP-version CRLF`, with exactly one SP at each place.
struct RequestLine: Sendable {
    private enum State { case method, target, version, lineFeed }

    /// The method, if it came whole and is one of the known ones.
    private(set) var method: HTTPMethod?
    private(set) var methodEnd = 0
    private(set) var targetEnd = 0
    /// The place of the first `?`.
    private(set) var queryMark: Int?
    /// The target has a bracket, which only an IP literal may have.
    private(set) var hasBracket = false
    private(set) var minorVersion: UInt8 = 0
    private var state = State.method
    /// How many bytes of `HTTP/1.1` have come.
    private var versionByteCount = 0

    /// `HTTP/1.1` as a word.
    private static var http11: UInt64 { 0x312E_312F_5054_5448 }

    var target: Range<Int> { methodEnd + 1..<targetEnd }

    /// Reads on; true when the line is over and `cursor` behind its LF.
    ///
    /// - Parameter offset: The distance from an index of `bytes` to a position in the head.
    mutating func scan(
        _ bytes: Span<UInt8>, at cursor: inout Int, offset: Int, limit: Int
    ) throws(HTTPError) -> Bool {
        // No byte but CR and LF may be at the limit.
        let end = min(bytes.count, limit - offset)
        while cursor < bytes.count {
            switch state {
            case .method:
                guard cursor < end else { throw .requestLineTooLong(limit: limit) }
                if cursor + offset == 0, end - cursor >= 8,
                    let known = HTTPMethod.prefix(of: bytes.word(at: cursor))
                {
                    method = known.method
                    methodEnd = known.byteCount
                    cursor += known.byteCount + 1
                    state = .target
                    continue
                }
                cursor = ByteSet.token.endOfRun(in: bytes, from: cursor, to: end)
                guard cursor < end else { continue }
                guard bytes[cursor] == ASCII.space, cursor + offset > 0 else {
                    throw .malformedStartLine
                }
                methodEnd = cursor + offset
                cursor += 1
                state = .target
            case .target:
                guard cursor < end else { throw .requestLineTooLong(limit: limit) }
                cursor = ByteSet.target.endOfRun(in: bytes, from: cursor, to: end)
                guard cursor < end else { continue }
                try takeTargetByte(bytes[cursor], position: cursor + offset)
                cursor += 1
            case .version:
                if versionByteCount == 0, end - cursor > 8, bytes.word(at: cursor) == Self.http11 {
                    versionByteCount = 8
                    minorVersion = 1
                    cursor += 8
                    if end - cursor > 1, bytes[cursor] == ASCII.carriageReturn,
                        bytes[cursor + 1] == ASCII.lineFeed
                    {
                        cursor += 2
                        return true
                    }
                }
                if versionByteCount == 8 {
                    guard bytes[cursor] == ASCII.carriageReturn else { throw .malformedVersion }
                    state = .lineFeed
                } else {
                    guard cursor < end else { throw .requestLineTooLong(limit: limit) }
                    try takeVersionByte(bytes[cursor])
                }
                cursor += 1
            case .lineFeed:
                guard bytes[cursor] == ASCII.lineFeed else { throw .bareCarriageReturn }
                cursor += 1
                return true
            }
        }
        return false
    }

    /// Takes a byte of the target that is not plain.
    private mutating func takeTargetByte(_ byte: UInt8, position: Int) throws(HTTPError) {
        switch byte {
        case ASCII.questionMark:
            if queryMark == nil { queryMark = position }
        case ASCII.percent:
            break
        case ASCII.leftBracket, ASCII.rightBracket:
            hasBracket = true
        case ASCII.space:
            guard position > methodEnd + 1 else { throw .malformedStartLine }
            targetEnd = position
            state = .version
        default:
            throw .invalidTarget
        }
    }

    /// Takes a byte of `HTTP/1.x`; a higher minor version is read as 1.1 (RFC 9110 §2.5).
    private mutating func takeVersionByte(_ byte: UInt8) throws(HTTPError) {
        let isExpected =
            switch versionByteCount {
            case 0: byte == 0x48
            case 1, 2: byte == 0x54
            case 3: byte == 0x50
            case 4: byte == ASCII.slash
            case 6: byte == 0x2E
            default: ASCII.isDigit(byte)
            }
        guard isExpected else { throw .malformedVersion }
        if versionByteCount == 5, byte != 0x31 { throw .unsupportedVersion }
        if versionByteCount == 7 { minorVersion = min(byte &- ASCII.zero, 1) }
        versionByteCount += 1
    }
}
