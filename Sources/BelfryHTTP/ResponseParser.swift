/// An event that a `ResponseParser` found in the bytes.
public enum ResponseEvent: Sendable, Equatable {
    /// A head is complete; it is in the parser's `head`.
    case head
    /// Some content: this range of the bytes that were passed, without any framing.
    case body(Range<Int>)
    /// The response is over.
    case end
}

/// Reads responses of HTTP/1.1 and 1.0 (RFC 9112 §4, §6), the twin of `RequestParser`.
///
/// Interim responses are skipped. After 101, and after 2xx to CONNECT, the rest of the bytes is
/// another protocol's: `.end` comes, and nothing more is read.
public struct ResponseParser: Sendable {
    private enum Phase {
        case between
        case line
        case fields
        case framing
        case content(missing: Int)
        case chunks
        case untilClose
        case upgraded
        case failed(HTTPError)
    }

    /// The head of the response; valid from `.head` on until the next response begins.
    public private(set) var head = ResponseHead()
    /// The method of the request that the next response answers: HEAD has no content.
    public var requestMethod = HTTPMethod.get
    /// The largest content, in bytes; `nil` is no limit, as for an endless event stream.
    public var bodyByteLimit: Int?

    private let limits: HTTPLimits
    private var phase = Phase.between
    private var line = StatusLine()
    private var fields: FieldScanner
    private var chunks: ChunkedDecoder
    private var receivedByteCount = 0
    private var interimCount = 0

    /// How many interim responses may come before the final one.
    private static var interimLimit: Int { 16 }

    /// Makes a parser that waits for its first response.
    public init(limits: HTTPLimits) {
        self.limits = limits
        bodyByteLimit = limits.bodyByteLimit
        fields = FieldScanner(head: limits)
        chunks = ChunkedDecoder(limits: limits)
    }

    /// Takes the next event out of the bytes from `cursor` on, and moves it behind what was read.
    ///
    /// - Returns: The event, or `nil` when more bytes are needed or the connection was upgraded.
    /// - Throws: `HTTPError`; the connection is lost, and the same error comes again.
    public mutating func nextEvent(
        in bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> ResponseEvent? {
        do {
            while true {
                if let event = try step(bytes, at: &cursor) { return event }
                guard case .between = phase, cursor < bytes.count else { return nil }
            }
        } catch {
            phase = .failed(error)
            throw error
        }
    }

    /// Notes the end of the connection, which ends some content.
    ///
    /// - Returns: `.end` for content that lasts until the close, else `nil`.
    /// - Throws: `HTTPError.incompleteMessage` inside a response.
    public mutating func finish() throws(HTTPError) -> ResponseEvent? {
        switch phase {
        case .untilClose:
            phase = .between
            return .end
        case .between, .upgraded:
            return nil
        case .failed(let error):
            throw error
        case .line, .fields, .framing, .content, .chunks:
            phase = .failed(.incompleteMessage)
            throw .incompleteMessage
        }
    }

    private mutating func step(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> ResponseEvent? {
        switch phase {
        case .between:
            guard cursor < bytes.count else { return nil }
            start()
            return try readHead(bytes, at: &cursor)
        case .line, .fields:
            return try readHead(bytes, at: &cursor)
        case .framing:
            if let event = try beginContent() { return event }
            return try step(bytes, at: &cursor)
        case .content(let missing):
            return takeContent(missing: missing, of: bytes, at: &cursor)
        case .chunks:
            let limit = bodyByteLimit ?? .max
            switch try chunks.next(in: bytes, at: &cursor, bodyByteLimit: limit) {
            case .content(let range): return .body(range)
            case .needsMore: return nil
            case .end:
                phase = .between
                return .end
            }
        case .untilClose:
            guard cursor < bytes.count else { return nil }
            let limit = bodyByteLimit ?? .max
            let room = limit - receivedByteCount
            guard room > 0 else { throw .bodyTooLarge(limit: limit) }
            // All bytes that fit are handed out, however they were cut.
            let range = cursor..<(bytes.count - cursor > room ? cursor + room : bytes.count)
            receivedByteCount += range.count
            cursor = range.upperBound
            return .body(range)
        case .upgraded:
            return nil
        case .failed(let error):
            throw error
        }
    }

    private mutating func start() {
        var memory = head.bytes
        memory.reset()
        head = ResponseHead()
        head.bytes = memory
        line = StatusLine()
        fields = FieldScanner(head: limits)
        receivedByteCount = 0
        phase = .line
    }

    private mutating func readHead(
        _ bytes: Span<UInt8>, at cursor: inout Int
    ) throws(HTTPError) -> ResponseEvent? {
        let start = cursor
        let offset = head.bytes.count - start
        var isOver = false
        if case .line = phase,
            try line.scan(bytes, at: &cursor, limit: limits.requestLineByteLimit)
        {
            phase = .fields
        }
        if case .fields = phase {
            isOver = try fields.scan(
                bytes, at: &cursor, offset: offset, recordingIn: &head.bytes.fields)
        }
        head.bytes.append(bytes, from: start, to: cursor)
        guard isOver else { return nil }
        if 100..<200 ~= line.status, line.status != 101 {
            interimCount += 1
            guard interimCount <= Self.interimLimit else {
                throw .tooManyInterimResponses(limit: Self.interimLimit)
            }
            phase = .between
            return nil
        }
        interimCount = 0
        try head.finish(line)
        phase = .framing
        return .head
    }

    /// Decides how the content is framed (RFC 9112 §6.3).
    private mutating func beginContent() throws(HTTPError) -> ResponseEvent? {
        let isTunnel = requestMethod == .connect && 200..<300 ~= head.status
        guard head.status != 101, !isTunnel else {
            phase = .upgraded
            return .end
        }
        if requestMethod == .head || head.status == 204 || head.status == 304 {
            phase = .content(missing: 0)
        } else if head.isChunked {
            chunks = ChunkedDecoder(limits: limits)
            phase = .chunks
        } else if let length = head.contentLength {
            let limit = bodyByteLimit ?? .max
            guard length <= limit else { throw .bodyTooLarge(limit: limit) }
            phase = .content(missing: length)
        } else {
            head.keepsAlive = false
            phase = .untilClose
        }
        return nil
    }

    private mutating func takeContent(
        missing: Int, of bytes: Span<UInt8>, at cursor: inout Int
    ) -> ResponseEvent? {
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
