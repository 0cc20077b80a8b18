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
        _ context: inout LoopContext
    ) -> CallerStep? {
        if entry.use == .looks { exchange.reply.acceptsGzip = exchange.parser.head.acceptsGzip }
        do throws(Problem) {
            switch entry.route {
            case .service(let route):
                return try handle(route, content: content, from: id, &context)
            case .file(let asset):
                let isSecure = exchange.origin?.isSecure ?? exchange.isSecure
                send(try FileAnswer(asset, isSecure: isSecure), to: id, &context)
                return nil
            case .center(let route):
                if route == .webSocket { try openWebSocket(id, &context) }
                let request = try exchange.centerRequest(
                    route, path, content: content, requestReader)
                if gate.policies.hasRates { try charge(request, &context) }
                noteRepeat(of: request, route, &context)
                return step(request, &context)
            }
        } catch {
            connections.answer(
                error, fields: exchange.refusalFields, to: id, exchange.reply, &context)
            return nil
        }
    }

    /// Counts a request, or the items of a batch, for its caller.
    private mutating func charge(
        _ request: CenterRequest, _ context: inout LoopContext
    ) throws(Problem) {
        var count = 1
        if case .postBatch(let posts, _) = request { count = max(1, posts.count) }
        try gate.charge(count, &exchange, &context)
    }

    /// Records the decisions on a head for the next request with the same head.
    ///
    /// That is a post, an ask or a write; of a post it keeps the template, if the head decides all
    /// else.
    private mutating func noteRepeat(
        of request: CenterRequest, _ route: CenterRoute, _ context: inout LoopContext
    ) {
        guard exchange.parser.head.uncommonFields.isEmpty, exchange.caller == nil,
            !exchange.reply.reportsObservers, !gate.policies.needsOrigin,
            exchange.isLocal == context.anonymous.differ
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
    private mutating func step(_ request: CenterRequest, _ context: inout LoopContext) -> CallerStep
    {
        if case .post(let post, nil) = request, post.causedBy == nil,
            isUsual(post.options, &context)
        {
            return .post(post.content, post.options)
        }
        exchange.request = request
        return .request
    }

    /// Whether every caller may make a post with these options, and its answer has the usual form.
    @inline(__always)
    mutating func isUsual(_ options: PostOptions?, _ context: inout LoopContext) -> Bool {
        exchange.reply.isUsual && exchange.caller == nil
            && context.anonymous[isLocal: exchange.isLocal].grants.allowEverywhere(.post)
            && options?.timer == nil
            && (options?.isImmediate != true
                || context.anonymous[isLocal: exchange.isLocal].grants.allowEverywhere(.immediate))
    }

    /// Takes the exchange's request of a center, with its caller and the destination of the answer.
    mutating func takeRequest(of id: ConnectionID, _ context: inout LoopContext) -> Submission {
        guard let request = exchange.request.take() else {
            preconditionFailure("a request that is handed out is there")
        }
        // A request with the template alone has no path: it is for the default center.
        let center = exchange.path?.center ?? RoutedPath.defaultCenter
        switch request {
        case .post(let post, _): exchange.keepLocation(of: post)
        case .connect, .openStream:
            noteCaller(exchange.caller, of: id, &context)
            connections[id].isLocal = exchange.isLocal
        default: break
        }
        return Submission(
            center: center, request: request, caller: exchange.caller(context.anonymous),
            reply: Reply(
                loop: context.number, connection: id, form: .http(exchange.reply),
                encoding: exchange.reply.encoding),
            address: gate.askerAddress(of: id, exchange.origin?.address, &context))
    }

    /// Keeps a post that was to be made directly as a request of its center.
    mutating func keep(_ post: PostRequest) {
        exchange.request = .post(post, nil)
    }

    /// The origin of the post in the exchange.
    @inline(__always)
    mutating func origin(
        ofPostFrom id: ConnectionID, _ options: PostOptions?, _ context: inout LoopContext
    ) -> PostOrigin {
        // Only a post that may wait in the queue is answered with a location, and has a place that
        // counts for addresses.
        let isQueued = options?.isQueued ?? false
        return PostOrigin(
            center: exchange.path?.center, context: exchange.reply.context,
            prefix: isQueued ? exchange.path?.prefix ?? [] : [],
            address: isQueued ? gate.askerAddress(of: id, exchange.origin?.address, &context) : nil)
    }
}
