import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// The action of each route for a permitted request.

extension Callers {
    /// Performs the route of a path and its method, or hands out the request for a center.
    mutating func handle(
        _ entry: RoutePath.Entry, _ path: RoutedPath, content: Span<UInt8>, from id: ConnectionID,
        _ outbox: inout Outbox
    ) -> CallerStep? {
        if entry.use == .looks { exchange.reply.acceptsGzip = exchange.parser.head.acceptsGzip }
        do throws(Problem) {
            switch entry.route {
            case .service(let route):
                return try handle(route, content: content, from: id, &outbox)
            case .file(let asset):
                try sendAsset(asset, to: id, &outbox)
                return nil
            case .center(let route):
                if route == .webSocket { try openWebSocket(id, &outbox) }
                let request = try exchange.centerRequest(
                    route, path, content: content, requestReader)
                if gate.policies.hasRates { try charge(request, &outbox) }
                noteRepeat(of: request, route, &outbox)
                return step(request, &outbox)
            }
        } catch {
            connections.answer(
                error, fields: exchange.refusalFields, to: id, exchange.reply, &outbox)
            return nil
        }
    }

    /// Counts a request, or the items of a batch, for its caller.
    private mutating func charge(
        _ request: CenterRequest, _ outbox: inout Outbox
    ) throws(Problem) {
        var count = 1
        if case .postBatch(let posts, _) = request { count = max(1, posts.count) }
        try gate.charge(count, &exchange, &outbox)
    }

    /// Records the decisions on a head for the next request with the same head.
    ///
    /// That is a post, an ask or a write; of a post it keeps the template, if the head decides all
    /// else.
    private mutating func noteRepeat(
        of request: CenterRequest, _ route: CenterRoute, _ outbox: inout Outbox
    ) {
        guard exchange.parser.head.uncommonFields.isEmpty, exchange.caller == nil,
            !exchange.reply.reportsObservers, !gate.policies.needsOrigin,
            exchange.isLocal == outbox.anonymous.differ
        else { return }
        switch request {
        case .post(let post, nil):
            guard route == .post else { return }
            exchange.template = PostTemplate(of: post)
            exchange.canRepeat = exchange.template != nil
        case .ask, .write: exchange.canRepeat = true
        default: return
        }
    }

    /// The step that hands a request out.
    private mutating func step(_ request: CenterRequest, _ outbox: inout Outbox) -> CallerStep {
        if case .post(let post, nil) = request, post.causedBy == nil,
            isUsual(post.options, &outbox)
        {
            return .post(post.content, post.options)
        }
        exchange.request = request
        return .request
    }

    /// Whether every caller may make a post with these options, and its answer has the usual form.
    @inline(__always)
    mutating func isUsual(_ options: PostOptions?, _ outbox: inout Outbox) -> Bool {
        exchange.reply.isUsual && exchange.caller == nil
            && outbox.anonymous[isLocal: exchange.isLocal].grants.allowEverywhere(.post)
            && options?.timer == nil
            && (options?.isImmediate != true
                || outbox.anonymous[isLocal: exchange.isLocal].grants.allowEverywhere(.immediate))
    }

    /// Takes the exchange's request of a center, with its caller and the destination of the answer.
    mutating func takeRequest(of id: ConnectionID, _ outbox: inout Outbox) -> Submission {
        guard let request = exchange.request.take() else {
            preconditionFailure("a request that is handed out is there")
        }
        // A request with the template alone has no path: it is for the default center.
        let center = exchange.path?.center ?? RoutedPath.defaultCenter
        switch request {
        case .post(let post, _): noteLocation(of: post)
        case .connect, .openStream:
            noteCaller(exchange.caller, of: id, &outbox)
            connections[id].isLocal = exchange.isLocal
        default: break
        }
        return Submission(
            center: center, request: request, caller: exchange.caller(outbox.anonymous),
            reply: Reply(
                loop: outbox.number, connection: id, form: .http(exchange.reply),
                encoding: exchange.reply.encoding),
            address: gate.askerAddress(of: id, exchange.origin?.address, &outbox))
    }

    /// Keeps a post that was to be made directly as a request of its center.
    mutating func keep(_ post: PostRequest) {
        exchange.request = .post(post, nil)
    }

    /// The address of a poster, if its place in the queue counts for addresses.
    @inline(__always)
    mutating func askerAddress(
        of options: PostOptions?, from id: ConnectionID, _ outbox: inout Outbox
    ) -> NetworkAddress? {
        guard let options, options.isQueued else { return nil }
        return gate.askerAddress(of: id, exchange.origin?.address, &outbox)
    }

    /// Notes the path for the location of a post that may wait in the queue.
    private mutating func noteLocation(of post: PostRequest) {
        guard let options = post.options, options.isQueued, let path = exchange.path else { return }
        exchange.reply.details.pathPrefix = path.prefix
    }
}
