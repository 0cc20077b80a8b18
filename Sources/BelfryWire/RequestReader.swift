public import BelfryCenter
internal import BelfryJSON

/// Reads the contents of HTTP requests; it throws the problem that the sender gets.
///
/// A text that is no JSON is 400, whatever else is wrong with it; otherwise all faults are
/// collected, up to a limit. Nesting deeper than 128 is refused at once.
public struct RequestReader: Sendable {
    /// The limits that it keeps.
    public let limits: WireLimits

    /// Makes a reader.
    public init(limits: WireLimits = WireLimits()) {
        self.limits = limits
    }

    /// Reads a post in the form of `curl`: the body itself is the userInfo.
    ///
    /// Name, object, `causedBy` and the options come percent-decoded from the path and the query;
    /// the options are all other parameters. A body of nothing but whitespace is no userInfo.
    /// - Throws: malformed-json, content-too-large, invalid-fields or forbidden.
    /// - Complexity: one pass over the body, one buffer for the content.
    public func channelPost(
        name: [UInt8], object: [UInt8]? = nil, causedBy: [UInt8]? = nil,
        options: [QueryParameter] = [], body: Span<UInt8>
    ) throws(Problem) -> PostRequest {
        if let post = postInOrder(name: name, object: object, causedBy: causedBy, body: body) {
            if options.isEmpty { return post }
            if let post = try adding(options, to: post) { return post }
        }
        // The body has a fault: a second reading of all of it finds out which.
        var fields = FieldReader(limits: limits)
        let userInfo = try wholeUserInfo(body, &fields)
        checkName(name, &fields)
        if let object, let fault = TextRule.faultOfName(object.span, limits: limits) {
            fields.faults.add(.parameter("object"), fault)
        }
        var cause: NotificationID?
        if let causedBy {
            cause = NotificationID(text: causedBy.span)
            if cause == nil {
                fields.faults.add(.parameter("causedBy"), "must be the id of a notification")
            }
        }
        let postOptions = try readOptions(options, &fields.faults)
        try fields.faults.check()
        let content = PostFields.content(
            name: name, object: object, userInfo: userInfo, of: body)
        return PostRequest(content: content, causedBy: cause, options: postOptions)
    }

    /// Adds options; nil when something is wrong with them.
    private func adding(
        _ options: [QueryParameter], to post: PostRequest
    ) throws(Problem) -> PostRequest? {
        var faults = Faults(limits: limits)
        var post = post
        post.options = try readOptions(options, &faults)
        return faults.isEmpty ? post : nil
    }

    /// Reads a post with which nothing is wrong; nil when something is, whatever it is.
    private func postInOrder(
        name: [UInt8], object: [UInt8]?, causedBy: [UInt8]?, body: Span<UInt8>
    ) -> PostRequest? {
        guard TextRule.isPostable(name.span, limits: limits) else { return nil }
        if let object, TextRule.faultOfName(object.span, limits: limits) != nil { return nil }
        var cause: NotificationID?
        if let causedBy {
            cause = NotificationID(text: causedBy.span)
            if cause == nil { return nil }
        }
        guard let userInfo = try? bodyInOrder(body) else { return nil }
        let content = PostFields.content(
            name: name, object: object, userInfo: userInfo.isEmpty ? nil : userInfo, of: body)
        return PostRequest(content: content, causedBy: cause)
    }

    /// Checks a name or an object that came in the path or the query.
    ///
    /// - Throws: invalid-fields, with the parameter.
    public func check(name: [UInt8], parameter: String) throws(Problem) {
        if let fault = TextRule.faultOfName(name.span, limits: limits) {
            throw .invalidParameter(parameter, fault)
        }
    }

    /// Checks the name of an observer that came in the query: a reserved one must be one that the
    /// broker tells about.
    ///
    /// - Throws: invalid-fields or forbidden, with the parameter.
    public func check(observedName name: [UInt8], parameter: String) throws(Problem) {
        try check(name: name, parameter: parameter)
        guard TextRule.isReserved(name), !TextRule.isLifetimeChannel(name) else { return }
        var faults = Faults(limits: limits)
        faults.addReservedName(.parameter(parameter))
        try faults.check()
    }

    /// Checks an idempotency key that came in the field `Idempotency-Key`.
    ///
    /// - Throws: invalid-fields, with the header.
    public func check(idempotencyKey key: [UInt8]) throws(Problem) {
        if let fault = TextRule.faultOfKey(key, limits: limits) {
            throw .invalidHeader("Idempotency-Key", fault)
        }
    }

    private func checkName(_ name: [UInt8], _ fields: inout FieldReader) {
        if let fault = TextRule.faultOfName(name.span, limits: limits) {
            fields.faults.add(.parameter("name"), fault)
        } else if TextRule.isReserved(name) {
            fields.faults.addReservedName(.parameter("name"))
        }
    }

    /// Whether a body has nothing but whitespace.
    func isBlank(_ body: Span<UInt8>) -> Bool {
        for index in body.indices where !body[index].isJSONWhitespace { return false }
        return true
    }

    /// The range of a userInfo that is the whole body; nil when there is none.
    func wholeUserInfo(
        _ body: Span<UInt8>, _ fields: inout FieldReader
    ) throws(Problem) -> Range<Int>? {
        if isBlank(body) { return nil }
        let range = try fields.wholeUserInfo(in: body)
        try fields.finish(in: body)
        return range
    }

    /// Reads one notification or an array of them.
    ///
    /// - Throws: malformed-json, content-too-large, invalid-fields or forbidden, for all of it.
    public func notifications(
        in body: Span<UInt8>
    ) throws(Problem) -> (posts: [PostRequest], isBatch: Bool) {
        var fields = FieldReader(limits: limits)
        let isBatch = try fields.kind(in: body) == .array
        var posts: [PostRequest] = []
        if isBatch {
            posts = try fields.readBatch(in: body)
        } else if let post = try fields.readNotification(in: body) {
            posts = [post]
        }
        try fields.finish(in: body)
        try fields.faults.check()
        return (posts, isBatch)
    }

    /// Reads one notification a line (NDJSON).
    ///
    /// A pointer starts with the index of the line among those that are not blank.
    /// - Throws: malformed-json, content-too-large, invalid-fields or forbidden, for all of it.
    public func notificationLines(in body: Span<UInt8>) throws(Problem) -> [PostRequest] {
        var fields = FieldReader(limits: limits)
        var posts: [PostRequest] = []
        var lines = JSONLines()
        var itemCount = 0
        while let line = lines.next(in: body) {
            let text = body.extracting(0..<line.upperBound)
            fields.restart(at: line.lowerBound, item: itemCount)
            if itemCount >= limits.batchItemLimit {
                _ = try fields.skip(in: text)
            } else if let post = try fields.readNotification(in: text) {
                posts.append(post)
            }
            try fields.finish(in: text)
            itemCount += 1
        }
        fields.checkItemCount(itemCount)
        try fields.faults.check()
        return posts
    }

    /// Reads an observer that is to be registered.
    ///
    /// - Parameter allowsSession: whether the body may name a client by its session, as over HTTP;
    ///   without one it is an observer with a mailbox of its own.
    /// - Throws: malformed-json, invalid-fields or forbidden.
    public func observer(
        in body: Span<UInt8>, allowsSession: Bool
    ) throws(Problem) -> ObserverRequest {
        try read(body) { (fields) throws(Problem) in
            try fields.readObserver(in: body, allowsSession: allowsSession)
        }
    }

    /// Reads whether a client is suspended from now on, as `{"suspended":true}`.
    ///
    /// - Throws: malformed-json or invalid-fields.
    public func suspension(in body: Span<UInt8>) throws(Problem) -> Bool {
        try read(body) { (fields) throws(Problem) in try fields.readSuspension(in: body) }
    }

    /// Reads a mode that is to be entered, with the lease; 60 s when none is given.
    ///
    /// - Throws: malformed-json or invalid-fields.
    public func mode(in body: Span<UInt8>) throws(Problem) -> ModeRequest {
        try read(body) { (fields) throws(Problem) in
            try fields.readMode(in: body, allowsLease: true)
        }
    }

    /// Reads the content of an explanation.
    ///
    /// - Throws: malformed-json, content-too-large or invalid-fields.
    public func explanation(in body: Span<UInt8>) throws(Problem) -> ExplainRequest {
        try read(body) { (fields) throws(Problem) in try fields.readExplanation(in: body) }
    }

    /// Reads the filter of a stream, whose parameters are in the query; nil where it has none.
    ///
    /// - Throws: invalid-fields.
    public func filter(query: [QueryParameter]) throws(Problem) -> FilterTerms? {
        var reader = QueryReader(limits: limits)
        var terms = FilterTerms()
        for parameter in query {
            guard let key = reader.key(of: parameter, in: FilterFields.parameters) else { continue }
            let bytes = parameter.value.span
            switch key {
            case .namePrefix: terms.namePrefix = try reader.name(in: bytes)
            case .objectPrefix: terms.objectPrefix = try reader.name(in: bytes)
            case .where: terms.condition = reader.condition(in: bytes)
            case .names: break
            }
        }
        try reader.faults.check()
        return terms.isFiner ? terms : nil
    }

    /// Reads a whole body, and throws the collected faults.
    func read<Request>(
        _ body: Span<UInt8>, with read: (inout FieldReader) throws(Problem) -> Request?
    ) throws(Problem) -> Request {
        var fields = FieldReader(limits: limits)
        let request = try read(&fields)
        try fields.finish(in: body)
        guard let request, fields.faults.isEmpty else {
            throw fields.faults.problem ?? .invalid([])
        }
        return request
    }
}

extension UInt8 {
    /// Insignificant whitespace (RFC 8259 §2).
    var isJSONWhitespace: Bool {
        self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09
    }
}
