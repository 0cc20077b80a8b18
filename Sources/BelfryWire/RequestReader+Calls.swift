public import BelfryCenter

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
        try read(params, in: message) { (fields, bytes) throws(Problem) in
            try fields.readNothing(in: bytes)
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
    private enum RemovalKey: String, CaseIterable {
        case token, observer, name, object, target, selector
        case names, namePrefix, objectPrefix, `where`
    }
    private static let removal = FieldTable(RemovalKey.allCases)

    mutating func readRemoval(in bytes: Span<UInt8>) throws(Problem) -> RemoveRequest? {
        var token: IdentifierText?
        var observer: UInt64?
        var filter = ObserverFilter()
        let finer = FilterFields()
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: Self.removal, in: bytes) {
            switch key {
            case .token:
                token = try secret("must be the token of an observer", in: bytes) {
                    IdentifierText(observer: $0)
                }
            case .observer:
                observer = try serial("must be the id of an observer", in: bytes) {
                    IdentifierText(observer: $0)
                }
            case .name: filter.name = try name(in: bytes)
            case .object: filter.object = try name(in: bytes)
            case .target: filter.target = try name(in: bytes)
            case .selector: filter.selector = try selector(in: bytes)
            case .names: try finer.read(.names, &self, in: bytes)
            case .namePrefix: try finer.read(.namePrefix, &self, in: bytes)
            case .objectPrefix: try finer.read(.objectPrefix, &self, in: bytes)
            case .where: try finer.read(.where, &self, in: bytes)
            }
        }
        finer.check(hasName: filter.name != nil, hasObject: filter.object != nil, &self)
        filter.terms = finer.givenTerms
        guard faults.isEmpty else { return nil }
        switch (token, observer, filter.isEmpty) {
        case (let token?, nil, true): return .token(token)
        case (nil, let observer?, true): return .observer(observer)
        case (nil, nil, false): return .filter(filter)
        default:
            faults.add(
                place(),
                """
                must have token, or observer, or some of name, names, namePrefix, object, \
                objectPrefix, where, target and selector
                """)
            return nil
        }
    }

    private static let nothing = FieldTable([RemovalKey]())

    /// Reads an object that has no members.
    mutating func readNothing(in bytes: Span<UInt8>) throws(Problem) -> Void? {
        guard try beginObject(in: bytes) else { return nil }
        while try nextKey(of: Self.nothing, in: bytes) != nil {}
        return ()
    }
}
