internal import BelfryLoop
internal import BelfrySystem
internal import BelfryWebSocket

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
    mutating func takeToken(of attempt: Int, _ outcome: Result<BrokerURL, ClientError>) {
        guard attempt == tokenAttempt?.number else { return }
        forgetTokenAttempt()
        switch outcome {
        case .success(let url):
            self.url = url
            openConnection()
        case .failure(let error): lose(error)
        }
    }

    /// Waits for no token any more.
    mutating func forgetTokenAttempt() {
        tokenAttempt?.task.cancel()
        tokenAttempt = nil
    }

    private mutating func openConnection() {
        welcome = nil
        call = EndpointCall()
        lookupEnd = loop.now + options.openingTimeout
        do throws(EndpointCall.Failure) {
            take(try call.open(url.endpoint, &loop))
        } catch {
            lose(ClientError(error))
        }
    }

    /// Continues once the name of the host has an address.
    mutating func lookForAddress() {
        guard case .opening = phase, call.isLookingUp else { return }
        if loop.now >= lookupEnd { return lose(.timedOut) }
        do throws(EndpointCall.Failure) {
            take(try call.goOn(&loop))
        } catch {
            lose(ClientError(error))
        }
    }

    private mutating func take(_ id: ConnectionID?) {
        guard let id else {
            _ = loop.schedule(at: loop.now + Self.lookInterval, Timer.lookup)
            return
        }
        connection = id
        loop.setDeadline(id, at: loop.now + options.openingTimeout)
    }

    /// How often it is seen whether a name has an address by now.
    private static let lookInterval = Duration.milliseconds(10)

    mutating func sendOpening(_ id: ConnectionID) {
        if let line {
            loop.filterOutput(of: id)
            loop.send(sealed: line.begin(id).span, to: id)
        }
        session = BrokerSession(options, random: SystemRandom())
        let start = loop.output.count
        session?.appendOpening(url, to: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
    }

    mutating func reconnect() {
        guard case .pausing = phase else { return }
        connect(nil)
    }

    /// Requests can be sent from now on.
    mutating func becomeOpen() {
        guard case .opening(let reply) = phase else { return }
        phase = .open
        openedAt = loop.now
        listen(for: silenceLimit)
        guard let reply else {
            states?.yield(.open)
            return
        }
        reply(.success(()))
    }

    // MARK: A dead line

    /// How long the broker may say nothing until it is asked whether it is there.
    private var silenceLimit: Duration {
        min(options.silenceLimit, welcome?.pingInterval ?? options.silenceLimit)
    }

    private mutating func listen(for duration: Duration) {
        if let connection { loop.setDeadline(connection, at: loop.now + duration) }
    }

    /// Probes a silent broker, with the call `ping` or, where it has none, a WebSocket ping.
    ///
    /// Any answer satisfies the probe.
    private mutating func probe() {
        isProbing = true
        guard welcome?.pingInterval != nil else {
            write { session, output in session.appendPing(to: &output) }
            return listen(for: silenceLimit)
        }
        // The answer itself is not needed: any bytes are a sign of life.
        lastRequest += 1
        send(RPCRequest.call(id: lastRequest, method: "ping", params: Array("{}".utf8)))
        listen(for: silenceLimit / 2)
    }

    // MARK: Bytes

    mutating func send(_ message: [UInt8]) {
        write { session, output in session.append(message, to: &output) }
    }

    private mutating func write(_ append: (inout BrokerSession, inout [UInt8]) -> Void) {
        guard let connection, var current = session.take() else { return }
        let start = loop.output.count
        append(&current, &loop.output)
        session = current
        loop.send(start..<loop.output.count, to: connection, as: .answer)
    }

    mutating func receive(_ bytes: Span<UInt8>) {
        guard let line, let connection else { return read(bytes) }
        var own: [UInt8] = []
        do throws(ClientError) {
            let opened = try line.open(bytes, of: connection, own: &own)
            loop.send(sealed: own.span, to: connection)
            if !opened.plaintext.isEmpty { read(opened.plaintext.span) }
            if opened.hasEnded, connection == self.connection { endOfInput() }
        } catch {
            loop.send(sealed: own.span, to: connection)
            lose(error)
        }
    }

    private mutating func read(_ bytes: Span<UInt8>) {
        isProbing = false
        var events: [BrokerSession.Event] = []
        write { session, output in
            events = session.receive(bytes, output: &output)
        }
        switch phase {
        case .open: listen(for: silenceLimit)
        case .idle, .opening, .pausing, .removing, .closing, .over: break
        }
        // A message that is not understood ends the connection, and everything behind it is void.
        for event in events where session != nil { take(event) }
    }

    mutating func endOfInput() {
        guard let event = session?.endOfInput() else { return }
        take(event)
    }

    private mutating func take(_ event: BrokerSession.Event) {
        switch event {
        case .opened: break
        case .over(let error): lose(error)
        case .text(let text):
            do throws(ClientError) {
                if let message = try? RPCInbound(text) { return try take(message) }
                // A frame that cannot be read comes again: so the next one is passed over.
                guard backOff.passesOverBadFrame(), case .open = phase else {
                    throw .notUnderstood
                }
                for observer in observers.values where observer.isRegistered {
                    observer.wish.buffer.append(
                        ReceivedNotification.Gap(lostCount: nil, reason: "unknown"))
                }
            } catch {
                write { session, output in
                    _ = session.fail(error, .protocolError, to: &output)
                }
                lose(error)
            }
        }
    }

    // MARK: The end of a connection

    mutating func deadlinePassed(_ id: ConnectionID) {
        switch phase {
        case .open where !isProbing: probe()
        case .idle, .opening, .open, .pausing, .over:
            loop.close(id)
            lose(.timedOut)
        case .removing, .closing:
            loop.close(id)
            lose(.closedByOwner)
        }
    }

    mutating func transportClosed(_ reason: CloseReason) {
        switch reason {
        case .failed(let errno): lose(.connectionFailed(errno: errno))
        case .finished, .reset, .timedOut, .tooMuchOutput: lose(.connectionLost)
        }
    }

    /// The connection is over, or will be when its last output has left.
    mutating func lose(_ error: ClientError) {
        if let connection { loop.closeAfterFlush(connection, lingering: true) }
        connection = nil
        session = nil
        forgetTokenAttempt()
        isProbing = false
        let reached = phase
        switch reached {
        case .idle, .pausing, .over: return
        case .removing, .closing: return end(.closedByOwner)
        case .opening(let reply?):
            phase = .over(error)
            states?.finish()
            return reply(.failure(error))
        case .opening: break
        case .open: leaveObservers()
        }
        // A request for an observer that was asked for on this connection has its owner's reply to
        // fail; those that were registered before stay, for the next connection.
        for (_, request) in pending {
            if case .addObserver(let selector, _?) = request.kind {
                forgetObserver(selector, error)
            }
        }
        failPending(error)
        abandoned.removeAll()
        // A Close before the welcome may come from a proxy on the way.
        var isForeign = false
        if case .closed = error { isForeign = welcome == nil }
        let mayEndBetter =
            isForeign || error.isWorthRetrying || token != nil && error.asksForAnotherToken
        guard options.reconnects, mayEndBetter else { return end(error) }
        phase = .pausing
        states?.yield(.away(error))
        if let openedAt, openedAt + BackOff.steadyTime <= loop.now { backOff.reset() }
        openedAt = nil
        if error.isOverload { backOff.giveWay() }
        let announced = announcedPause ?? error.retryAfter
        let pause = backOff.nextPause(announced: announced, using: &random)
        announcedPause = nil
        _ = loop.schedule(at: loop.now + pause, Timer.reconnect)
    }

    private mutating func end(_ error: ClientError) {
        phase = .over(error)
        states?.yield(.over(error))
        states?.finish()
        endObservations(error == .closedByOwner ? nil : error)
        failPending(error)
        failWaiting(error)
        let replies = closeReplies
        closeReplies = []
        for reply in replies { reply(.success(())) }
    }

    // MARK: Closing

    mutating func beginClosing(_ reply: ClientCommand.Reply<Void>) {
        closeReplies.append(reply)
        switch phase {
        case .removing, .closing: return
        case .open: break
        case .idle, .opening, .pausing, .over:
            phase = .closing
            return lose(.closedByOwner)
        }
        phase = .removing
        if let connection { loop.setDeadline(connection, at: loop.now + options.closeTimeout) }
        let tokens = observers.values.compactMap { $0.registration?.token }.sorted()
        endObservations(nil)
        for token in tokens {
            request(.removeObserver(nil)) { RPCRequest.removeObserver(id: $0, token: token) }
        }
        closeIfAllRemoved()
    }

    /// Sends the Close when no answer is awaited any more.
    mutating func closeIfAllRemoved() {
        guard case .removing = phase, pending.isEmpty else { return }
        phase = .closing
        write { session, output in session.appendClose(to: &output) }
    }
}
