import BelfryBytes
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

extension Callers {
    /// Finds out who asks; most requests show nothing, and pay for nothing.
    mutating func checkCredentials(_ path: RoutedPath, _ outbox: inout Outbox) throws(Problem) {
        let hasField = exchange.parser.head.uncommonFields.contains(.authorization)
        guard hasField || path.route.isStream else { return }
        guard path.route.asksCredentials, exchange.parser.head.method != .options else { return }
        let hasSubprotocol = path.route.isWebSocket && mayHaveToken()
        guard hasField || hasSubprotocol || exchange.parser.head.hasQuery else { return }
        var tokens: [[UInt8]] = []
        var ticket: [UInt8]?
        if hasField { tokens = try bearerTokens(&outbox) }
        if path.route.isStream {
            if hasSubprotocol { tokens += try subprotocolTokens(&outbox) }
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
            try accept(token: token, &outbox)
        } else if let ticket {
            try accept(ticket: ticket, &outbox)
        }
    }

    /// The tokens in `Authorization` (RFC 6750 §2.1); another scheme is none of ours.
    private func bearerTokens(_ outbox: inout Outbox) throws(Problem) -> [[UInt8]] {
        let head = exchange.parser.head
        var tokens: [[UInt8]] = []
        for range in head.values(of: "authorization") {
            let value = [UInt8](copying: head.value(in: range))
            let scheme = Array("bearer ".utf8)
            guard value.count > scheme.count,
                value.prefix(scheme.count).map({ (65...90).contains($0) ? $0 + 32 : $0 }) == scheme
            else { throw refuseCredentials(.malformed, &outbox) }
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
    private func subprotocolTokens(_ outbox: inout Outbox) throws(Problem) -> [[UInt8]] {
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
                throw refuseCredentials(.malformed, &outbox)
            }
        }
        return tokens
    }

    /// What keys of `belfry gen-token` begin with.
    static let keyPrefix = Array(GeneratedKey.prefix.utf8)

    private mutating func accept(token: [UInt8], _ outbox: inout Outbox) throws(Problem) {
        guard token.count <= Keyring.tokenByteLimit else {
            throw refuseCredentials(.tooLong, &outbox)
        }
        let digest = TokenDigest(of: token)
        if let caller = credentials.keyring.caller(digest) ?? credentials.verdicts.caller(digest) {
            try accept(caller, &outbox)
            return
        }
        do throws(AccessError) {
            exchange.unverified = UnverifiedCredentials(
                digest: digest, token: try credentials.keyring.token(token))
        } catch {
            throw refuseCredentials(error.tokenFault, &outbox)
        }
    }

    private mutating func accept(ticket: [UInt8], _ outbox: inout Outbox) throws(Problem) {
        let digest = TokenDigest(of: ticket)
        let now = outbox.loop.now.nanoseconds
        let caller = shared.tickets.withLock { $0.take(digest, now: now) }
        guard let caller else { throw refuseCredentials(.unknownKey, &outbox) }
        try accept(caller, &outbox)
    }

    private mutating func accept(_ caller: Caller, _ outbox: inout Outbox) throws(Problem) {
        if let fault = caller.fault(at: outbox.loop.wallNow.milliseconds) {
            throw refuseCredentials(fault, &outbox)
        }
        exchange.caller = caller
    }

    /// All credentials that are not good are answered alike; the log alone knows why they are not.
    private func refuseCredentials(_ fault: TokenFault, _ outbox: inout Outbox) -> Problem {
        outbox.log.write(.debug, "credentials refused", ("reason", fault.rawValue))
        return Problem(.credentialsInvalid, "The credentials are not valid.")
    }

    // MARK: Verdicts

    /// Lets a whole request wait until its credentials are verified.
    mutating func awaitVerdict(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        guard let unverified = exchange.unverified else { return nil }
        guard let verifier = shared.verifier else {
            decide(TokenVerifier.verdict(unverified.token), digest: unverified.digest, &outbox)
            seatCaller(on: id, &outbox)
            return finishRequest(id, bytes, &outbox)
        }
        let digest = unverified.digest
        if credentials.waiting[digest] == nil {
            let job = TokenVerifier.Job(
                token: unverified.token, digest: digest, loop: outbox.number)
            guard verifier.submit(job) else {
                let problem = Problem(
                    .overloaded, "Too many tokens wait to be verified; try again later.")
                connections.answer(problem, to: id, exchange.reply, &outbox)
                return nil
            }
        }
        credentials.waiting[digest, default: []].append(id)
        exchange.keepContent(of: bytes)
        connections.unfinished(of: id).unverified = exchange
        exchange = Exchange(limits: outbox.configuration.httpLimits)
        connections.move(id, .asked, &outbox)
        connections.setDeadline(id, .answer, &outbox)
        countUnfinished(of: id, &outbox)
        return nil
    }

    /// A token was verified: takes the connections whose requests wait for that.
    mutating func takeWaiting(_ digest: TokenDigest) -> [ConnectionID] {
        credentials.waiting.removeValue(forKey: digest) ?? []
    }

    /// Takes up a request that waited for a verdict; false when it is no longer there.
    mutating func takeUpRequest(
        of id: ConnectionID, _ digest: TokenDigest, _ verdict: Result<Caller, AccessError>,
        _ outbox: inout Outbox
    ) -> Bool {
        guard let waiting = connections.connection(id)?.unfinished?.unverified.take(),
            waiting.unverified?.digest == digest
        else { return false }
        // Between two events no request is in the hands of the loop.
        exchange = waiting
        connections.move(id, .takenUp, &outbox)
        decide(verdict, digest: digest, &outbox)
        seatCaller(on: id, &outbox)
        return true
    }

    /// A request whose content was kept is answered, or handed out.
    mutating func finishRequest(_ id: ConnectionID, _ outbox: inout Outbox) -> CallerStep? {
        let nothing: [UInt8] = []
        return finishRequest(id, nothing.span, &outbox)
    }

    /// A request that waited for a verdict was answered, or is under way: what follows is read.
    mutating func readOnAfterVerdict(_ id: ConnectionID, _ outbox: inout Outbox) {
        exchange = Exchange(limits: outbox.configuration.httpLimits)
        guard let connection = connections.connection(id), !connection.isAwaiting,
            !connection.isClosing
        else { return }
        if connections.takesRequests(id) { connections.setDeadline(id, .idle, &outbox) }
        connections.readOn(id, &outbox)
    }

    /// Makes what a verdict says of the request in hand.
    private mutating func decide(
        _ verdict: Result<Caller, AccessError>, digest: TokenDigest, _ outbox: inout Outbox
    ) {
        exchange.unverified = nil
        do throws(Problem) {
            switch verdict {
            case .failure(let error):
                throw refuseCredentials(error.tokenFault, &outbox)
            case .success(let caller):
                // The keys may have changed meanwhile.
                guard credentials.keyring.stillHas(caller) else {
                    throw refuseCredentials(.unknownKey, &outbox)
                }
                try accept(caller, &outbox)
                credentials.verdicts.insert(caller, for: digest)
            }
        } catch {
            exchange.refusal = error
        }
    }

    // MARK: Streams

    /// Notes who opens a stream: it ends with their credentials.
    mutating func noteCaller(_ caller: Caller?, of id: ConnectionID, _ outbox: inout Outbox) {
        guard connections.has(id) else { return }
        var deadline = MonotonicTime.distantFuture
        if let caller { deadline = outbox.credentialDeadline(of: caller) }
        if caller != nil || connections[id].caller != nil { connections[id].caller = caller }
        connections[id].credentialDeadline = deadline
    }

    /// The keys have changed: whose key is gone is known no longer.
    mutating func adopt(_ keyring: Keyring, _ outbox: inout Outbox) {
        credentials.keyring = keyring
        credentials.verdicts.removeAll()
        shared.tickets.withLock { $0.removeAll() }
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], let caller = connection.caller,
                connection.kind != .http,
                !connection.isClosing, !credentials.keyring.stillHas(caller)
            else { continue }
            connections.dismiss(connection.id, .credentialsExpired, &outbox)
        }
    }

    // MARK: Tickets

    /// Hands out a ticket for the credentials of a request (POST /v1/tickets).
    mutating func makeTicket(for id: ConnectionID, _ outbox: inout Outbox) throws(Problem) {
        guard let caller = exchange.caller else {
            throw Problem(
                .credentialsMissing,
                "A ticket stands for credentials, so the request must show some.")
        }
        let query = try Query(exchange.parser.head)
        try query.finish()
        try charge(1, caller, &outbox)
        let ticket = outbox.random.text(byteCount: 16)
        let digest = TokenDigest(of: ticket)
        let now = outbox.loop.now.nanoseconds
        let share = outbox.shares.limits.principal?.ticketCount ?? TicketTable.limit
        let isKept = shared.tickets.withLock {
            $0.insert(digest, for: caller, share: share, now: now)
        }
        guard isKept else {
            throw Problem(
                .overloaded,
                "The broker has \(TicketTable.limit) unused tickets, which is its limit; try again later."
            )
        }
        outbox.content.removeAll(keepingCapacity: true)
        let lifetime = TicketTable.lifetime / 1_000_000
        Shape.append(
            ticket: ticket, expiresAt: outbox.loop.wallNow.milliseconds + lifetime,
            to: &outbox.content)
        var answer = Answer(status: 201, contentType: .json)
        answer.fields = [.noStore]
        connections.send(answer, to: id, exchange.reply, &outbox)
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
    /// What a refusal says about credentials (RFC 9110 §11.6.1, RFC 6750 §3).
    static func challenge(_ kind: Problem.Kind) -> HTTPField? {
        switch kind {
        case .credentialsMissing: HTTPField("WWW-Authenticate", #"Bearer realm="belfry""#)
        case .credentialsInvalid:
            HTTPField("WWW-Authenticate", #"Bearer realm="belfry", error="invalid_token""#)
        default: nil
        }
    }

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
