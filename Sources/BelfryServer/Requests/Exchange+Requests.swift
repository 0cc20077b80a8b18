import BelfryCenter
import BelfryHTTP
import BelfryWire

// Requests of a center: path, query, fields and content become a `CenterRequest`.

extension Exchange {
    /// Reads the request of a center.
    mutating func centerRequest(
        _ route: CenterRoute, _ path: RoutedPath, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        if path.hasCenterPrefix { try reader.check(name: path.center, parameter: "center") }
        var query = try Query(parser.head)
        let request = try read(route, path, &query, content: content, reader)
        try query.finish()
        return request
    }

    /// Reads the listing of centers.
    mutating func centerListing(_ reader: RequestReader) throws(Problem) -> CenterRequest {
        var query = try Query(parser.head)
        let listing = try reader.listing(.centers, query: query.takeRest()).query
        return .centers(rows: [], cursor: listing.cursor, limit: listing.limit)
    }

    /// Reads the request of each route.
    @inline(__always)
    private mutating func read(
        _ route: CenterRoute, _ path: RoutedPath, _ query: inout Query, content: Span<UInt8>,
        _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        func listing(_ kind: Listing) throws(Problem) -> ObserverQuery {
            try reader.listing(kind, query: query.takeRest()).query
        }
        switch route {
        case .post: return try channelPost(path.argument, &query, content: content, reader)
        case .postSeveral: return try notifications(&query, content: content, reader)
        case .past, .forget: return try past(&query, isRemoval: route == .forget, reader)
        case .archives: return .listing(.archives(try listing(.archives)))
        case .archive, .putArchive, .removeArchive:
            return try archive(route, path, &query, content: content, reader)
        case .fate: return .fate(try path.notificationID(), wait: readingWait())
        case .withdraw: return .withdraw(try path.notificationID())
        case .answer: return try answer(path.notificationID(), &query, content: content, reader)
        case .ask: return try ask(path, &query, content: content, reader)
        case .responders: return .listing(.responders(try listing(.responders)))
        case .holders:
            try reader.check(name: path.argument, parameter: "object")
            return .listing(.holders(object: path.argument))
        case .asks: return .listing(.asks(try listing(.asks)))
        case .values: return .listing(.values(try listing(.values)))
        case .wholeValue, .value: return try readValue(path, reader)
        case .setWholeValue, .setValue: return try setValue(path, &query, content: content, reader)
        case .mergeWholeValue, .mergeValue:
            return try mergeValue(path, &query, content: content, reader)
        case .removeWholeValue, .removeValue: return try removeValue(path, reader)
        case .addObserver:
            try checkContentType()
            reply.details.pathPrefix = path.prefix
            return .addObserver(try reader.observer(in: content, allowsSession: true))
        case .observers: return .listing(.observers(try listing(.observers)))
        case .observer: return .look(.observer(try secret(of: path.argument)))
        case .removeObserver: return .removeObserver(try secret(of: path.argument))
        case .mailbox: return try readMailbox(path, &query, reader)
        case .webSocket:
            query.takeTicket()
            return .connect(.webSocket, observers: [], since: nil)
        case .events:
            query.takeTicket()
            return try openEvents(&query, reader)
        case .channels: return .listing(.channels(try listing(.channels)))
        case .clients: return .listing(.clients(try listing(.clients)))
        case .suspendClient: return try suspendClient(path, content: content, reader)
        case .removeClient: return .removeClient(id: try path.clientNumber(), session: session())
        case .queue: return .listing(.queue(try listing(.queue)))
        case .dequeue: return .dequeue(try reader.dequeue(query: query.takeRest()))
        case .queueEntry: return .listing(.queueEntry(try path.notificationID()))
        case .dequeueEntry: return .dequeue(.entry(try path.notificationID()))
        case .enterMode:
            try checkContentType()
            return .enterMode(try reader.mode(in: content))
        case .modes: return .listing(.modes)
        case .leaveMode: return .leaveMode(try path.modeLease())
        case .explain: return .listing(.explain(try reader.explain(query: query.takeRest())))
        case .explainContent:
            try checkContentType()
            return .listing(.explain(try reader.explanation(in: content)))
        case .leaks:
            let listing = try listing(.leaks)
            return .listing(.leaks(cursor: listing.cursor, limit: listing.limit))
        case .unmatched: return .listing(.unmatched(limit: try listing(.reports).limit))
        case .overview: return .listing(.overview)
        case .me: return .look(.caller)
        case .endCenter: return .endCenter
        }
    }

    /// Reads a look into a mailbox.
    private mutating func readMailbox(
        _ path: RoutedPath, _ query: inout Query, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        let secret = try secret(of: path.argument)
        return .readMailbox(
            secret, try reader.mailbox(query: query.takeRest()), wait: readingWait())
    }

    /// Reads a request for one archive.
    private mutating func archive(
        _ route: CenterRoute, _ path: RoutedPath, _ query: inout Query, content: Span<UInt8>,
        _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        let name = try archiveName(path, &query, reader)
        if route == .archive { return .listing(.archive(name)) }
        if route == .removeArchive { return .archives(.remove(name)) }
        if !content.isEmpty { try checkContentType() }
        return .archives(.put(name, try ArchiveRequest(in: content, reader)))
    }

    /// Reads a request for a page of the past, or for the removal of some of it.
    private func past(
        _ query: inout Query, isRemoval: Bool, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        let request = try PastRequest(
            query: query.takeRest(), isRemoval: isRemoval, limits: reader.limits)
        return .archives(
            isRemoval
                ? .forget(request.query, above: 0, count: 0) : .past(request, progress: nil))
    }

    /// The channel in the path, or with `prefix=true` the prefix of channels.
    private mutating func archiveName(
        _ path: RoutedPath, _ query: inout Query, _ reader: RequestReader
    ) throws(Problem) -> ArchiveName {
        try reader.check(name: path.argument, parameter: "name")
        return ArchiveName(path.argument, isPrefix: try query.takeFlag("prefix"))
    }

    /// Reads the suspension of a client, or its end.
    private mutating func suspendClient(
        _ path: RoutedPath, content: Span<UInt8>, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        try checkContentType()
        return .suspendClient(
            id: try path.clientNumber(), session: session(), try reader.suspension(in: content))
    }

    /// The observer that a token names; the secret half may come in a field instead.
    mutating func secret(of token: [UInt8]) throws(Problem) -> Secret {
        guard let observer = IdentifierText(observer: token.span) else { throw Problem.unknownPath }
        guard observer.secret == nil, let text = parser.head.copy(of: "belfry-token") else {
            return Secret(number: observer.number, secret: observer.secret)
        }
        // The field has the whole token or its secret half.
        if let whole = IdentifierText(observer: text.span), whole.secret != nil {
            guard whole.number == observer.number else { throw Problem.unknownPath }
            return Secret(number: whole.number, secret: whole.secret)
        }
        return Secret(number: observer.number, secret: text)
    }

    /// The session that proves the ownership of a client.
    private mutating func session() -> [UInt8]? { parser.head.copy(of: "belfry-session") }
}

extension RoutedPath {
    fileprivate func notificationID() throws(Problem) -> NotificationID {
        guard let id = NotificationID(text: argument.span) else { throw Problem.unknownPath }
        return id
    }

    fileprivate func clientNumber() throws(Problem) -> UInt64 {
        guard let client = IdentifierText(client: argument.span), client.secret == nil else {
            throw Problem.unknownPath
        }
        return client.number
    }

    fileprivate func modeLease() throws(Problem) -> Secret {
        guard let mode = IdentifierText(mode: argument.span) else { throw Problem.unknownPath }
        return Secret(number: mode.number, secret: mode.secret)
    }
}

extension Problem {
    /// The problem of an unknown path.
    static let unknownPath = Problem(
        .notFound, "Unknown path; /openapi.yaml lists all paths.")
}
