import BelfryBytes
import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// What each route does with a request that may be made.

extension Callers {
    /// Does what a path asks for, or tells what a center must do.
    mutating func handleRequest(
        _ path: RoutedPath, content: Span<UInt8>, from id: ConnectionID, _ outbox: inout Outbox
    ) -> CallerStep? {
        if let template = exchange.postTemplate,
            let post = requestReader.post(template, body: content)
        {
            return step(post, path, &outbox)
        }
        do throws(Problem) {
            if case .tickets = path.route {
                try makeTicket(for: id, &outbox)
                return nil
            }
            if case .backup = path.route {
                try beginBackup(for: id, &outbox)
                return nil
            }
            if path.route.isService {
                return try handleService(path.route, content: content, from: id, &outbox)
            }
            try checkCenterName(path)
            var query = try Query(exchange.parser.head)
            let request = try centerRequest(path, &query, content: content, from: id, &outbox)
            try query.finish()
            if policies.hasRates {
                try charge(request, exchange.caller ?? outbox.anonymous, &outbox)
            }
            noteTemplate(of: request, path)
            return step(request, path, &outbox)
        } catch {
            connections.answer(
                error, fields: exchange.refusalFields, to: id, exchange.reply, &outbox)
            return nil
        }
    }

    /// Notes what the head of a post says, if nothing else is decided by it.
    private mutating func noteTemplate(of request: CenterRequest, _ path: RoutedPath) {
        guard case .channelPost = path.route, exchange.parser.head.uncommonFields.isEmpty,
            exchange.caller == nil, !exchange.reply.reportsObservers, !policies.needsOrigin,
            case .post(let post, nil) = request
        else { return }
        exchange.postTemplate = PostTemplate(of: post)
        exchange.canRepeat = exchange.postTemplate != nil
    }

    /// A request as it is handed out.
    private mutating func step(
        _ request: CenterRequest, _ path: RoutedPath, _ outbox: inout Outbox
    ) -> CallerStep {
        if case .post(let post, nil) = request { return step(post, path, &outbox) }
        exchange.request = request
        return .request
    }

    /// A post without wishes as it is handed out.
    private mutating func step(
        _ post: consuming PostRequest, _ path: RoutedPath, _ outbox: inout Outbox
    ) -> CallerStep {
        if isUsual(post, path, &outbox) {
            exchange.post = post
            return .usualPost
        }
        exchange.request = .post(post, nil)
        return .request
    }

    /// Whether anybody may make a post, and nothing about its answer is unusual.
    private mutating func isUsual(
        _ post: PostRequest, _ path: RoutedPath, _ outbox: inout Outbox
    ) -> Bool {
        let grants = outbox.anonymous.grants
        return exchange.reply.isUsual && exchange.caller == nil && grants.allowEverywhere(.post)
            && (post.options?.isImmediate != true || grants.allowEverywhere(.immediate))
            && shared.home(of: path.center) == outbox.number
    }

    /// What the exchange asks of a center, by whom, and where the answer goes.
    mutating func takeRequest(of id: ConnectionID, _ outbox: inout Outbox) -> Submission {
        guard let center = exchange.path?.center, let request = exchange.request.take() else {
            preconditionFailure("a request that is handed out is there")
        }
        switch request {
        case .post(let post, _): noteLocation(of: post)
        case .connect, .openStream: noteCaller(exchange.caller, of: id, &outbox)
        default: break
        }
        return Submission(
            center: center, request: request, caller: exchange.caller ?? outbox.anonymous,
            reply: Reply(
                loop: outbox.number, connection: id, form: .http(exchange.reply),
                encoding: exchange.reply.encoding),
            address: askerAddress(of: id, exchange.origin?.address, &outbox))
    }

    /// A post that was to be made without a submission is asked of its center after all.
    mutating func keep(_ post: PostRequest, _ path: RoutedPath) {
        exchange.path = path
        exchange.request = .post(post, nil)
    }

    /// Where a post comes from, if what it leaves in the queue is counted for that.
    @inline(__always)
    mutating func askerAddress(
        of post: borrowing PostRequest, from id: ConnectionID, _ outbox: inout Outbox
    ) -> NetworkAddress? {
        guard let options = post.options, options.isQueued else { return nil }
        return askerAddress(of: id, exchange.origin?.address, &outbox)
    }

    private mutating func checkCenterName(_ path: RoutedPath) throws(Problem) {
        guard path.hasCenterPrefix else { return }
        try requestReader.check(name: path.center, parameter: "center")
    }

    /// What the center is asked.
    private mutating func centerRequest(
        _ path: RoutedPath, _ query: inout Query, content: Span<UInt8>, from id: ConnectionID,
        _ outbox: inout Outbox
    ) throws(Problem) -> CenterRequest {
        switch path.route {
        case .channelPost(let name):
            let (post, wishes) = try channelPost(name, &query, content: content)
            return .post(post, wishes)
        case .notifications:
            return try notifications(&query, content: content)
        case .observers where exchange.parser.head.method == .post:
            try checkContentType(allowsForm: false)
            exchange.reply.details.pathPrefix = path.prefix
            return .addObserver(try requestReader.observer(in: content, allowsSession: true))
        case .webSocket:
            query.takeTicket()
            return try openWebSocket(id, &outbox)
        case .events:
            query.takeTicket()
            return try openEvents(&query)
        case .modes where exchange.parser.head.method == .post:
            try checkContentType(allowsForm: false)
            return .enterMode(try requestReader.mode(in: content))
        case .client(let id) where exchange.parser.head.method == .patch:
            try checkContentType(allowsForm: false)
            return .suspendClient(
                id: try clientNumber(id), session: headField("belfry-session"),
                try requestReader.suspension(in: content))
        case .center:
            return .endCenter
        case .queue where exchange.parser.head.method == .delete:
            return .dequeue(try requestReader.dequeue(query: query.takeRest()))
        case .observers, .observer, .mailbox, .clients, .client, .centers, .channels,
            .notification, .queue, .queueEntry, .modes, .mode, .explain, .leaks, .unmatched:
            return try lookingRequest(path, &query)
        case .live, .ready, .metrics, .asset, .debugEcho, .debugWebSocket, .tickets, .backup:
            preconditionFailure("these routes ask no center")
        }
    }

    // MARK: Posting

    private mutating func channelPost(
        _ name: [UInt8], _ query: inout Query, content: Span<UInt8>
    ) throws(Problem) -> (PostRequest, PostWishes?) {
        try checkContentType(allowsForm: true)
        let wishes = try readPostWishes(&query, content: content)
        let object = query.take("object")
        let causedBy = query.take("causedBy")
        let post = try requestReader.channelPost(
            name: name, object: object, causedBy: causedBy, options: query.takeRest(),
            body: content)
        return (post, wishes)
    }

    /// A post that may wait in the queue is answered with the place of its fate.
    private mutating func noteLocation(of post: PostRequest) {
        guard let options = post.options, options.isQueued, let path = exchange.path else { return }
        exchange.reply.details.pathPrefix = path.prefix
    }

    private mutating func notifications(
        _ query: inout Query, content: Span<UInt8>
    ) throws(Problem) -> CenterRequest {
        let wishes = try readPostWishes(&query, content: content)
        if MediaType.matches(exchange.parser.head.contentType, "application/x-ndjson") {
            return .postBatch(try requestReader.notificationLines(in: content), wishes)
        }
        try checkContentType(allowsForm: false)
        let (posts, isBatch) = try requestReader.notifications(in: content)
        if isBatch { return .postBatch(posts, wishes) }
        guard let post = posts.first else {
            preconditionFailure("one notification was read")
        }
        return .post(post, wishes)
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
        exchange.reply.acceptsGzip = exchange.parser.head.acceptsGzip
        switch path.route {
        case .observers:
            return .observers(
                try requestReader.listing(.observers, query: query.takeRest()).query)
        case .observer(let token):
            let secret = try self.secret(of: token)
            return exchange.parser.head.method == .delete
                ? .removeObserver(secret) : .readObserver(secret)
        case .mailbox(let token):
            let secret = try self.secret(of: token)
            let wait = Preferences(of: exchange.parser.head).waitSeconds ?? 0
            return .readMailbox(
                secret, try requestReader.mailbox(query: query.takeRest()),
                wait: Self.nanoseconds(seconds: wait))
        case .clients:
            return .clients(try requestReader.listing(.clients, query: query.takeRest()).query)
        case .client(let id):
            return .removeClient(id: try clientNumber(id), session: headField("belfry-session"))
        case .queue:
            return .queue(try requestReader.listing(.queue, query: query.takeRest()).query)
        case .queueEntry(let id):
            guard let id = NotificationID(text: id.span) else { throw Problem.unknownPath }
            return exchange.parser.head.method == .delete ? .dequeue(.entry(id)) : .queueEntry(id)
        case .modes:
            return .modes
        case .mode(let token):
            guard let mode = IdentifierText(mode: token.span) else { throw Problem.unknownPath }
            return .leaveMode(Secret(number: mode.number, secret: mode.secret))
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
            return .explain(try requestReader.explain(query: query.takeRest()))
        case .leaks:
            let listing = try requestReader.listing(.leaks, query: query.takeRest()).query
            return .leaks(cursor: listing.cursor, limit: listing.limit)
        case .unmatched:
            let listing = try requestReader.listing(.reports, query: query.takeRest()).query
            return .unmatched(limit: listing.limit)
        case .channelPost, .notifications, .center, .webSocket, .events, .live, .ready, .metrics,
            .asset, .debugEcho, .debugWebSocket, .tickets, .backup:
            preconditionFailure("these routes do not look inside")
        }
    }

    private func clientNumber(_ id: [UInt8]) throws(Problem) -> UInt64 {
        guard let client = IdentifierText(client: id.span), client.secret == nil else {
            throw Problem.unknownPath
        }
        return client.number
    }

    /// The value of a field of the request, copied.
    func headField(_ name: String) -> [UInt8]? {
        guard let value = exchange.parser.head.field(name) else { return nil }
        return [UInt8](copying: value)
    }

    /// The observer that a path names; the secret half may stand in a field instead.
    func secret(of token: [UInt8]) throws(Problem) -> Secret {
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

extension Problem {
    /// What a path that names nothing is answered with.
    static let unknownPath = Problem(
        .notFound, "There is nothing at this path; /openapi.yaml lists all paths.")
}
