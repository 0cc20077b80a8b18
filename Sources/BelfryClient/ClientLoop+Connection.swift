internal import BelfryLoop
internal import BelfrySystem

extension ClientLoop {
    // MARK: Making a connection

    mutating func connect(_ reply: ClientCommand.Reply<Void>?) {
        phase = .opening(reply)
        guard let token else { return openConnection() }
        lastAttempt += 1
        let (attempt, url, door, time) = (lastAttempt, self.url, self.door, options.openingTimeout)
        let task = Task {
            let outcome: Result<BrokerURL, ClientError>
            do throws(ClientError) {
                outcome = .success(try await url.authenticated(by: token, within: time))
            } catch {
                outcome = .failure(error)
            }
            door.submit(.token(attempt: attempt, outcome))
        }
        tokenAttempt = (attempt, task)
    }

    /// Continues an attempt to connect with its token, unless the attempt is over.
    mutating func useToken(of attempt: Int, _ outcome: Result<BrokerURL, ClientError>) {
        guard attempt == tokenAttempt?.number else { return }
        cancelTokenAttempt()
        switch outcome {
        case .success(let url):
            self.url = url
            openConnection()
        case .failure(let error): lose(error)
        }
    }

    mutating func cancelTokenAttempt() {
        tokenAttempt?.task.cancel()
        tokenAttempt = nil
    }

    private mutating func openConnection() {
        welcome = nil
        do throws(ClientError) {
            try line.dial(url.endpoint)
        } catch {
            lose(error)
        }
    }

    /// Continues once the name of the host has an address.
    mutating func lookForAddress() {
        guard case .opening = phase else { return }
        do throws(ClientError) {
            try line.lookForAddress()
        } catch {
            lose(error)
        }
    }

    mutating func reconnect() {
        guard case .pausing = phase else { return }
        connect(nil)
    }

    /// Opens the connection for calls.
    mutating func becomeOpen() {
        guard case .opening(let reply) = phase else { return }
        phase = .open(since: line.loop.now)
        line.setDeadline(in: silenceLimit)
        guard let reply else {
            states?.yield(.open)
            return
        }
        reply(.success(()))
    }

    // MARK: A silent line

    /// The time after which a silent broker is probed.
    private var silenceLimit: Duration {
        min(options.silenceLimit, welcome?.pingInterval ?? options.silenceLimit)
    }

    /// Probes a silent broker, with the call `ping` or, where it has none, a WebSocket ping.
    private mutating func probe() {
        guard welcome?.pingInterval != nil else {
            return line.probe(nil, within: silenceLimit)
        }
        // Its answer is not needed: any bytes are a sign of life.
        let ping = RPCRequest.call(
            id: calls.makeNumber(), method: "ping", params: Array("{}".utf8))
        line.probe(ping, within: silenceLimit / 2)
    }

    // MARK: Bytes

    mutating func receive(_ bytes: Span<UInt8>) {
        do throws(ClientError) {
            guard let opened = try line.decrypt(bytes) else { return read(bytes) }
            if !opened.plaintext.isEmpty { read(opened.plaintext.span) }
            if opened.hasEnded { endInput() }
        } catch {
            lose(error)
        }
    }

    private mutating func read(_ bytes: Span<UInt8>) {
        let events = line.receive(bytes)
        if case .open = phase { line.setDeadline(in: silenceLimit) }
        // A message that is not understood ends the session, and everything behind it is void.
        for event in events where line.hasSession { apply(event) }
    }

    mutating func endInput() {
        if let event = line.endInput() { apply(event) }
    }

    // MARK: The end of a connection

    mutating func deadlinePassed(_ id: ConnectionID) {
        switch phase {
        case .open where !line.isProbing: probe()
        case .idle, .opening, .open, .pausing, .over:
            line.loop.close(id)
            lose(.timedOut)
        case .removing, .closing:
            line.loop.close(id)
            lose(.closedByOwner)
        }
    }

    mutating func transportClosed(_ reason: CloseReason) {
        switch reason {
        case .failed(let errno): lose(.connectionFailed(errno: errno))
        case .finished, .reset, .timedOut, .tooMuchOutput: lose(.connectionLost)
        }
    }

    /// Gives the connection up, and makes another one after a pause if that may help.
    mutating func lose(_ error: ClientError) {
        line.hangUp()
        cancelTokenAttempt()
        var openedAt: MonotonicTime?
        switch phase {
        case .idle, .pausing, .over: return
        case .removing(let replies), .closing(let replies): return close(.closedByOwner, replies)
        case .opening(let reply?):
            phase = .over(error)
            states?.finish()
            return reply(.failure(error))
        case .opening: break
        case .open(let since):
            openedAt = since
            lostAt = line.loop.now
            registrations.detach()
        }
        failCalls(error)
        // A Close before the welcome may come from a proxy on the way.
        var isForeign = false
        if case .closed = error { isForeign = welcome == nil }
        let mayEndBetter =
            isForeign || error.isWorthRetrying || token != nil && error.asksForAnotherToken
        guard options.reconnects, mayEndBetter else { return close(error, []) }
        phase = .pausing
        states?.yield(.away(error))
        if let openedAt, openedAt + BackOff.steadyTime <= line.loop.now { backOff.reset() }
        if error.isOverload { backOff.giveWay() }
        let announced = announcedPause ?? error.retryAfter
        let pause = backOff.nextPause(announced: announced, using: &random)
        announcedPause = nil
        _ = line.loop.schedule(at: line.loop.now + pause, ClientTimer.reconnect)
    }

    /// Closes the center for good, then replies to its owner.
    private mutating func close(
        _ error: ClientError, _ replies: [ClientCommand.Reply<Void>]
    ) {
        phase = .over(error)
        states?.yield(.over(error))
        states?.finish()
        registrations.removeAll(error == .closedByOwner ? nil : error)
        failCalls(error)
        failWaiting(error)
        for reply in replies { reply(.success(())) }
    }

    // MARK: Closing

    mutating func beginClosing(_ reply: ClientCommand.Reply<Void>) {
        switch phase {
        case .removing(let replies): phase = .removing(replies + [reply])
        case .closing(let replies): phase = .closing(replies + [reply])
        case .open:
            phase = .removing([reply])
            line.setDeadline(in: options.closeTimeout)
            let tokens = registrations.tokens
            registrations.removeAll(nil)
            for token in tokens {
                call(.removeObserver(nil)) { RPCRequest.removeObserver(id: $0, token: token) }
            }
            closeIfAllRemoved()
        case .idle, .opening, .pausing, .over:
            phase = .closing([reply])
            lose(.closedByOwner)
        }
    }

    /// Sends the Close when no call is open any more.
    mutating func closeIfAllRemoved() {
        guard case .removing(let replies) = phase, !calls.hasOpenCalls else { return }
        phase = .closing(replies)
        line.sendClose()
    }
}
