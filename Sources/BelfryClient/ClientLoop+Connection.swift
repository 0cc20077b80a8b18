internal import BelfryLoop
internal import BelfrySystem
internal import BelfryWebSocket

extension ClientLoop {
    // MARK: Making a connection

    mutating func connect(_ reply: ClientCommand.Reply<Void>?) {
        phase = .opening(reply)
        do throws(SystemCallError) {
            let id = try loop.connect(to: url.address)
            connection = id
            loop.setDeadline(id, at: loop.now + options.openingTimeout)
        } catch {
            lose(.system(error))
        }
    }

    mutating func sendOpening(_ id: ConnectionID) {
        session = BrokerSession(options, random: SystemRandom())
        let start = loop.output.count
        session?.appendOpening(url, to: &loop.output)
        loop.send(start..<loop.output.count, to: id, as: .answer)
    }

    mutating func reconnect() {
        guard case .pausing = phase else { return }
        connect(nil)
    }

    private mutating func take(_ welcome: Welcome) {
        let isSameEpoch = self.welcome?.epoch == welcome.epoch
        self.welcome = welcome
        guard case .opening(let reply) = phase else { return }
        phase = .open
        backOff.reset()
        if let connection { loop.setDeadline(connection, at: loop.now + options.silenceLimit) }
        reply?(.success(()))
        for observer in observers.values.sorted(by: { $0.wish.selector < $1.wish.selector }) {
            if !isSameEpoch {
                // Numbers of another epoch say nothing: what was missed cannot be known.
                observer.wish.buffer.append(
                    ReceivedNotification.Gap(lostCount: nil, reason: "unknown"))
            }
            register(observer.wish, since: isSameEpoch ? observer.lastSequence : nil, nil)
        }
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

    mutating func receive(_ input: [UInt8], byteCount: Int) {
        isProbing = false
        var events: [BrokerSession.Event] = []
        write { session, output in
            events = session.receive(input.span.extracting(0..<byteCount), output: &output)
        }
        switch phase {
        case .open:
            if let connection { loop.setDeadline(connection, at: loop.now + options.silenceLimit) }
        case .idle, .opening, .pausing, .removing, .closing, .over: break
        }
        // A message that is not understood ends the connection, and what came behind it is void.
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
                try take(try RPCInbound(text))
            } catch {
                write { session, output in
                    _ = session.fail(error, .protocolError, to: &output)
                }
                lose(error)
            }
        }
    }

    // MARK: Messages

    private mutating func take(_ message: RPCInbound) throws(ClientError) {
        switch message {
        case .result(let id, let json): try takeResult(id, json)
        case .failure(let id, let refusal): takeFailure(id, refusal)
        case .request(let id): send(RPCRequest.methodNotFound(id: id))
        case .notice(let method, let params):
            if method.starts(with: "belfry.".utf8) {
                try takeNotice(method, params)
            } else if observers[method] != nil {
                let notification = try ReceivedNotification(json: params)
                observers[method]?.lastSequence = notification.sequence
                observers[method]?.wish.buffer.append(notification)
            }
        }
    }

    private mutating func takeResult(_ id: Int, _ json: [UInt8]) throws(ClientError) {
        // The answer to a request that was given up comes too late for anybody.
        guard let request = pending.removeValue(forKey: id) else { return }
        switch request.kind {
        case .addObserver(let selector, let reply):
            let registration = try Registration(json: json)
            let key = Array(selector.utf8)
            if observers[key] == nil {
                // It was removed while the broker registered it.
                self.request(.removeObserver(nil)) {
                    RPCRequest.removeObserver(id: $0, token: registration.token)
                }
            }
            observers[key]?.registration = registration
            if observers[key]?.lastSequence == nil {
                observers[key]?.lastSequence = registration.since
            }
            reply?(.success(registration))
        case .removeObserver(let reply): reply?(.success(()))
        case .post(let reply): reply(.success(try PostReceipt(json: json)))
        }
        closeIfAllRemoved()
    }

    private mutating func takeFailure(_ id: Int?, _ refusal: BrokerRefusal) {
        guard let id, let request = pending.removeValue(forKey: id) else { return }
        switch request.kind {
        case .addObserver(let selector, let reply):
            forgetObserver(selector, .refused(refusal))
            reply?(.failure(.refused(refusal)))
        case .removeObserver(let reply):
            // Gone or unknown: what was wanted is so.
            reply?(.success(()))
        case .post(let reply): reply(.failure(.refused(refusal)))
        }
        closeIfAllRemoved()
    }

    private mutating func takeNotice(_ method: [UInt8], _ params: [UInt8]) throws(ClientError) {
        if method.elementsEqual("belfry.welcome".utf8) { return take(try Welcome(json: params)) }
        guard let notice = JSONObject(params) else { throw .notUnderstood }
        if method.elementsEqual("belfry.gap".utf8), let selector = notice.string("selector") {
            let gap = ReceivedNotification.Gap(
                lostCount: notice.integer("lost"), reason: notice.string("reason") ?? "unknown")
            observers[Array(selector.utf8)]?.wish.buffer.append(gap)
        } else if method.elementsEqual("belfry.removed".utf8), let id = notice.string("observer") {
            let removed = observers.first { $0.value.registration?.id == id }
            guard let selector = removed?.value.wish.selector else { return }
            forgetObserver(selector, .observerRemoved(reason: notice.string("reason") ?? ""))
        }
    }

    // MARK: The end of a connection

    mutating func deadlinePassed(_ id: ConnectionID) {
        switch phase {
        case .open where !isProbing:
            isProbing = true
            write { session, output in session.appendPing(to: &output) }
            loop.setDeadline(id, at: loop.now + options.silenceLimit)
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
        case .finished, .reset, .timedOut: lose(.connectionLost)
        }
    }

    /// The connection is over, or will be when its last output has left.
    private mutating func lose(_ error: ClientError) {
        if let connection { loop.closeAfterFlush(connection, lingering: true) }
        connection = nil
        session = nil
        isProbing = false
        let reached = phase
        switch reached {
        case .idle, .pausing, .over: return
        case .removing, .closing: return end(.closedByOwner)
        case .opening(let reply?):
            phase = .over(error)
            return reply(.failure(error))
        case .opening, .open: break
        }
        // A request for an observer that was asked for on this connection has its owner's reply to
        // fail; those that were registered before stay, for the next connection.
        for (_, request) in pending {
            if case .addObserver(let selector, _?) = request.kind {
                forgetObserver(selector, error)
            }
        }
        failPending(error)
        guard options.reconnects, error.isWorthRetrying else { return end(error) }
        phase = .pausing
        let pause = backOff.nextPause(using: &random)
        _ = loop.schedule(at: loop.now + pause, Timer.reconnect)
    }

    private mutating func end(_ error: ClientError) {
        phase = .over(error)
        endObservations(error == .closedByOwner ? nil : error)
        failPending(error)
        let replies = closeReplies
        closeReplies = []
        for reply in replies { reply(.success(())) }
    }

    // MARK: Closing

    mutating func beginClosing(_ reply: @escaping ClientCommand.Reply<Void>) {
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
    private mutating func closeIfAllRemoved() {
        guard case .removing = phase, pending.isEmpty else { return }
        phase = .closing
        write { session, output in session.appendClose(to: &output) }
    }
}
