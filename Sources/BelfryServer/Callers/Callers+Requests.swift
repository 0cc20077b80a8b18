import BelfryBytes
import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfryWire

// HTTP requests: from bytes to a decision what is asked, and who may ask it.

extension Callers {
    /// Reads on to the next request that is whole and that callers do not answer alone; pipelined ones are
    /// answered in one write.
    mutating func nextRequest(
        _ pass: inout ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        let id = pass.id
        do throws(HTTPError) {
            while true {
                if pass.hasAsked {
                    pass.hasAsked = false
                    exchange.contentRange = nil
                    guard readsOn(pass, bytes, &outbox) else { return nil }
                }
                guard let event = try exchange.parser.nextEvent(in: bytes, at: &pass.cursor)
                else { break }
                switch event {
                case .head:
                    exchange.isInContent = true
                    beginRequest(id, restByteCount: bytes.count - pass.cursor, &outbox)
                case .body(let range):
                    exchange.addContent(range, of: bytes)
                case .end:
                    exchange.isInContent = false
                    pass.beginsRequest = true
                    pass.hasAsked = true
                    if let step = finishRequest(id, bytes, &outbox) { return step }
                }
            }
        } catch {
            outbox.counters.requests += 1
            refuseRequest(id, Problem(error), &outbox)
            return nil
        }
        keepUnfinished(id, bytes, beginsRequest: pass.beginsRequest, &outbox)
        return nil
    }

    /// Whether the bytes behind a request are read in this pass.
    @inline(__always)
    private mutating func readsOn(
        _ pass: ReadingPass, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> Bool {
        let id = pass.id
        if pass.hasEnough(of: bytes.count, &outbox) {
            connections.throttle(id, &outbox)
        }
        guard connections.takesRequests(id) || maySpeakOn(id, bytes, pass.cursor, &outbox) else {
            return false
        }
        if pass.cursor < bytes.count { return true }
        awaitRequest(id, &outbox)
        return false
    }

    /// Goes on with a request that did not arrive as a whole; false when there is none.
    mutating func takeUpExchange(of id: ConnectionID) -> Bool {
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
    private mutating func awaitRequest(_ id: ConnectionID, _ outbox: inout Outbox) {
        connections.dropUnfinished(id)
        connections.setDeadline(id, .idle, &outbox)
    }

    /// Whether the next request can be read; if not, the rest of the bytes finds its way.
    private mutating func maySpeakOn(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ cursor: Int, _ outbox: inout Outbox
    ) -> Bool {
        guard let kind = connections.kind(of: id) else {
            renewExchange(&outbox)
            return false
        }
        let rest = bytes.extracting(cursor..<bytes.count)
        if connections[id].reading.state != .open, kind == .http {
            renewExchange(&outbox)
            if !rest.isEmpty { keepWaiting(id, rest, &outbox) }
            return false
        }
        if kind != .http {
            renewExchange(&outbox)
            connections.dropUnfinished(id)
            if !rest.isEmpty {
                keepWaiting(id, rest, &outbox)
                connections.readOn(id, &outbox)
            }
            return false
        }
        return true
    }

    /// A fresh exchange for the next connection, where the last one was left in the middle.
    private mutating func renewExchange(_ outbox: inout Outbox) {
        if !exchange.parser.isBetweenRequests {
            exchange = Exchange(limits: outbox.configuration.httpLimits)
        }
    }

    /// Lets the connection keep a request that has not fully arrived.
    private mutating func keepUnfinished(
        _ id: ConnectionID, _ bytes: Span<UInt8>, beginsRequest: Bool, _ outbox: inout Outbox
    ) {
        guard connections.has(id) else { return renewExchange(&outbox) }
        if exchange.parser.isBetweenRequests { return awaitRequest(id, &outbox) }
        // The head's time runs from its first byte, or from the empty lines before it: more bytes do
        // not lengthen it. The time of the content was set with the end of the head.
        let hasHeadTime = connections[id].deadline == .head && !exchange.parser.hasBegunRequest
        if beginsRequest, !exchange.isInContent, !hasHeadTime {
            connections.setDeadline(id, .head, &outbox)
        }
        exchange.keepContent(of: bytes)
        exchange.forgetLast()
        connections.unfinished(of: id).exchange = exchange
        exchange = Exchange(limits: outbox.configuration.httpLimits)
        countUnfinished(of: id, &outbox)
    }

    /// The head is there: what is asked, may it be asked, and must content be asked for.
    private mutating func beginRequest(
        _ id: ConnectionID, restByteCount: Int, _ outbox: inout Outbox
    ) {
        outbox.counters.requests += 1
        let isDecided = exchange.begin(mayRepeat: !outbox.life.takesNothing)
        exchange.isSecure = entrance.isSecure(id)
        if outbox.life.takesNothing { exchange.reply.context.keepsAlive = false }
        if isDecided {
            exchange.parser.bodyByteLimit = outbox.configuration.bodyByteLimit
        } else {
            if policies.needsOrigin { findOrigin(id, &outbox) }
            decideRequest(&outbox)
            if exchange.caller != nil { seatCaller(on: id, &outbox) }
        }
        if outbox.log.level <= .debug { exchange.noteAsked(on: outbox.connectionText(id)) }
        guard exchange.parser.head.hasContent else { return }
        // Content that is there already has no time to take.
        let missing = (exchange.parser.head.contentLength ?? .max) > restByteCount
        if missing { connections.setDeadline(id, .body, &outbox) }
        guard exchange.parser.head.expectation == .continue else { return }
        if exchange.refusal == nil {
            let start = outbox.loop.output.count
            ResponseWriter.appendContinue(to: &outbox.loop.output)
            outbox.loop.send(start..<outbox.loop.output.count, to: id, as: .answer)
        } else {
            // The client may or may not send the content that nobody wants.
            exchange.reply.context.keepsAlive = false
        }
    }

    /// Finds the route, and decides what can be decided by the head alone.
    private mutating func decideRequest(_ outbox: inout Outbox) {
        do throws(Problem) {
            try checkHead(&outbox)
        } catch {
            exchange.refusal = error
        }
    }

    /// Counts the connection for the principal that asks; one that has no seat left is refused.
    mutating func seatCaller(on id: ConnectionID, _ outbox: inout Outbox) {
        guard exchange.refusal == nil, let caller = exchange.caller else { return }
        do throws(Problem) {
            try takeSeat(of: caller, on: id, &outbox)
        } catch {
            exchange.refusal = error
        }
    }

    private mutating func checkHead(_ outbox: inout Outbox) throws(Problem) {
        if exchange.parser.head.expectation == .unknown {
            throw Problem(.expectationFailed, "The broker knows no expectation but 100-continue.")
        }
        if exchange.parser.head.targetForm == .authority {
            throw Problem(.notImplemented, "The broker is not a proxy.")
        }
        try checkHost()
        noteOrigin()
        if policies.hasRates { try chargeAddress(&outbox) }
        if !outbox.life.takesNothing, let name = exchange.findPlainPostName() {
            exchange.plainPostName = name
            exchange.canRepeat = !policies.needsOrigin
            exchange.parser.bodyByteLimit = outbox.configuration.bodyByteLimit
            return
        }
        let path = try routedPath(&outbox)
        exchange.path = path
        switch path.route.secretPlace {
        case .none: break
        case .possible where headField("belfry-token") == nil: break
        case .possible, .present: exchange.reply.details.hasSecretTarget = true
        }
        if outbox.life.takesNothing { try refuse(path.route, &outbox) }
        try checkOrigin(path)
        let method = exchange.parser.head.method
        let allowed = path.route.allowedMethods
        if method != .options, !allowed.allow(method) {
            exchange.refusalFields = [HTTPField("Allow", allowed.text)]
            throw Problem(.methodNotAllowed, "The path answers to \(allowed.text).")
        }
        try checkCredentials(path, &outbox)
        if path.route == .debugEcho { return }
        exchange.parser.bodyByteLimit = outbox.configuration.bodyByteLimit
    }

    /// Refuses what cannot be asked of a broker that stops, or has not restored its state.
    private func refuse(_ route: Route, _ outbox: inout Outbox) throws(Problem) {
        if let progress = shared.progress {
            if !route.isHealth { throw .isRestoring(progress) }
        } else if !route.isService {
            throw .isStopping
        }
    }

    /// A foreign name that resolves to this machine opens nothing (DNS rebinding).
    private mutating func checkHost() throws(Problem) {
        // Most requests name the host that the one before named.
        let isKnown = bytesAreEqual(exchange.parser.head.hostName, policies.allowedHost.span)
        if isKnown, exchange.origin?.host == nil { return }
        let name = hostName()
        if name.isEmpty { return }
        if policies.host.allows(host: name) {
            policies.allowedHost = name
        } else {
            throw Problem(
                .unknownHost,
                "The broker does not answer to this host name; --allow-host names those that it does."
            )
        }
    }

    private mutating func routedPath(_ outbox: inout Outbox) throws(Problem) -> RoutedPath {
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
                exchange.segments, hasDebugEndpoints: outbox.configuration.hasDebugEndpoints)
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
        if policies.origin.isListed(origin: origin) {
            exchange.reply.details.allowedOrigin = origin
        }
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
            return policies.origin.allows(fetchSite: headField("sec-fetch-site") ?? [])
        }
        let host = exchange.origin?.host ?? [UInt8](copying: exchange.parser.head.authority)
        let isSecure = exchange.origin?.isSecure ?? exchange.isSecure
        return policies.origin.allows(origin: origin, host: host, isSecure: isSecure)
    }

    /// The content is there: what was asked is answered, or handed out.
    mutating func finishRequest(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        if outbox.life.takesNothing { exchange.reply.context.keepsAlive = false }
        if let refusal = exchange.refusal {
            connections.answer(
                refusal, fields: exchange.refusalFields, to: id, exchange.reply, &outbox)
            return nil
        }
        if exchange.unverified != nil { return awaitVerdict(id, bytes, &outbox) }
        if let range = exchange.contentRange {
            return handleRequest(content: bytes.extracting(range), from: id, &outbox)
        }
        var content: [UInt8] = []
        swap(&content, &exchange.content)
        defer { swap(&content, &exchange.content) }
        return handleRequest(content: content.span, from: id, &outbox)
    }

    private mutating func handleRequest(
        content: Span<UInt8>, from id: ConnectionID, _ outbox: inout Outbox
    ) -> CallerStep? {
        if let name = exchange.plainPostName {
            if let post = plainPost(name, content: content, &outbox) { return .plainPost(post) }
            // Something about it is unusual, or wrong: the long way finds out what.
            let channel = [UInt8](
                copying: exchange.parser.head.path.extracting(name))
            exchange.path = RoutedPath(channel: channel)
        }
        guard let path = exchange.path else {
            preconditionFailure("a request that is not refused has a path")
        }
        if exchange.parser.head.method == .options {
            answerOptions(path, to: id, &outbox)
            return nil
        }
        return handleRequest(path, content: content, from: id, &outbox)
    }

    /// The notification of a post that anybody may make, to the default center, of an object as JSON; nil
    /// when it is not one.
    @inline(__always)
    private mutating func plainPost(
        _ name: Range<Int>, content: Span<UInt8>, _ outbox: inout Outbox
    ) -> Notification.Content? {
        guard !policies.hasRates, outbox.log.level > .trace,
            outbox.anonymous.grants.allowEverywhere(.post), outbox.number == 0
        else { return nil }
        return requestReader.plainPost(
            name: exchange.parser.head.path.extracting(name), body: content)
    }

    /// Ends a request that cannot be read on, and its connection with it.
    mutating func refuseRequest(_ id: ConnectionID, _ problem: Problem, _ outbox: inout Outbox) {
        var reply = HTTPReply(context: .closing)
        if outbox.log.level <= .debug {
            reply.details.asked = Asked(connection: outbox.connectionText(id))
        }
        connections.answer(problem, to: id, reply, &outbox)
        connections[id].unfinished = nil
        exchange = Exchange(limits: outbox.configuration.httpLimits)
    }
}
