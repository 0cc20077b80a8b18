/// An event that a `RequestParser` found in the bytes.
public enum RequestEvent: Sendable, Equatable {
    /// A head is complete; it is in the parser's `head`.
    case head
    /// Some content: this range of the bytes that were passed, without any framing.
    case body(Range<Int>)
    /// The request is over; the next byte belongs to another one.
    case end
}

/// Reads requests of HTTP/1.1 and 1.0 out of a receive buffer (RFC 9112).
///
/// It reads in place, keeps the bytes of heads only, and may be fed with pieces of any size: the
/// events are the same. Once it has thrown, it throws the same error again. A client that posts
/// much mostly sends the same head again and again: such a one is compared, not read.
public struct RequestParser: Sendable {
    private enum Phase {
        case between
        /// Within the CRLF of an empty line before the request.
        case emptyLine
        case line
        case fields
        case framing
        case content(missing: Int)
        case chunks
        case failed(HTTPError)
    }

    /// The head of the request; valid from `.head` on until the next request begins.
    public private(set) var head = RequestHead()
    /// Whether that head equals the one before it, byte for byte, so that its facts still hold.
    public private(set) var repeatsHead = false
    /// The largest content of this request, in bytes; past it is 413.
    ///
    /// The caller may change it after `.head`; each request begins with the default of the limits.
    public var bodyByteLimit: Int

    private let limits: HTTPLimits
    private var phase = Phase.between
    private var line = RequestLine()
    private var fields: FieldScanner
    private var chunks: ChunkedDecoder
    private var emptyLineCount = 0

    /// Makes a parser that waits for its first request.
    public init(limits: HTTPLimits) {
        self.limits = limits
        bodyByteLimit = limits.bodyByteLimit
        fields = FieldScanner(head: limits)
        chunks = ChunkedDecoder(limits: limits)
    }

    /// True when no byte has come since the last request, not even an empty line: such a connection
    /// needs no parser of its own.
    public var isBetweenRequests: Bool {
        switch phase {
        case .between: emptyLineCount == 0
        case .emptyLine, .line, .fields, .framing, .content, .chunks, .failed: false
        }
    }

    /// Whether a byte of a request line has come since the last request; empty lines are none.
    public var hasBegunRequest: Bool {
        switch phase {
        case .between, .emptyLine: false
        case .line, .fields, .framing, .content, .chunks, .failed: true
        }
    }

    /// How many bytes of a head it keeps.
    public var headByteCount: Int { head.bytes.count }

    /// Forgets the head of the last request, unless another one has begun: then it is gone already.
    public mutating func forgetLastHead() {
        if !hasBegunRequest { head = RequestHead() }
    }

    /// Takes the next event out of the bytes from `cursor` on, and moves it behind what was read.
    ///
    /// - Returns: The event, or `nil` when more bytes are needed; `cursor` is at their end then.
    /// - Throws: `HTTPError`; the request and the connection are lost.
    public mutating func nextEvent(
        in bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> RequestEvent? {
        do {
            return try step(bytes, at: &cursor)
        } catch {
            phase = .failed(error)
            throw error
        }
    }

    private mutating func step(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> RequestEvent? {
        switch phase {
        case .between, .emptyLine:
            guard try skipEmptyLines(bytes, at: &cursor) else { return nil }
            emptyLineCount = 0
            bodyByteLimit = limits.bodyByteLimit
            repeatsHead = head.bytes.stand(in: bytes, from: cursor)
            if repeatsHead {
                cursor += head.bytes.count
                phase = .framing
                return .head
            }
            start()
            return try readHead(bytes, at: &cursor)
        case .line, .fields:
            return try readHead(bytes, at: &cursor)
        case .framing:
            if let length = try beginContent() {
                return takeContent(missing: length, of: bytes, at: &cursor)
            }
            return try takeChunks(of: bytes, at: &cursor)
        case .content(let missing):
            return takeContent(missing: missing, of: bytes, at: &cursor)
        case .chunks:
            return try takeChunks(of: bytes, at: &cursor)
        case .failed(let error):
            throw error
        }
    }

    private mutating func start() {
        head.bytes.reset()
        line = RequestLine()
        fields = FieldScanner(head: limits)
        phase = .line
    }

    /// Skips CRLF before a request line (RFC 9112 §2.2); true when a byte of the line is there.
    private mutating func skipEmptyLines(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> Bool {
        while cursor < bytes.count {
            if case .emptyLine = phase {
                guard bytes[cursor] == ASCII.lineFeed else { throw .bareCarriageReturn }
                phase = .between
            } else {
                guard bytes[cursor] != ASCII.lineFeed else { throw .bareLineFeed }
                guard bytes[cursor] == ASCII.carriageReturn else { return true }
                guard emptyLineCount < limits.emptyLineLimit else {
                    throw .tooManyEmptyLines(limit: limits.emptyLineLimit)
                }
                emptyLineCount += 1
                phase = .emptyLine
            }
            cursor += 1
        }
        return false
    }

    /// Scans the head in place and then keeps the scanned bytes with one copy.
    private mutating func readHead(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> RequestEvent? {
        let start = cursor
        let offset = head.bytes.count - start
        var isOver = false
        do throws(HTTPError) {
            if case .line = phase,
                try line.scan(
                    bytes, at: &cursor, offset: offset, limit: limits.requestLineByteLimit)
            {
                phase = .fields
            }
            if case .fields = phase {
                isOver = try fields.scan(
                    bytes, at: &cursor, offset: offset, recordingIn: &head.bytes.fields)
            }
        } catch {
            // The faulty head stays readable, to report whose request it was.
            head.bytes.append(bytes, from: start, to: bytes.count)
            throw error
        }
        head.bytes.append(bytes, from: start, to: cursor)
        guard isOver else { return nil }
        head.facts = RequestFacts()
        try head.facts.read(line, head.bytes)
        phase = .framing
        return .head
    }

    /// Decides how the content is framed; a length past the limit is refused before it comes.
    ///
    /// - Returns: The length, or `nil` for chunks.
    private mutating func beginContent() throws(HTTPError) -> Int? {
        if head.isChunked {
            chunks = ChunkedDecoder(limits: limits)
            phase = .chunks
            return nil
        }
        let length = head.contentLength ?? 0
        guard length <= bodyByteLimit else { throw .bodyTooLarge(limit: bodyByteLimit) }
        phase = .content(missing: length)
        return length
    }

    private mutating func takeChunks(
        of bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> RequestEvent? {
        switch try chunks.next(in: bytes, at: &cursor, bodyByteLimit: bodyByteLimit) {
        case .content(let range): return .body(range)
        case .needsMore: return nil
        case .end:
            phase = .between
            return .end
        }
    }

    private mutating func takeContent(
        missing: Int, of bytes: Span<UInt8>, at cursor: inout Int
    ) -> RequestEvent? {
        guard missing > 0 else {
            phase = .between
            return .end
        }
        guard cursor < bytes.count else { return nil }
        let end = cursor + min(missing, bytes.count - cursor)
        let range = cursor..<end
        cursor = end
        phase = .content(missing: missing - range.count)
        return .body(range)
    }
}
