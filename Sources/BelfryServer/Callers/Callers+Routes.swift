import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// What each route does with a request that may be made.

extension Callers {
    /// Does what a path and its method ask for, or tells what a center must do.
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

    /// Notes that what the head of a post, an ask or a write has decided holds for another one with the same head, and what it
    /// says of a post, if nothing else is decided by it.
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

    /// A request as it is handed out.
    private mutating func step(_ request: CenterRequest, _ outbox: inout Outbox) -> CallerStep {
        if case .post(let post, nil) = request, post.causedBy == nil,
            isUsual(post.options, &outbox)
        {
            return .post(post.content, post.options)
        }
        exchange.request = request
        return .request
    }

    /// Whether anybody may make a post of these options, and nothing about its answer is unusual.
    @inline(__always)
    mutating func isUsual(_ options: PostOptions?, _ outbox: inout Outbox) -> Bool {
        exchange.reply.isUsual && exchange.caller == nil
            && outbox.anonymous[isLocal: exchange.isLocal].grants.allowEverywhere(.post)
            && options?.timer == nil
            && (options?.isImmediate != true
                || outbox.anonymous[isLocal: exchange.isLocal].grants.allowEverywhere(.immediate))
    }

    /// What the exchange asks of a center, by whom, and where the answer goes.
    mutating func takeRequest(of id: ConnectionID, _ outbox: inout Outbox) -> Submission {
        guard let request = exchange.request.take() else {
            preconditionFailure("a request that is handed out is there")
        }
        // Where the template was enough no path was looked for: it is that of the default center.
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

    /// A post that was to be made at once is asked of its center after all.
    mutating func keep(_ post: PostRequest) {
        exchange.request = .post(post, nil)
    }

    /// Where a post comes from, if what it leaves in the queue is counted for that.
    @inline(__always)
    mutating func askerAddress(
        of options: PostOptions?, from id: ConnectionID, _ outbox: inout Outbox
    ) -> NetworkAddress? {
        guard let options, options.isQueued else { return nil }
        return gate.askerAddress(of: id, exchange.origin?.address, &outbox)
    }

    /// A post that may wait in the queue is answered with the place of its fate.
    private mutating func noteLocation(of post: PostRequest) {
        guard let options = post.options, options.isQueued, let path = exchange.path else { return }
        exchange.reply.details.pathPrefix = path.prefix
    }
}
