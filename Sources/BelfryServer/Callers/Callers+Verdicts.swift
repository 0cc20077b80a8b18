import BelfryAccess
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import BelfryWire

// Verdicts: requests wait until their credentials are verified, and streams end with the
// credentials that opened them.

extension Callers {
    /// Parks a whole request until its credentials are verified.
    mutating func awaitVerdict(
        _ id: ConnectionID, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) -> CallerStep? {
        guard let unverified = exchange.unverified else { return nil }
        let digest = unverified.digest
        switch unverified.proof {
        case .ticket(let hash):
            // Of two simultaneous requests with one ticket the first may have it.
            guard gate.credentials.waiting[digest] == nil else {
                gate.decide(
                    .bad(.refusedToken(.unknownKey)), digest: digest, &exchange, &outbox)
                return finishRequest(id, bytes, &outbox)
            }
            wait(id, for: digest, bytes, &outbox)
            return .ticket(hash, digest)
        case .token(let token):
            guard let verifier = shared.verifier else {
                gate.decide(TokenVerifier.verdict(token), digest: digest, &exchange, &outbox)
                seatCaller(on: id, &outbox)
                return finishRequest(id, bytes, &outbox)
            }
            if gate.credentials.waiting[digest] == nil {
                let job = TokenVerifier.Job(token: token, digest: digest, loop: outbox.number)
                guard verifier.submit(job) else {
                    let problem = Problem(
                        .overloaded, "Too many tokens wait to be verified; try again later.")
                    connections.answer(problem, to: id, exchange.reply, &outbox)
                    return nil
                }
            }
            wait(id, for: digest, bytes, &outbox)
            return nil
        }
    }

    private mutating func wait(
        _ id: ConnectionID, for digest: TokenDigest, _ bytes: Span<UInt8>, _ outbox: inout Outbox
    ) {
        gate.credentials.waiting[digest, default: []].append(id)
        exchange.keepContent(of: bytes)
        connections.unfinished(of: id).unverified = exchange
        exchange = Exchange(limits: outbox.configuration.httpLimits)
        connections.move(id, .asked, &outbox)
        connections.setDeadline(id, .answer, &outbox)
        countUnfinished(of: id, &outbox)
    }

    /// Takes the connections whose requests wait for verified credentials.
    mutating func takeWaiting(_ digest: TokenDigest) -> [ConnectionID] {
        gate.credentials.waiting.removeValue(forKey: digest) ?? []
    }

    /// Takes up a request that waited for a verdict; false when it is gone.
    mutating func takeUpRequest(
        of id: ConnectionID, _ digest: TokenDigest, _ verdict: Verdict,
        _ outbox: inout Outbox
    ) -> Bool {
        guard let waiting = connections.connection(id)?.unfinished?.unverified.take(),
            waiting.unverified?.digest == digest
        else { return false }
        // Between two events the loop handles no request.
        exchange = waiting
        connections.move(id, .takenUp, &outbox)
        gate.decide(verdict, digest: digest, &exchange, &outbox)
        seatCaller(on: id, &outbox)
        return true
    }

    /// Answers or hands out a request whose content was kept.
    mutating func finishRequest(_ id: ConnectionID, _ outbox: inout Outbox) -> CallerStep? {
        let nothing: [UInt8] = []
        return finishRequest(id, nothing.span, &outbox)
    }

    /// Reads on behind a request that waited for a verdict, and is now answered or under way.
    mutating func readOnAfterVerdict(_ id: ConnectionID, _ outbox: inout Outbox) {
        exchange = Exchange(limits: outbox.configuration.httpLimits)
        guard let connection = connections.connection(id), !connection.isAwaiting,
            !connection.isClosing
        else { return }
        if connections.takesRequests(id) { connections.setDeadline(id, .idle, &outbox) }
        connections.readOn(id, &outbox)
    }

    // MARK: Streams

    /// Notes the caller of a stream: the stream ends with the caller's credentials.
    mutating func noteCaller(_ caller: Caller?, of id: ConnectionID, _ outbox: inout Outbox) {
        guard connections.has(id) else { return }
        var deadline = MonotonicTime.distantFuture
        if let caller { deadline = outbox.credentialDeadline(of: caller) }
        if caller != nil || connections[id].caller != nil { connections[id].caller = caller }
        connections[id].credentialDeadline = deadline
    }

    /// Adopts changed keys, and closes the streams of callers whose key is gone.
    mutating func adopt(_ keyring: Keyring, _ outbox: inout Outbox) {
        gate.adopt(keyring)
        for slot in 0..<connections.slotCount {
            guard let connection = connections[slot], let caller = connection.caller,
                connection.kind != .http,
                !connection.isClosing, !gate.credentials.keyring.stillHas(caller)
            else { continue }
            connections.dismiss(connection.id, .credentialsExpired, &outbox)
        }
    }
}
