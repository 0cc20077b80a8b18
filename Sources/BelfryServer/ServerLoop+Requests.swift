import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfryWire

// HTTP requests: from bytes to a decision what is asked, and who may ask it.

extension ServerLoop {
    /// Reads all requests that have arrived; pipelined ones are answered in one write.
    mutating func receiveRequests(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        // Whether the first bytes of a request are among these.
        var beginsRequest = true
        if connections.hasUnfinished(id) { beginsRequest = !takeUpExchange(of: id) }
        var cursor = 0
        let outputStart = loop.outputByteCount
        do throws(HTTPError) {
            while let event = try exchange.parser.nextEvent(in: bytes, at: &cursor) {
                switch event {
                case .head:
                    exchange.isInContent = true
                    beginRequest(id, restByteCount: bytes.count - cursor)
                case .body(let range):
                    exchange.addContent(range, of: bytes)
                case .end:
                    exchange.isInContent = false
                    beginsRequest = true
                    finishRequest(id, bytes)
                    exchange.contentRange = nil
                    if isEnough(from: outputStart, inputByteCount: bytes.count) { throttle(id) }
                    guard connections.takesRequests(id) || maySpeakOn(id, bytes, cursor) else {
                        return
                    }
                    if cursor == bytes.count { return awaitRequest(id) }
                }
            }
        } catch {
            counters.requests += 1
            refuseRequest(id, Problem(error))
            return
        }
        keepUnfinished(id, bytes, beginsRequest: beginsRequest)
    }

    /// Goes on with a request that did not arrive as a whole; false when there is none.
    private mutating func takeUpExchange(of id: ConnectionID) -> Bool {
        guard let unfinished = connections[id].unfinished,
            let begun = unfinished.exchange
        else { return false }
        exchange = begun
        // The configuration may have changed since.
        exchange.canRepeat = false
        unfinished.exchange = nil
        unfinished.recount()
        return true
    }

    /// All that has arrived was requests, and each is answered or under way.
    private mutating func awaitRequest(_ id: ConnectionID) {
        connections.dropUnfinished(id)
        setDeadline(id, .idle)
    }

    /// Whether the next request can be read; if not, the rest of the bytes finds its way.
    private mutating func maySpeakOn(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ cursor: Int
    ) -> Bool {
        guard let kind = connections.kind(of: id) else {
            renewExchange()
            return false
        }
        let rest = bytes.extracting(cursor..<bytes.count)
        if connections[id].isAwaiting || connections[id].isThrottled, kind == .http {
            renewExchange()
            if !rest.isEmpty { keepWaiting(id, rest) }
            return false
        }
        if kind != .http {
            renewExchange()
            connections.dropUnfinished(id)
            if !rest.isEmpty { receive(id, rest) }
            return false
        }
        return true
    }

    /// A fresh exchange for the next connection, where the last one was left in the middle.
    private mutating func renewExchange() {
        if !exchange.parser.isBetweenRequests {
            exchange = Exchange(limits: Self.httpLimits(configuration))
        }
    }

    /// Lets the connection keep a request that has not fully arrived.
    private mutating func keepUnfinished(
        _ id: ConnectionID, _ bytes: Span<UInt8>, beginsRequest: Bool
    ) {
        guard connections.has(id) else { return renewExchange() }
        if exchange.parser.isBetweenRequests { return awaitRequest(id) }
        // The head's time runs from its first byte, or from the empty lines before it: more bytes do
        // not lengthen it. The time of the content was set with the end of the head.
        let hasHeadTime = connections[id].deadline == .head && !exchange.parser.hasBegunRequest
        if beginsRequest, !exchange.isInContent, !hasHeadTime {
            setDeadline(id, .head)
        }
        exchange.keepContent(of: bytes)
        exchange.forgetLast()
        unfinished(of: id).exchange = exchange
        exchange = Exchange(limits: Self.httpLimits(configuration))
        countUnfinished(of: id)
    }

    /// The head is there: what is asked, may it be asked, and must content be asked for.
    private mutating func beginRequest(_ id: ConnectionID, restByteCount: Int) {
        counters.requests += 1
        let isDecided = exchange.begin(mayRepeat: !takesNothing)
        exchange.isSecure = isSecure(id)
        if takesNothing { exchange.reply.context.keepsAlive = false }
        if isDecided {
            exchange.parser.bodyByteLimit = configuration.bodyByteLimit
        } else {
            if needsOrigin { findOrigin(id) }
            decideRequest()
            if exchange.caller != nil { seatCaller(on: id) }
        }
        if log.level <= .debug { noteAsked(on: id) }
        guard exchange.parser.head.hasContent else { return }
        // Content that is there already has no time to take.
        let missing = (exchange.parser.head.contentLength ?? .max) > restByteCount
        if missing { setDeadline(id, .body) }
        guard exchange.parser.head.expectation == .continue else { return }
        if exchange.refusal == nil {
            let start = loop.output.count
            ResponseWriter.appendContinue(to: &loop.output)
            loop.send(start..<loop.output.count, to: id, as: .answer)
        } else {
            // The client may or may not send the content that nobody wants.
            exchange.reply.context.keepsAlive = false
        }
    }

    /// Finds the route, and decides what can be decided by the head alone.
    private mutating func decideRequest() {
        do throws(Problem) {
            try checkHead()
        } catch {
            exchange.refusal = error
        }
    }

    /// Counts the connection for the principal that asks; one that has no seat left is refused.
    mutating func seatCaller(on id: ConnectionID) {
        guard exchange.refusal == nil, let caller = exchange.caller else { return }
        do throws(Problem) {
            try takeSeat(of: caller, on: id)
        } catch {
            exchange.refusal = error
        }
    }

    private mutating func checkHead() throws(Problem) {
        if exchange.parser.head.expectation == .unknown {
            throw Problem(.expectationFailed, "The broker knows no expectation but 100-continue.")
        }
        if exchange.parser.head.targetForm == .authority {
            throw Problem(.notImplemented, "The broker is not a proxy.")
        }
        try checkHost()
        noteOrigin()
        if hasRates { try chargeAddress() }
        if !takesNothing, let name = exchange.findPlainPostName() {
            exchange.plainPostName = name
            exchange.canRepeat = !needsOrigin
            exchange.parser.bodyByteLimit = configuration.bodyByteLimit
            return
        }
        let path = try routedPath()
        exchange.path = path
        switch path.route.secretPlace {
        case .none: break
        case .possible where headField("belfry-token") == nil: break
        case .possible, .present: exchange.reply.details.hasSecretTarget = true
        }
        if takesNothing { try refuse(path.route) }
        try checkOrigin(path)
        let method = exchange.parser.head.method
        let allowed = path.route.allowedMethods
        if method != .options, !allowed.allow(method) {
            exchange.refusalFields = [HTTPField("Allow", allowed.text)]
            throw Problem(.methodNotAllowed, "The path answers to \(allowed.text).")
        }
        try checkCredentials(path)
        if path.route == .debugEcho { return }
        exchange.parser.bodyByteLimit = configuration.bodyByteLimit
    }

    /// Refuses what cannot be asked of a broker that stops, or has not restored its state.
    private func refuse(_ route: Route) throws(Problem) {
        if let progress = shared.progress {
            if !route.isHealth { throw .isRestoring(progress) }
        } else if !route.isService {
            throw .isStopping
        }
    }

    /// A foreign name that resolves to this machine opens nothing (DNS rebinding).
    private mutating func checkHost() throws(Problem) {
        // Most requests name the host that the one before named.
        let isKnown = bytesAreEqual(exchange.parser.head.hostName, allowedHost.span)
        if isKnown, exchange.origin?.host == nil { return }
        let name = hostName()
        if name.isEmpty { return }
        if hostPolicy.allows(host: name) {
            allowedHost = name
        } else {
            throw Problem(
                .unknownHost,
                "The broker does not answer to this host name; --allow-host names those that it does."
            )
        }
    }

    private mutating func routedPath() throws(Problem) -> RoutedPath {
        switch exchange.parser.head.targetForm {
        case .asterisk:
            return RoutedPath.server
        case .authority, .origin, .absolute:
            break
        }
        do throws(HTTPError) {
            try exchange.readPath()
        } catch {
            throw Problem(error)
        }
        guard
            let path = RoutedPath(
                exchange.segments, hasDebugEndpoints: configuration.hasDebugEndpoints)
        else { throw Problem.unknownPath }
        return path
    }

    /// The host name that is asked for: a listed proxy may tell another than `Host`.
    private func hostName() -> [UInt8] {
        guard let host = exchange.origin?.host else {
            return [UInt8](copying: exchange.parser.head.hostName)
        }
        // The colon of a port stands behind the bracket of an IPv6 address.
        guard let colon = host.lastIndex(of: UInt8(ascii: ":")),
            !host[colon...].contains(UInt8(ascii: "]"))
        else { return host }
        return Array(host[..<colon])
    }

    /// Notes whether the page that asks may read the answer, whatever that will be.
    private mutating func noteOrigin() {
        switch exchange.parser.head.method {
        case .get, .head, .options:
            // A cache must not give one page the answer that was for another (RFC 9110 §12.5.5).
            exchange.reply.variesByOrigin = true
        case .post, .put, .delete, .patch, .trace, .connect, .other: break
        }
        guard exchange.parser.head.uncommonFields.contains(.origin),
            let origin = headField("origin")
        else { return }
        exchange.reply.variesByOrigin = true
        if originPolicy.isListed(origin: origin) { exchange.reply.details.allowedOrigin = origin }
    }

    /// Pages of foreign origins make, change and read nothing (decision 59).
    ///
    /// It changes nothing, but a call that only borrows the loop would copy it.
    private mutating func checkOrigin(_ path: RoutedPath) throws(Problem) {
        let fields = exchange.parser.head.uncommonFields
        guard !fields.isDisjoint(with: [.origin, .fetchSite]) else { return }
        switch exchange.parser.head.method {
        // What a page may not do is said by the answer to its preflight.
        case .options: return
        case .get, .head:
            if path.route.isOpenToPages { return }
        case .post, .put, .delete, .patch, .trace, .connect, .other: break
        }
        guard isOfKnownPage() else {
            throw Problem(
                .foreignOrigin,
                "Pages of this origin may not do this; --allow-origin names those that may.")
        }
    }

    /// Whether the page that asks may use the broker.
    ///
    /// Images, scripts and navigations have no `Origin`: then a browser tells only whether they are of
    /// another origin (Fetch Metadata), and not of which.
    private func isOfKnownPage() -> Bool {
        guard let origin = headField("origin") else {
            return originPolicy.allows(fetchSite: headField("sec-fetch-site") ?? [])
        }
        let host = exchange.origin?.host ?? [UInt8](copying: exchange.parser.head.authority)
        let isSecure = exchange.origin?.isSecure ?? exchange.isSecure
        return originPolicy.allows(origin: origin, host: host, isSecure: isSecure)
    }

    /// The content is there: what was asked is done, or refused.
    mutating func finishRequest(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        if takesNothing { exchange.reply.context.keepsAlive = false }
        if let refusal = exchange.refusal {
            answer(refusal, fields: exchange.refusalFields, to: id, exchange.reply)
            return
        }
        if exchange.unverified != nil {
            awaitVerdict(id, bytes)
            return
        }
        if let range = exchange.contentRange {
            handleRequest(content: bytes.extracting(range), from: id)
            return
        }
        var content: [UInt8] = []
        swap(&content, &exchange.content)
        handleRequest(content: content.span, from: id)
        swap(&content, &exchange.content)
    }

    private mutating func handleRequest(content: Span<UInt8>, from id: ConnectionID) {
        if let name = exchange.plainPostName {
            if !hasRates, log.level > .trace, postPlainly(name, content: content, from: id) {
                return
            }
            // Something about it is unusual, or wrong: the long way finds out what.
            let channel = [UInt8](
                copying: exchange.parser.head.path.extracting(name))
            exchange.path = RoutedPath(channel: channel)
        }
        guard let path = exchange.path else {
            preconditionFailure("a request that is not refused has a path")
        }
        if exchange.parser.head.method == .options {
            answerOptions(path, to: id)
        } else {
            handleRequest(path, content: content, from: id)
        }
    }

    /// Ends a request that cannot be read on, and its connection with it.
    mutating func refuseRequest(_ id: ConnectionID, _ problem: Problem) {
        var reply = HTTPReply(context: .closing)
        if log.level <= .debug { reply.details.asked = Asked(connection: connectionText(id)) }
        answer(problem, to: id, reply)
        connections[id].unfinished = nil
        exchange = Exchange(limits: Self.httpLimits(configuration))
    }
}
