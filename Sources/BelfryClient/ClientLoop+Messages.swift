internal import BelfryLoop
internal import BelfrySystem

// Messages of the broker: deliveries, answers, notices, and the welcome of a connection.
extension ClientLoop {
    mutating func apply(_ event: BrokerSession.Event) {
        switch event {
        case .opened: break
        case .over(let error): lose(error)
        case .text(let text):
            do throws(ClientError) {
                if let message = try? RPCInbound(text) { return try dispatch(message) }
                // A frame that cannot be read comes again: so the next one is passed over.
                guard backOff.passesOverBadFrame(), case .open = phase else {
                    throw .notUnderstood
                }
                registrations.reportUnreadableFrame()
            } catch {
                line.refuse(error)
                lose(error)
            }
        }
    }

    private mutating func dispatch(_ message: RPCInbound) throws(ClientError) {
        switch message {
        case .result(let number, let json): try resolve(number, json)
        case .failure(let number, let refusal): reject(number, refusal)
        case .request(let id, let method, let params):
            if let answer = registrations.deliverRequest(id, method, params) { line.send(answer) }
        case .notice(let method, let params):
            if method.starts(with: "belfry.".utf8) {
                try applyNotice(method, params)
            } else {
                try registrations.deliverNotice(method, params)
            }
        }
    }

    private mutating func applyNotice(
        _ method: [UInt8], _ params: [UInt8]
    ) throws(ClientError) {
        if method.elementsEqual("belfry.welcome".utf8) { return begin(try Welcome(json: params)) }
        guard let notice = JSONObject(params) else { return }
        if method.elementsEqual("belfry.draining".utf8) {
            announcedPause = notice.seconds("reconnectAfter").map {
                min(max($0, .zero), AnswerHead.longestPause)
            }
        }
        registrations.apply(method, notice)
    }

    // MARK: Answers

    private mutating func resolve(_ number: Int, _ json: [UInt8]) throws(ClientError) {
        // The call was given up, and its answer comes too late.
        guard let call = calls.close(number) else {
            guard calls.strikeAbandoned(number), let token = try? Registration(json: json).token
            else { return }
            return self.call(.removeObserver(nil)) {
                RPCRequest.removeObserver(id: $0, token: token)
            }
        }
        do throws(ClientError) {
            switch call {
            case .addObserver(let selector, let reply):
                let registration = try Registration(json: json)
                if !registrations.confirm(selector, registration) {
                    // It was removed while the broker registered it.
                    self.call(.removeObserver(nil)) {
                        RPCRequest.removeObserver(id: $0, token: registration.token)
                    }
                }
                reply?(.success(registration))
            case .removeObserver(let reply): reply?(.success(()))
            case .post(let wish, let reply):
                let receipt = try PostReceipt(json: json)
                if let wish { lasting.note(wish, id: receipt.id) }
                reply(.success(receipt))
            case .resume:
                guard let answer = JSONObject(json) else { throw .notUnderstood }
                restore(ids: answer.objects("observers").compactMap { $0.string("id") })
            case .setSuspended(let isSuspended, let reply):
                registrations.isSuspended = isSuspended
                reply?(.success(()))
            case .method(let write, let reply):
                if let write {
                    let etag = JSONObject(json)?.string("etag")
                    lasting.note(write, etag: etag, at: line.loop.now)
                }
                reply(.success(json))
            case .again(let purpose):
                if let request = lasting.confirm(purpose, json) { makeAgain(request) }
            }
        } catch {
            // The call is not among those that fail with the connection any more.
            if case .addObserver(let selector, _?) = call { registrations.forget(selector, error) }
            call.fail(error)
            switch call {
            // A call that no task waits for is made again on another connection.
            case .resume, .addObserver(_, nil): throw error
            case .addObserver, .removeObserver, .post, .setSuspended, .method, .again: break
            }
        }
        closeIfAllRemoved()
    }

    private mutating func reject(_ number: Int?, _ refusal: BrokerRefusal) {
        guard let number, let call = calls.close(number) else { return }
        switch call {
        case .addObserver(let selector, let reply):
            registrations.forget(selector, .refused(refusal))
            reply?(.failure(.refused(refusal)))
        case .removeObserver(let reply):
            // Gone or unknown: the removal has its effect.
            reply?(.success(()))
        case .resume:
            // A broker that has too much to do is left alone; mostly the session is unknown.
            if let status = refusal.status, status >= 500 {
                lose(.connectionLost)
            } else {
                beginAnew()
            }
        case .again(let purpose):
            let now = line.loop.now
            if let request = lasting.refuse(purpose, refusal, at: now) { makeAgain(request) }
        case .post, .setSuspended, .method: call.fail(.refused(refusal))
        }
        closeIfAllRemoved()
    }

    // MARK: The welcome

    private mutating func begin(_ welcome: Welcome) {
        guard case .opening = phase else { return }
        self.welcome = welcome
        guard let resumption = registrations.resumption else {
            registrations.begin(welcome)
            becomeOpen()
            return executeWaiting()
        }
        guard options.resumes else { return beginAnew() }
        call(.resume) {
            RPCRequest.resume(
                id: $0, session: resumption.session, after: resumption.after,
                epoch: resumption.epoch)
        }
    }

    /// Resumes the session, in which the broker still has these observers.
    private mutating func restore(ids: [String]) {
        let unknown = registrations.restore(ids: ids, welcome)
        becomeOpen()
        for id in unknown {
            call(.removeObserver(nil)) { RPCRequest.removeObserver(id: $0, observer: id) }
        }
        makeLastingAgain(away: lostAt.map { line.loop.now - $0 })
        registerMissing()
    }

    /// Registers everything anew, as the client of the welcome is a new one.
    private mutating func beginAnew() {
        registrations.beginAnew(welcome)
        becomeOpen()
        if registrations.isSuspended {
            call(.setSuspended(true, nil)) { RPCRequest.setSuspended(id: $0, true) }
        }
        makeLastingAgain(away: nil)
        registerMissing()
    }

    /// Makes the writes again that last as long as this client is there.
    private mutating func makeLastingAgain(away: Duration?) {
        for request in lasting.requests(away: away, at: line.loop.now) { makeAgain(request) }
    }

    private mutating func makeAgain(_ request: LastingWrites.Request) {
        call(.again(request.purpose)) {
            RPCRequest.call(id: $0, method: request.method, params: request.params)
        }
    }

    /// Registers the observers that this connection lacks, then executes the commands that waited.
    private mutating func registerMissing() {
        for observer in registrations.missing {
            register(observer.wish, since: observer.since, nil)
        }
        executeWaiting()
    }
}
