import BelfryAccess
import BelfryCenter
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// Callers: credentials are read with the head, and a new token is verified off the loop.

extension Gate {
    /// Finds the caller by credentials; most requests have none, and cost nothing.
    mutating func checkCredentials(
        _ entry: RoutePath.Entry, _ exchange: inout Exchange, _ outbox: inout Outbox
    ) throws(Problem) {
        let hasField = exchange.parser.head.uncommonFields.contains(.authorization)
        let isStream = entry.use == .opens
        guard hasField || isStream else { return }
        let hasSubprotocol =
            entry.route == .center(.webSocket) && exchange.parser.head.mayHaveSubprotocolToken()
        guard hasField || hasSubprotocol || exchange.parser.head.hasQuery else { return }
        var tokens: [[UInt8]] = []
        if hasField {
            guard let shown = exchange.parser.head.bearerTokens() else {
                throw refuseCredentials(.malformed, &outbox)
            }
            tokens = shown
        }
        if hasSubprotocol {
            guard let shown = exchange.parser.head.subprotocolTokens() else {
                throw refuseCredentials(.malformed, &outbox)
            }
            tokens += shown
        }
        var ticket: [UInt8]?
        if isStream, exchange.parser.head.hasQuery {
            var query = try Query(exchange.parser.head)
            ticket = query.take(Query.ticket)
        }
        guard tokens.count + (ticket == nil ? 0 : 1) <= 1 else {
            throw Problem(
                .malformedRequest,
                "The request has credentials in more than one place; send them once.")
        }
        if let token = tokens.first {
            try accept(token: token, &exchange, &outbox)
        } else if let ticket {
            try accept(ticket: ticket, &exchange, &outbox)
        }
    }

    private mutating func accept(
        token: [UInt8], _ exchange: inout Exchange, _ outbox: inout Outbox
    ) throws(Problem) {
        guard token.count <= Keyring.tokenByteLimit else {
            throw refuseCredentials(.tooLong, &outbox)
        }
        let digest = TokenDigest(of: token)
        if let caller = credentials.keyring.caller(digest) ?? credentials.verdicts.caller(digest) {
            return try accept(caller, &exchange, &outbox)
        }
        do throws(AccessError) {
            exchange.unverified = UnverifiedCredentials(
                digest: digest, .token(try credentials.keyring.token(token)))
        } catch {
            throw refuseCredentials(error.tokenFault, &outbox)
        }
    }

    private mutating func accept(
        ticket: [UInt8], _ exchange: inout Exchange, _ outbox: inout Outbox
    ) throws(Problem) {
        let hash = SecretHash(of: ticket)
        let now = outbox.loop.now.nanoseconds
        if let caller = shared.tickets.withLock({ $0.take(hash, now: now) }) {
            return try accept(caller, &exchange, &outbox)
        }
        guard outbox.configuration.cluster != nil else {
            throw refuseCredentials(.unknownKey, &outbox)
        }
        exchange.unverified = UnverifiedCredentials(
            digest: TokenDigest(of: ticket), .ticket(hash))
    }

    private mutating func accept(
        _ caller: Caller, _ exchange: inout Exchange, _ outbox: inout Outbox
    ) throws(Problem) {
        if let fault = caller.fault(at: outbox.loop.wallNow.milliseconds) {
            throw refuseCredentials(fault, &outbox)
        }
        exchange.caller = caller
    }

    /// All invalid credentials get the same answer; only the log has the reason.
    private mutating func refuseCredentials(
        _ fault: TokenFault, _ outbox: inout Outbox
    ) -> Problem {
        outbox.log.write(.debug, "credentials refused", ("reason", fault.rawValue))
        return Problem(.credentialsInvalid, "The credentials are not valid, or have expired.")
    }

    /// Applies a verdict to the request that waited for it.
    mutating func decide(
        _ verdict: Verdict, digest: TokenDigest, _ exchange: inout Exchange,
        _ outbox: inout Outbox
    ) {
        exchange.unverified = nil
        do throws(Problem) {
            let caller: Caller
            switch verdict {
            case .good(let holder): caller = holder
            case .used(let shown): caller = try holder(ofShown: shown, &outbox)
            case .bad(let error): throw refuseCredentials(error.tokenFault, &outbox)
            case .unknown(let problem): throw problem
            }
            // The keys may have changed meanwhile.
            guard credentials.keyring.stillHas(caller) else {
                throw refuseCredentials(.unknownKey, &outbox)
            }
            try accept(caller, &exchange, &outbox)
            // A ticket is valid once.
            if case .good = verdict { credentials.verdicts.insert(caller, for: digest) }
        } catch {
            exchange.refusal = error
        }
    }

    /// The holder of a ticket from the log, by the keys of this broker.
    private mutating func holder(
        ofShown shown: [UInt8], _ outbox: inout Outbox
    ) throws(Problem) -> Caller {
        do throws(AccessError) {
            return try credentials.keyring.caller(byShown: shown)
        } catch {
            throw refuseCredentials(error.tokenFault, &outbox)
        }
    }

    /// Adopts changed keys, and forgets the verdicts by the old ones.
    mutating func adopt(_ keyring: Keyring) {
        credentials.keyring = keyring
        credentials.verdicts.removeAll()
        shared.tickets.withLock { $0.removeAll() }
    }
}

extension AccessError {
    /// The fault of a token.
    fileprivate var tokenFault: TokenFault {
        if case .refusedToken(let fault) = self { fault } else { .malformed }
    }
}
