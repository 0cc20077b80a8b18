import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryWire

// Posts, and the preferences of a poster: how long to wait, and an idempotency key.

extension Exchange {
    /// A post in the form of `curl`.
    mutating func channelPost(
        _ name: [UInt8], _ query: inout Query, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        try checkContentType(allowsForm: true)
        let wishes = try readWishes(&query, content: content, reader)
        let object = query.take("object")
        let causedBy = query.take("causedBy")
        let post = try reader.channelPost(
            name: name, object: object, causedBy: causedBy, options: query.takeRest(),
            body: content)
        if post.options?.timer != nil { reply.hasTimerInQuery = true }
        return .post(post, wishes)
    }

    /// One notification, or a batch of them.
    mutating func notifications(
        _ query: inout Query, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        let wishes = try readWishes(&query, content: content, reader)
        if MediaType.matches(parser.head.contentType, "application/x-ndjson") {
            return .postBatch(try reader.notificationLines(in: content), wishes)
        }
        try checkContentType()
        let (posts, isBatch) = try reader.notifications(in: content)
        if isBatch { return .postBatch(posts, wishes) }
        guard let post = posts.first else {
            preconditionFailure("one notification was read")
        }
        return .post(post, wishes)
    }

    /// Checks that the content is JSON, or the default type of `curl -d`.
    mutating func checkContentType(allowsForm: Bool = false) throws(Problem) {
        if parser.head.isJSON { return }
        let type = parser.head.contentType
        if allowsForm, MediaType.matches(type, "application/x-www-form-urlencoded") { return }
        throw Problem(.unsupportedMediaType, "The Content-Type must be application/json.")
    }

    // MARK: Wishes

    /// Options of the answer: `report`, `Prefer` and `Idempotency-Key`.
    private mutating func readWishes(
        _ query: inout Query, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> PostWishes? {
        if let report = query.take("report") {
            guard report.elementsEqual("observers".utf8) else {
                throw Problem.invalidParameter("report", "must be observers")
            }
            reply.reportsObservers = true
        }
        let uncommonFields = parser.head.uncommonFields
        if uncommonFields.isDisjoint(with: [.prefer, .idempotencyKey]) { return nil }
        let wait = uncommonFields.contains(.prefer) ? readPreferences() : nil
        let key =
            uncommonFields.contains(.idempotencyKey) ? try readKey(content: content, reader) : nil
        return PostWishes(wait: wait, key: key)
    }

    /// Reads the preferences of a poster; returns its wait in nanoseconds.
    private mutating func readPreferences() -> Int64? {
        let preferences = Preferences(of: parser.head)
        if preferences.return == .minimal {
            reply.isMinimal = true
            reply.appliedPreference = .minimal
        }
        // With both it waits that long, and no longer (RFC 7240 §4.3).
        if let seconds = preferences.waitSeconds { return Self.nanoseconds(seconds: seconds) }
        guard preferences.respondsAsync else { return nil }
        if preferences.return != .minimal { reply.appliedPreference = .asynchronous }
        return 0
    }

    /// The wait at a mailbox, or for the end of an ask, in nanoseconds.
    mutating func readingWait() -> Int64 {
        Self.nanoseconds(seconds: Preferences(of: parser.head).waitSeconds ?? 0)
    }

    /// The wait of a request in nanoseconds; it is at most 60 s.
    static func nanoseconds(seconds: Int) -> Int64 {
        Int64(min(seconds, 60)) * 1_000_000_000
    }

    /// The idempotency key of a request, and the hash of the request.
    mutating func readKey(
        content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> (text: [UInt8], requestHash: SecretHash) {
        let lines = parser.head.values(of: "idempotency-key")
        guard lines.count == 1, let line = lines.first else {
            throw Problem.invalidHeader("Idempotency-Key", "must be sent once")
        }
        let text = Self.unquoted([UInt8](copying: parser.head.value(in: line)))
        try reader.check(idempotencyKey: text)
        // None of these has a line end, but the last.
        var request = Array("POST ".utf8)
        request.append(parser.head.path)
        request.append(UInt8(ascii: "?"))
        if parser.head.hasQuery { request.append(parser.head.query) }
        request.append(UInt8(ascii: "\n"))
        request.append(content)
        return (text, SecretHash(of: request))
    }

    /// The text of a structured string (RFC 9651 §3.3.3); another value is returned as it is.
    private static func unquoted(_ text: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        guard text.count >= 2, text.first == quote, text.last == quote else { return text }
        var result: [UInt8] = []
        var isEscaped = false
        for byte in text.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                // A quotation mark inside must be escaped, and a backslash escapes nothing else.
                if isEscaped != (byte == quote || byte == UInt8(ascii: "\\")) { return text }
                result.append(byte)
                isEscaped = false
            }
        }
        return isEscaped ? text : result
    }
}
