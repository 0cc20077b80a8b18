/// The state machine of the chunked transfer coding (RFC 9112 §7.1).
///
/// Sizes are hexadecimal digits only; extensions and trailers are checked, bounded and dropped.
struct ChunkedDecoder: Sendable {
    /// A find in the bytes.
    enum Step { case content(Range<Int>), end, needsMore }

    private enum State {
        case firstDigit, size
        case beforeSemicolon, beforeName, name, afterName, beforeValue, value
        case quoted, quotedPair, afterValue
        case sizeLineFeed, content, contentEnd, contentLineFeed, trailer
    }

    private let limits: HTTPLimits
    private var state = State.firstDigit
    /// The size of the chunk, then its missing bytes; `Int.max` for all sizes above.
    private var missing = 0
    private var receivedByteCount = 0
    private var lineByteCount = 0
    private var extensionByteCount = 0
    private var trailer: FieldScanner
    private var trailerByteCount = 0

    init(limits: HTTPLimits) {
        self.limits = limits
        trailer = FieldScanner(trailer: limits)
    }

    /// Takes the next piece of content out of `bytes`.
    mutating func next(
        in bytes: Span<UInt8>, at cursor: inout Int, bodyByteLimit: Int
    ) throws(HTTPError) -> Step {
        while cursor < bytes.count {
            switch state {
            case .content:
                let end = cursor + min(missing, bytes.count - cursor)
                let range = cursor..<end
                missing -= range.count
                cursor = end
                if missing == 0 { state = .contentEnd }
                return .content(range)
            case .contentEnd:
                guard bytes[cursor] == ASCII.carriageReturn else { throw .missingChunkEnd }
                state = .contentLineFeed
            case .contentLineFeed:
                guard bytes[cursor] == ASCII.lineFeed else { throw .missingChunkEnd }
                lineByteCount = 0
                state = .firstDigit
            case .sizeLineFeed:
                guard bytes[cursor] == ASCII.lineFeed else { throw .bareCarriageReturn }
                try endSizeLine(bodyByteLimit: bodyByteLimit)
            case .trailer:
                return try scanTrailer(bytes, at: &cursor) ? .end : .needsMore
            case .firstDigit, .size:
                try takeSizeByte(bytes[cursor])
            case .beforeSemicolon, .beforeName, .name, .afterName, .beforeValue, .value,
                .quoted, .quotedPair, .afterValue:
                try takeExtensionByte(bytes[cursor])
            }
            cursor += 1
        }
        return .needsMore
    }

    private mutating func scanTrailer(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> Bool {
        var dropped = FieldRanges()
        let start = cursor
        let isOver = try trailer.scan(
            bytes, at: &cursor, offset: trailerByteCount - start, recordingIn: &dropped)
        trailerByteCount += cursor - start
        return isOver
    }

    private mutating func endSizeLine(bodyByteLimit: Int) throws(HTTPError) {
        guard missing > 0 else {
            state = .trailer
            return
        }
        guard missing <= bodyByteLimit - receivedByteCount else {
            throw .bodyTooLarge(limit: bodyByteLimit)
        }
        receivedByteCount += missing
        state = .content
    }

    private mutating func countLineByte() throws(HTTPError) {
        lineByteCount += 1
        guard lineByteCount <= limits.chunkLineByteLimit else {
            throw .chunkLineTooLong(limit: limits.chunkLineByteLimit)
        }
    }

    private mutating func takeSizeByte(_ byte: UInt8) throws(HTTPError) {
        if let digit = ASCII.hexValue(byte) {
            try countLineByte()
            missing = missing > Int.max >> 4 ? Int.max : missing << 4 | Int(digit)
            state = .size
            return
        }
        guard state == .size else { throw .invalidChunkSize }
        switch byte {
        case ASCII.carriageReturn: state = .sizeLineFeed
        case ASCII.lineFeed: throw .bareLineFeed
        case ASCII.semicolon, ASCII.space, ASCII.tab: try takeExtensionByte(byte)
        default: throw .invalidChunkSize
        }
    }

    /// Takes a byte of `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
    private mutating func takeExtensionByte(_ byte: UInt8) throws(HTTPError) {
        guard byte != ASCII.lineFeed else { throw .bareLineFeed }
        if byte == ASCII.carriageReturn {
            // White space may not be the last of the line (RFC 9112 §7.1.1 has it before a
            // semicolon or an equals sign).
            guard state == .name || state == .value || state == .afterValue, !isAfterBlank else {
                throw .invalidChunkExtension
            }
            state = .sizeLineFeed
            return
        }
        try countLineByte()
        extensionByteCount += 1
        guard extensionByteCount <= limits.chunkExtensionByteLimit else {
            throw .chunkExtensionsTooLong(limit: limits.chunkExtensionByteLimit)
        }
        guard let next = nextState(after: byte) else { throw .invalidChunkExtension }
        isAfterBlank = state != .quoted && state != .quotedPair && ASCII.isBlank(byte)
        state = next
    }

    /// The last byte was a blank outside of quotes.
    private var isAfterBlank = false

    private func nextState(after byte: UInt8) -> State? {
        let isBlank = ASCII.isBlank(byte)
        let isToken = ByteSet.token.contains(byte)
        return switch (state, byte) {
        case (.size, ASCII.semicolon), (.beforeSemicolon, ASCII.semicolon),
            (.name, ASCII.semicolon), (.afterName, ASCII.semicolon), (.value, ASCII.semicolon),
            (.afterValue, ASCII.semicolon):
            .beforeName
        case (.size, _), (.beforeSemicolon, _): isBlank ? .beforeSemicolon : nil
        case (.beforeName, _): isBlank ? .beforeName : isToken ? .name : nil
        case (.name, ASCII.equals), (.afterName, ASCII.equals): .beforeValue
        case (.name, _): isToken ? .name : isBlank ? .afterName : nil
        case (.afterName, _): isBlank ? .afterName : nil
        case (.beforeValue, ASCII.quote): .quoted
        case (.beforeValue, _): isBlank ? .beforeValue : isToken ? .value : nil
        case (.value, _): isToken ? .value : isBlank ? .afterValue : nil
        case (.quoted, ASCII.quote): .afterValue
        case (.quoted, ASCII.backslash): .quotedPair
        case (.quoted, _), (.quotedPair, _): ASCII.isText(byte) ? .quoted : nil
        case (.afterValue, _): isBlank ? .afterValue : nil
        case (.firstDigit, _), (.sizeLineFeed, _), (.content, _), (.contentEnd, _),
            (.contentLineFeed, _), (.trailer, _):
            nil
        }
    }
}
