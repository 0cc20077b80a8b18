import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryJSON
import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWebSocket
import BelfryWire
import Synchronization

// Who asks: credentials are read with the head, and a token that is new is verified off the loop.

/// Credentials that must be verified before it is known who asks.
///
/// One reference, so that an exchange without any is no larger for them.
final class UnverifiedCredentials: Sendable {
    let digest: TokenDigest
    let token: SignedToken

    init(digest: TokenDigest, token: SignedToken) {
        self.digest = digest
        self.token = token
    }
}

extension ServerLoop {
    /// Finds out who asks; most requests show nothing, and pay for nothing.
    mutating func checkCredentials(_ path: RoutedPath) throws(Problem) {
        let hasField = exchange.parser.head.uncommonFields.contains(.authorization)
        guard hasField || path.route.isStream else { return }
        guard path.route.asksCredentials, exchange.parser.head.method != .options else { return }
        let hasSubprotocol = path.route.isWebSocket && mayHaveToken()
        guard hasField || hasSubprotocol || exchange.parser.head.hasQuery else { return }
        var tokens: [[UInt8]] = []
        var ticket: [UInt8]?
        if hasField { tokens = try bearerTokens() }
        if path.route.isStream {
            if hasSubprotocol { tokens += try subprotocolTokens() }
            if exchange.parser.head.hasQuery {
                var query = try Query(exchange.parser.head)
                ticket = query.take(Query.ticket)
            }
        }
        guard tokens.count + (ticket == nil ? 0 : 1) <= 1 else {
            throw Problem(
                .malformedRequest,
                "The request shows credentials more than once: send them once, in one way.")
        }
        if let token = tokens.first {
            try accept(token: token)
        } else if let ticket {
            try accept(ticket: ticket)
        }
    }

    /// The tokens in `Authorization` (RFC 6750 §2.1); another scheme is none of ours.
    private func bearerTokens() throws(Problem) -> [[UInt8]] {
        let head = exchange.parser.head
        var tokens: [[UInt8]] = []
        for range in head.values(of: "authorization") {
            let value = [UInt8](copying: head.value(in: range))
            let scheme = Array("bearer ".utf8)
            guard value.count > scheme.count,
                value.prefix(scheme.count).map({ (65...90).contains($0) ? $0 + 32 : $0 }) == scheme
            else { throw refuseCredentials(.malformed) }
            tokens.append(Array(value.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }))
        }
        return tokens
    }

    /// Whether the list of subprotocols is long enough to have a token in it; mostly it is not.
    private mutating func mayHaveToken() -> Bool {
        for index in 0..<exchange.parser.head.fieldCount
        where exchange.parser.head.name(at: index).count == Self.subprotocolFieldByteCount {
            if exchange.parser.head.value(at: index).count >= OpeningRequest.bearer.utf8.count {
                return true
            }
        }
        return false
    }

    private static let subprotocolFieldByteCount = "sec-websocket-protocol".utf8.count

    /// The tokens among the subprotocols, where a browser can put one.
    private func subprotocolTokens() throws(Problem) -> [[UInt8]] {
        let head = exchange.parser.head
        var lines: [[UInt8]] = []
        for range in head.values(of: "sec-websocket-protocol") {
            lines.append([UInt8](copying: head.value(in: range)))
        }
        var tokens: [[UInt8]] = []
        for text in OpeningRequest.bearers(in: lines) {
            // Keys and tokens have only characters that a subprotocol may have, so they may also
            // stand as they are; in base64url both begin otherwise.
            if text.contains(UInt8(ascii: ".")) || text.starts(with: Self.keyPrefix) {
                tokens.append(text)
            } else if let token = Base64.url.decode(text.span) {
                tokens.append(token)
            } else {
                throw refuseCredentials(.malformed)
            }
        }
        return tokens
    }

    /// What keys of `belfry gen-token` begin with.
    static let keyPrefix = Array(GeneratedKey.prefix.utf8)

    private mutating func accept(token: [UInt8]) throws(Problem) {
        guard token.count <= Keyring.tokenByteLimit else { throw refuseCredentials(.tooLong) }
        let digest = TokenDigest(of: token)
        if let caller = keyring.caller(digest) ?? verdicts.caller(digest) {
            try accept(caller)
            return
        }
        do throws(AccessError) {
            exchange.unverified = UnverifiedCredentials(
                digest: digest, token: try keyring.token(token))
        } catch {
            throw refuseCredentials(error.tokenFault)
        }
    }

    private mutating func accept(ticket: [UInt8]) throws(Problem) {
        let digest = TokenDigest(of: ticket)
        let now = loop.now.nanoseconds
        let caller = shared.tickets.withLock { $0.take(digest, now: now) }
        guard let caller else { throw refuseCredentials(.unknownKey) }
        try accept(caller)
    }

    private mutating func accept(_ caller: Caller) throws(Problem) {
        if let fault = caller.fault(at: loop.wallNow.milliseconds) {
            throw refuseCredentials(fault)
        }
        exchange.caller = caller
    }

    /// All credentials that are not good are answered alike; the log alone knows why they are not.
    private func refuseCredentials(_ fault: TokenFault) -> Problem {
        log.write(.debug, "credentials refused", ("reason", fault.rawValue))
        return Problem(.credentialsInvalid, "The credentials are not valid.")
    }

    /// What a refusal says about credentials (RFC 9110 §11.6.1, RFC 6750 §3).
    static func challenge(_ kind: Problem.Kind) -> HTTPField? {
        switch kind {
        case .credentialsMissing: HTTPField("WWW-Authenticate", #"Bearer realm="belfry""#)
        case .credentialsInvalid:
            HTTPField("WWW-Authenticate", #"Bearer realm="belfry", error="invalid_token""#)
        default: nil
        }
    }

    // MARK: Verdicts

    /// Lets a whole request wait until its credentials are verified.
    mutating func awaitVerdict(_ id: ConnectionID, _ bytes: Span<UInt8>) {
        guard let unverified = exchange.unverified else { return }
        guard let verifier = shared.verifier else {
            decide(TokenVerifier.verdict(unverified.token), digest: unverified.digest)
            seatCaller(on: id)
            finishRequest(id, bytes)
            return
        }
        let digest = unverified.digest
        if waitingVerdicts[digest] == nil {
            let job = TokenVerifier.Job(token: unverified.token, digest: digest, loop: number)
            guard verifier.submit(job) else {
                let problem = Problem(.overloaded, "Too many tokens wait to be verified.")
                answer(problem, to: id, exchange.reply)
                return
            }
        }
        waitingVerdicts[digest, default: []].append(id)
        exchange.keepContent(of: bytes)
        unfinished(of: id).unverified = exchange
        exchange = Exchange(limits: Self.httpLimits(configuration))
        connections[id].isAwaiting = true
        setDeadline(id, .answer)
        countUnfinished(of: id)
    }

    /// A token was verified: the requests that wait for that go on.
    mutating func takeVerdict(_ digest: TokenDigest, _ verdict: Result<Caller, AccessError>) {
        for id in waitingVerdicts.removeValue(forKey: digest) ?? [] {
            guard let waiting = connection(id)?.unfinished?.unverified.take(),
                waiting.unverified?.digest == digest
            else { continue }
            // Between two events no request is in the hands of the loop.
            exchange = waiting
            connections[id].isAwaiting = false
            decide(verdict, digest: digest)
            seatCaller(on: id)
            let nothing: [UInt8] = []
            finishRequest(id, nothing.span)
            exchange = Exchange(limits: Self.httpLimits(configuration))
            readOnAfterVerdict(id)
        }
    }

    private mutating func readOnAfterVerdict(_ id: ConnectionID) {
        guard let connection = connection(id), !connection.isAwaiting, !connection.isClosing
        else { return }
        if connections.takesRequests(id) { setDeadline(id, .idle) }
        readOn(id)
    }

    /// Makes what a verdict says of the request in hand.
    private mutating func decide(
        _ verdict: Result<Caller, AccessError>, digest: TokenDigest
    ) {
        exchange.unverified = nil
        do throws(Problem) {
            switch verdict {
            case .failure(let error):
                throw refuseCredentials(error.tokenFault)
            case .success(let caller):
                // The keys may have changed meanwhile.
                guard keyring.stillHas(caller) else { throw refuseCredentials(.unknownKey) }
                try accept(caller)
                verdicts.insert(caller, for: digest)
            }
        } catch {
            exchange.refusal = error
        }
    }

    // MARK: Streams

    /// Notes who opens a stream: it ends with their credentials.
    mutating func noteCaller(_ caller: Caller?, of id: ConnectionID) {
        guard connections.has(id) else { return }
        var deadline = MonotonicTime.distantFuture
        if let caller { deadline = credentialDeadline(of: caller) }
        if caller != nil || connections[id].caller != nil { connections[id].caller = caller }
        connections[id].credentialDeadline = deadline
    }

    /// When the credentials of a caller expire.
    func credentialDeadline(of caller: Caller) -> MonotonicTime {
        guard caller.expiresAt != .max else { return .distantFuture }
        let left = caller.expiresAt.subtractingReportingOverflow(loop.wallNow.milliseconds)
        let (nanoseconds, overflow) = left.partialValue.multipliedReportingOverflow(by: 1_000_000)
        let (time, isLate) = loop.now.nanoseconds.addingReportingOverflow(nanoseconds)
        return left.overflow || overflow || isLate
            ? .distantFuture : MonotonicTime(nanoseconds: time)
    }

    /// The credentials of a stream are good no longer.
    mutating func closeExpired(_ connection: Connection) {
        switch connection.kind {
        case .webSocket, .debugWebSocket:
            closeWebSocket(
                connection.id, .credentialsExpired, reason: "the credentials have expired")
        case .events:
            let start = loop.output.count
            EventStream.append(comment: "the credentials have expired", to: &loop.output)
            loop.send(start..<loop.output.count, to: connection.id, as: .delivery)
            closeSoon(connection.id)
        case .http:
            break
        }
    }

    /// The keys have changed: whose key is gone is known no longer.
    mutating func adoptKeyring() {
        keyring = configuration.keyring ?? Keyring()
        verdicts.removeAll()
        shared.tickets.withLock { $0.removeAll() }
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], let caller = connection.caller,
                connection.kind != .http,
                !connection.isClosing, !keyring.stillHas(caller)
            else { continue }
            closeExpired(connection)
        }
        let keys = keyring
        polls.endAll { !keys.stillHas($0.submission.caller) }
    }

    // MARK: Tickets

    /// Hands out a ticket for the credentials of a request (POST /v1/tickets).
    mutating func makeTicket(for id: ConnectionID) throws(Problem) {
        guard let caller = exchange.caller else {
            throw Problem(
                .credentialsMissing, "A ticket stands for credentials, and the request has none.")
        }
        let query = try Query(exchange.parser.head)
        try query.finish()
        try charge(1, caller)
        let ticket = random.text(byteCount: 16)
        let digest = TokenDigest(of: ticket)
        let now = loop.now.nanoseconds
        let share = shares.principal?.ticketCount ?? TicketTable.limit
        let isKept = shared.tickets.withLock {
            $0.insert(digest, for: caller, share: share, now: now)
        }
        guard isKept else {
            throw Problem(
                .overloaded,
                "The broker has \(TicketTable.limit) unused tickets, which is its limit; try again later."
            )
        }
        answerContent.removeAll(keepingCapacity: true)
        let lifetime = TicketTable.lifetime / 1_000_000
        Shape.append(
            ticket: ticket, expiresAt: loop.wallNow.milliseconds + lifetime, to: &answerContent)
        var answer = Answer(status: 201, contentType: .json)
        answer.fields = [Self.noStore]
        send(answer, to: id, exchange.reply)
    }
}

extension TokenDigest {
    /// The digest of a secret.
    init(of secret: [UInt8]) {
        guard let digest = TokenDigest(Digest(of: secret.span).bytes) else {
            preconditionFailure("a SHA-256 has 32 bytes")
        }
        self = digest
    }
}

extension AccessError {
    /// What is wrong with a token.
    fileprivate var tokenFault: TokenFault {
        if case .refusedToken(let fault) = self { fault } else { .malformed }
    }
}

extension Problem {
    /// A verb that the caller lacks on a name and an object of a center; an absent one is all.
    static func lacking(
        _ verb: String, _ caller: Caller, center: [UInt8]? = nil, name: [UInt8]? = nil,
        object: [UInt8]? = nil, place: Int? = nil
    ) -> Problem {
        let kind =
            caller.isAnonymous && caller.mayAuthenticate ? Kind.credentialsMissing : .forbidden
        var problem = Problem(kind, "The caller lacks the grant \(verb).")
        var members = [Member("verb", string: Array(verb.utf8))]
        if let center { members.append(Member("center", string: center)) }
        if let name { members.append(Member("name", string: name)) }
        if let object { members.append(Member("object", string: object)) }
        problem.members = members
        if let place {
            problem.errors = [
                FieldError(
                    .pointer(.root.appending(index: place)), "the caller lacks the grant \(verb)")
            ]
        }
        return problem
    }

    /// A verb that the caller lacks to post something.
    static func lacking(
        _ verb: String, _ submission: Submission, _ content: BelfryCenter.Notification.Content,
        place: Int?
    ) -> Problem {
        var object: [UInt8]?
        if let span = content.object { object = [UInt8](copying: span) }
        return lacking(
            verb, submission.caller, center: submission.center,
            name: [UInt8](copying: content.name), object: object, place: place)
    }
}
