import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// What each route does with a request that may be made.

extension ServerLoop {
    mutating func handleRequest(
        _ path: RoutedPath, content: Span<UInt8>, from id: ConnectionID
    ) {
        do throws(Problem) {
            if path.route.isService {
                try handleService(path.route, content: content, from: id)
                return
            }
            try checkCenterName(path)
            var query = try Query(exchange.parser.head)
            let request = try centerRequest(path, &query, content: content)
            try query.finish()
            try submitRequest(request, center: path.center, from: id)
        } catch {
            answer(error, fields: exchange.refusalFields, to: id, exchange.reply)
        }
    }

    private mutating func submitRequest(
        _ request: CenterRequest, center: [UInt8], from id: ConnectionID
    ) throws(Problem) {
        submit(
            Submission(
                center: center, request: request, caller: anonymous,
                reply: Reply(loop: number, connection: id, form: .http(exchange.reply))))
    }

    private func checkCenterName(_ path: RoutedPath) throws(Problem) {
        guard path.hasCenterPrefix else { return }
        try requestReader.check(name: path.center, parameter: "center")
    }

    /// What the center is asked.
    private mutating func centerRequest(
        _ path: RoutedPath, _ query: inout Query, content: Span<UInt8>
    ) throws(Problem) -> CenterRequest {
        switch path.route {
        case .channelPost(let name):
            return try channelPost(name, &query, content: content)
        case .notifications:
            return try notifications(&query, content: content)
        case .observers where exchange.parser.head.method == .post:
            try checkContentType(allowsForm: false)
            exchange.reply.details.pathPrefix = path.prefix
            return .addObserver(try requestReader.observer(in: content, allowsSession: true))
        case .webSocket:
            return try openWebSocket()
        case .events:
            return try openEvents(&query)
        case .observers, .observer, .clients, .client, .centers, .channels, .notification,
            .explain, .leaks, .unmatched:
            return try lookingRequest(path, &query)
        case .live, .ready, .metrics, .asset, .debugEcho, .debugWebSocket:
            preconditionFailure("service routes ask no center")
        }
    }

    // MARK: Posting

    private mutating func channelPost(
        _ name: [UInt8], _ query: inout Query, content: Span<UInt8>
    ) throws(Problem) -> CenterRequest {
        try checkContentType(allowsForm: true)
        try readPostOptions(&query)
        let object = query.take("object")
        let causedBy = query.take("causedBy")
        let post = try requestReader.channelPost(
            name: name, object: object, causedBy: causedBy, options: query.takeRest(),
            body: content)
        return .post(post)
    }

    private mutating func notifications(
        _ query: inout Query, content: Span<UInt8>
    ) throws(Problem) -> CenterRequest {
        try readPostOptions(&query)
        if MediaType.matches(exchange.parser.head.contentType, "application/x-ndjson") {
            return .postBatch(try requestReader.notificationLines(in: content))
        }
        try checkContentType(allowsForm: false)
        let (posts, isBatch) = try requestReader.notifications(in: content)
        if isBatch { return .postBatch(posts) }
        guard let post = posts.first else {
            preconditionFailure("one notification was read")
        }
        return .post(post)
    }

    /// Options of the answer: `report`, `Prefer`.
    private mutating func readPostOptions(_ query: inout Query) throws(Problem) {
        let uncommonFields = exchange.parser.head.uncommonFields
        if uncommonFields.contains(.idempotencyKey) {
            throw Problem.invalidHeader("Idempotency-Key", "is not supported by this version")
        }
        if let report = query.take("report") {
            guard report.elementsEqual("observers".utf8) else {
                throw Problem.invalidParameter("report", "must be observers")
            }
            exchange.reply.reportsObservers = true
        }
        guard uncommonFields.contains(.prefer) else { return }
        let preferences = Preferences(of: exchange.parser.head)
        if preferences.return == .minimal {
            exchange.reply.isMinimal = true
            exchange.reply.appliedPreference = .minimal
        } else if preferences.respondsAsync {
            // No observer is waited for yet, so every answer is at once.
            exchange.reply.appliedPreference = .asynchronous
        }
    }

    /// JSON, or what `curl -d` says of it.
    private func checkContentType(allowsForm: Bool) throws(Problem) {
        guard exchange.parser.head.hasContentType else { return }
        let type = exchange.parser.head.contentType
        if MediaType.matches(type, "application/json") { return }
        if allowsForm, MediaType.matches(type, "application/x-www-form-urlencoded") { return }
        throw Problem(.unsupportedMediaType, "The content must be application/json.")
    }

    // MARK: Looking inside

    private mutating func lookingRequest(
        _ path: RoutedPath, _ query: inout Query
    ) throws(Problem) -> CenterRequest {
        switch path.route {
        case .observers:
            let listing = try requestReader.listing(.observers, query: query.takeRest())
            return .observers(self.query(of: listing.query, state: listing.state))
        case .observer(let token):
            let secret = try self.secret(of: token)
            return exchange.parser.head.method == .delete
                ? .removeObserver(secret) : .readObserver(secret)
        case .clients:
            let listing = try requestReader.listing(.clients, query: query.takeRest()).query
            return .clients(
                cursor: listing.cursor, limit: listing.limit, principal: listing.principal)
        case .client(let id):
            guard let client = IdentifierText(client: id.span), client.secret == nil else {
                throw Problem.unknownPath
            }
            return .removeClient(id: client.number, session: headField("belfry-session"))
        case .centers:
            let listing = try requestReader.listing(.centers, query: query.takeRest()).query
            return .centers(rows: [], cursor: listing.cursor, limit: listing.limit)
        case .channels:
            let listing = try requestReader.listing(.channels, query: query.takeRest()).query
            return .channels(cursor: listing.cursor, limit: listing.limit, name: listing.name)
        case .notification(let id):
            guard let id = NotificationID(text: id.span) else { throw Problem.unknownPath }
            return .fate(id)
        case .explain:
            let request = try requestReader.explain(query: query.takeRest())
            return .explain(name: request.name, object: request.object)
        case .leaks:
            let listing = try requestReader.listing(.reports, query: query.takeRest()).query
            return .leaks(limit: listing.limit)
        case .unmatched:
            let listing = try requestReader.listing(.reports, query: query.takeRest()).query
            return .unmatched(limit: listing.limit)
        case .channelPost, .notifications, .webSocket, .events, .live, .ready, .metrics, .asset,
            .debugEcho, .debugWebSocket:
            preconditionFailure("these routes do not look inside")
        }
    }

    /// The value of a field of the request, copied.
    func headField(_ name: String) -> [UInt8]? {
        guard let value = exchange.parser.head.field(name) else { return nil }
        return [UInt8](copying: value)
    }

    /// The observer that a path names; the secret half may stand in a field instead.
    private func secret(of token: [UInt8]) throws(Problem) -> Secret {
        guard let observer = IdentifierText(observer: token.span) else { throw Problem.unknownPath }
        guard observer.secret == nil, let text = headField("belfry-token") else {
            return Secret(number: observer.number, secret: observer.secret)
        }
        // The field has the whole token or its secret half.
        if let whole = IdentifierText(observer: text.span), whole.secret != nil {
            guard whole.number == observer.number else { throw Problem.unknownPath }
            return Secret(number: whole.number, secret: whole.secret)
        }
        return Secret(number: observer.number, secret: text)
    }
}

extension ServerLoop {
    /// The query for a listing; all observers are live until clients can be suspended.
    func query(of query: ObserverQuery, state: ClientState?) -> ObserverQuery {
        guard let state, state != .live else { return query }
        var nothing = query
        nothing.cursor = UInt64.max
        return nothing
    }
}

extension Problem {
    /// What a path that names nothing is answered with.
    static let unknownPath = Problem(.notFound, "There is nothing at this path.")
}
