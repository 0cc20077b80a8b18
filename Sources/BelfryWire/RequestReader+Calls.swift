public import BelfryCenter
internal import BelfryJSON

// The params of JSON-RPC calls; they are the objects of the HTTP API. Pointers start at the params.
extension RequestReader {
    /// Reads the params of `post`.
    ///
    /// - Throws: content-too-large, invalid-fields or forbidden.
    public func post(params: Range<Int>?, in message: Span<UInt8>) throws(Problem) -> PostCall {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            let post = try fields.readPost(isCall: true, in: bytes)
            guard let request = fields.request(of: post, in: bytes) else { return nil }
            return PostCall(
                post: request, reportsObservers: post.reportsObservers,
                waitSeconds: post.waitSeconds, idempotencyKey: post.idempotencyKey)
        }
    }

    /// Reads the params of `addObserver`; without params it is an observer of everything.
    ///
    /// - Throws: invalid-fields or forbidden.
    public func addObserver(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ObserverRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readObserver(in: bytes, allowsSession: false)
        }
    }

    /// Reads the params of `removeObserver`: a token, an observer id, or the parts of a filter.
    ///
    /// - Throws: invalid-fields.
    public func removeObserver(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> RemoveRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readRemoval(in: bytes)
        }
    }

    /// Reads the params of `observers`.
    ///
    /// - Throws: invalid-fields.
    public func observers(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ListingRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readListing(in: bytes)
        }
    }

    /// Reads the params of `explain`.
    ///
    /// - Throws: invalid-fields.
    public func explain(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ExplainRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readExplanation(in: bytes)
        }
    }

    /// Reads the params of `ask`.
    ///
    /// - Throws: content-too-large or invalid-fields.
    public func ask(params: Range<Int>?, in message: Span<UInt8>) throws(Problem) -> AskRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readAsk(in: bytes)
        }
    }

    /// Reads the params of `withdraw`: the ask.
    ///
    /// - Throws: invalid-fields.
    public func withdraw(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> NotificationID {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readWithdrawal(in: bytes)
        }
    }

    /// Reads the params of `dequeue`.
    ///
    /// - Throws: invalid-fields, also when nothing is given (rule Q20).
    public func dequeue(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> DequeueRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readDequeue(in: bytes)
        }
    }

    /// Reads the params of `setSuspended`: whether the caller is suspended from now on.
    ///
    /// - Throws: invalid-fields.
    public func setSuspended(params: Range<Int>?, in message: Span<UInt8>) throws(Problem) -> Bool {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readSuspension(in: bytes)
        }
    }

    /// Reads the params of `resume`.
    ///
    /// - Throws: invalid-fields.
    public func resume(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ResumeRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readResumption(in: bytes)
        }
    }

    /// Reads the params of `enterMode`; the lease ends with the connection.
    ///
    /// - Throws: invalid-fields.
    public func enterMode(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> ModeRequest {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readMode(in: bytes, allowsLease: false)
        }
    }

    /// Reads the params of `leaveMode`: the token of a mode lease, with its secret.
    ///
    /// - Throws: invalid-fields.
    public func leaveMode(
        params: Range<Int>?, in message: Span<UInt8>
    ) throws(Problem) -> IdentifierText {
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readModeToken(in: bytes)
        }
    }

    /// Reads the params of `ping`, which has none.
    ///
    /// - Throws: invalid-fields.
    public func ping(params: Range<Int>?, in message: Span<UInt8>) throws(Problem) {
        _ = try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readObject(JSONKeyTable([]), in: bytes) { (_, _, _) throws(Problem) in }
        }
    }

    /// Reads params, absent ones as an object without members, and throws the collected faults.
    func read<Request>(
        _ params: Range<Int>?, in message: Span<UInt8>,
        with body: (inout FieldReader, Span<UInt8>) throws(Problem) -> Request?
    ) throws(Problem) -> Request {
        var fields = FieldReader(limits: limits, startingAt: params?.lowerBound ?? 0)
        let empty: [2 of UInt8] = [UInt8(ascii: "{"), UInt8(ascii: "}")]
        let request: Request?
        if let params {
            request = try body(&fields, message.extracting(0..<params.upperBound))
        } else {
            request = try body(&fields, empty.span)
        }
        guard let request, fields.faults.isEmpty else {
            throw fields.faults.problem ?? .invalid([])
        }
        return request
    }
}

extension FieldReader {
    private static let removalKeys = JSONKeyTable([
        "token", "observer", "name", "object", "target", "selector",
    ])

    mutating func readRemoval(in bytes: Span<UInt8>) throws(Problem) -> RemoveRequest? {
        var token: IdentifierText?
        var observer: UInt64?
        var filter = ObserverFilter()
        let isObject = try readObject(Self.removalKeys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            switch ordinal {
            case 0: token = try fields.token(in: bytes)
            case 1: observer = try fields.observerID(in: bytes)
            case 2: filter.name = try fields.optionalName("name", in: bytes)
            case 3: filter.object = try fields.optionalName("object", in: bytes)
            case 4: filter.target = try fields.optionalName("target", in: bytes)
            default:
                if try fields.skipNull(in: bytes) { return }
                filter.selector = try fields.selector("selector", in: bytes)
            }
        }
        guard isObject, faults.isEmpty else { return nil }
        switch (token, observer, filter.isEmpty) {
        case (let token?, nil, true): return .token(token)
        case (nil, let observer?, true): return .observer(observer)
        case (nil, nil, false): return .filter(filter)
        default:
            faults.add(
                place(),
                "must have token, or observer, or some of name, object, target and selector")
            return nil
        }
    }

    private mutating func token(in bytes: Span<UInt8>) throws(Problem) -> IdentifierText? {
        guard let text = try optionalString("token", in: bytes) else { return nil }
        let token = IdentifierText(observer: text.span)
        if token?.secret == nil { addFault("token", "must be the token of an observer") }
        return token
    }

    private mutating func observerID(in bytes: Span<UInt8>) throws(Problem) -> UInt64? {
        guard let text = try optionalString("observer", in: bytes) else { return nil }
        let id = IdentifierText(observer: text.span)
        guard let id, id.secret == nil else {
            addFault("observer", "must be the id of an observer")
            return nil
        }
        return id.number
    }

    private static let explanationKeys = JSONKeyTable(ExplainFields.Key.allCases.map(\.text))

    mutating func readExplanation(in bytes: Span<UInt8>) throws(Problem) -> ExplainRequest? {
        var explanation = ExplainFields()
        _ = try readObject(Self.explanationKeys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            switch ExplainFields.Key(rawValue: ordinal) {
            case .name: explanation.name = try fields.name("name", in: bytes) ?? []
            case .object:
                if try fields.skipNull(in: bytes) { return }
                explanation.object = try fields.name("object", in: bytes) ?? []
            case .selector: explanation.selector = try fields.selector("selector", in: bytes) ?? []
            case .limit:
                let range = 1...fields.limits.pageRowLimit
                explanation.limit = try fields.optionalInteger("limit", in: range, of: bytes)
            case .cursor: explanation.cursor = try fields.cursor(in: bytes)
            case nil: preconditionFailure("a member has an ordinal of the table")
            }
        }
        return explanation.request { addFault($0.text, $1) }
    }

    private mutating func cursor(in bytes: Span<UInt8>) throws(Problem) -> UInt64? {
        guard let text = try optionalString("cursor", in: bytes) else { return nil }
        let cursor = CursorText.read(text.span)
        if cursor == nil { addFault("cursor", ListingRequest.cursorDetail) }
        return cursor
    }
}
