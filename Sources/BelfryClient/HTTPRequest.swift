internal import BelfryHTTP
internal import BelfryLoop
internal import BelfrySystem

/// One request of the HTTP API.
public struct HTTPRequest: Sendable {
    /// The path: below the center, such as `observers`, or an absolute one.
    public let path: String
    /// The parameters of the query, not encoded.
    public var query: [(name: String, value: String)] = []
    /// How long the answer may take; the default is 30 seconds.
    ///
    /// For one without a limit it is how long nothing may come of it.
    public var timeout: Duration = .seconds(30)
    /// The largest content of the answer in bytes, if it has a limit; the default is 16 MiB.
    public var contentByteLimit: Int? = 16 << 20

    let method: HTTPMethod
    /// The content, which may be empty.
    package let content: [UInt8]
    var fields: [HTTPField] = []
    /// The form of the content of a successful answer.
    package var form: AnswerForm

    init(
        _ method: HTTPMethod, _ path: String, content: [UInt8] = [], answer form: AnswerForm? = nil
    ) {
        self.method = method
        self.path = path
        self.content = content
        let isOfAPI = path.utf8.first != UInt8(ascii: "/") || path.utf8.starts(with: "/v1/".utf8)
        self.form = form ?? (isOfAPI ? .object([]) : .anything)
    }

    /// Reads a path.
    public static func get(_ path: String) -> HTTPRequest {
        HTTPRequest(.get, path)
    }

    /// Posts JSON to a path.
    public static func post(_ path: String, json: [UInt8]) -> HTTPRequest {
        var request = HTTPRequest(.post, path, content: json)
        request.fields = [HTTPField("Content-Type", "application/json")]
        return request
    }

    /// Posts a notification without a center: one request, and its receipt is the answer.
    ///
    /// - Throws: `ClientError.invalidIdempotencyKey`.
    public static func post(
        name: String, object: String? = nil, userInfo: UserInfo? = nil,
        options: PostOptions = PostOptions()
    ) throws(ClientError) -> HTTPRequest {
        let wish = PostWish(name: name, object: object, userInfo: userInfo, options: options)
        var request = post("notifications", json: RPCRequest.params(wish.write))
        request.form = .object(["id"])
        if options.reportsObservers { request.query.append(("report", "observers")) }
        request.prefer(wait: options.wait)
        try request.identify(by: options.idempotencyKey)
        return request
    }

    /// Posts 1 to 1,000 notifications together, one JSON object a line (NDJSON), in at most 1 MiB.
    ///
    /// If one is refused, none is posted; the answer has `receipts` in the order of the lines.
    public static func posts(lines: [UInt8]) -> HTTPRequest {
        var request = HTTPRequest(
            .post, "notifications", content: lines, answer: .object(["receipts"]))
        request.fields = [HTTPField("Content-Type", "application/x-ndjson")]
        return request
    }

    /// Sets how long the broker waits with its answer, and whether it may answer early.
    mutating func prefer(wait: Duration?, isAsynchronous: Bool = false) {
        var preferences = isAsynchronous ? ["respond-async"] : []
        if let wait {
            let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
            preferences.append("wait=\(seconds)")
            timeout += wait
        }
        if preferences.isEmpty { return }
        fields.append(HTTPField("Prefer", preferences.joined(separator: ", ")))
    }

    /// Makes it one that has its effect once.
    ///
    /// - Throws: `ClientError.invalidIdempotencyKey`.
    mutating func identify(by key: String?) throws(ClientError) {
        guard let key else { return }
        // It becomes the value of a field.
        guard 1...255 ~= key.utf8.count, key.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw .invalidIdempotencyKey
        }
        fields.append(HTTPField("Idempotency-Key", key))
    }

    /// Deletes a path.
    public static func delete(_ path: String) -> HTTPRequest {
        HTTPRequest(.delete, path, answer: .nothing)
    }

    /// Sends the request over a connection of its own, and waits for the answer.
    ///
    /// A task that is cancelled ends the connection.
    ///
    /// - Throws: `ClientError` when the broker does not answer: `foreignAnswer` when another server
    ///   does. A refusal is an answer.
    public func answer(from url: BrokerURL) async throws(ClientError) -> HTTPAnswer {
        let collector = AnswerCollector()
        try await ExchangeThread.run(self, url) { collector.take($0) }
        let answer = collector.answer
        let isOwn =
            answer.isSuccess
            ? form.fits(answer.head, answer.content)
            : answer.head.problem(answer.content) != nil
        guard isOwn else { throw answer.head.foreign }
        return answer
    }

    /// Sends the request, and hands over the content of the answer as it comes, without a limit.
    ///
    /// A task that is cancelled ends the connection.
    ///
    /// - Parameter take: gets the next bytes, on a thread that may block; false ends the
    ///   connection.
    /// - Throws: `ClientError.refused` when the broker refuses, `.foreignAnswer` when another
    ///   server answers, `.connectionLost` when the content is not whole.
    public func content(
        from url: BrokerURL, _ take: @escaping @Sendable ([UInt8]) -> Bool
    ) async throws(ClientError) {
        let stop = try ExchangeThread.makeStop()
        var request = self
        request.contentByteLimit = nil
        let endless = request
        let reader = ContentReader(form, stop: stop, take)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ExchangeThread.start(endless, url, stop: stop) {
                    reader.take($0)
                } end: {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            reader.end()
        }
        try outcome.get()
        if let fault = reader.fault { throw fault }
    }

    /// Refuses a path that a proxy, or the broker, would read as another one.
    ///
    /// `.` and `..` cannot be encoded: RFC 3986 section 6.2.2.2 makes `%2E` the same as a point.
    func check() throws(ClientError) {
        for segment in path.split(separator: "/", omittingEmptySubsequences: true) {
            if [".", ".."].contains(segment) { throw .dotSegment(String(segment)) }
        }
    }

    /// A request that names its connection as the only one.
    func append(_ url: BrokerURL, to output: inout [UInt8]) {
        RequestWriter.append(
            method: method, target: url.target(path, query: query), host: url.authority,
            fields: fields + url.credentialFields + [HTTPField("Connection", "close")],
            content: content.span,
            to: &output)
    }
}

/// The answer to a request.
public struct HTTPAnswer: Equatable, Sendable {
    var head = AnswerHead()
    /// The status.
    public var status: Int { head.status }
    /// The entity tag of the content, if the broker has sent one (RFC 9110 section 8.8.3).
    public var entityTag: String? { head.entityTag }
    /// The content.
    public internal(set) var content: [UInt8] = []

    /// Whether the request was successful.
    public var isSuccess: Bool {
        200..<300 ~= status
    }

    /// The broker's reason for its refusal.
    public var refusal: ClientError {
        head.refusal(content)
    }
}
