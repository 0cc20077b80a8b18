internal import BelfryLoop
internal import BelfrySystem

// Messages of the broker: deliveries, answers and notices.
extension ClientLoop {
    mutating func take(_ message: RPCInbound) throws(ClientError) {
        switch message {
        case .result(let id, let json): try takeResult(id, json)
        case .failure(let id, let refusal): takeFailure(id, refusal)
        case .request(let id, let method, let params):
            if observers[method]?.wish.options.acknowledges == true {
                guard
                    let delivery = try? ReceivedNotification(
                        json: params, method: method, call: id)
                else {
                    observers[method]?.passOver(params)
                    let reason = "the frame could not be taken"
                    return send(RPCRequest.answer(id: id, .refused(reason)))
                }
                deliver(delivery, to: method, awaiting: id)
            } else if let ask = try? ReceivedNotification(json: params, method: method, call: id),
                let key = ask.observer.flatMap({ key(ofID: $0) }), observers[key]?.wish.desk != nil
            {
                deliver(ask, to: key, awaiting: id)
            } else {
                send(RPCRequest.methodNotFound(id: id))
            }
        case .notice(let method, let params):
            if method.starts(with: "belfry.".utf8) {
                try takeNotice(method, params)
            } else if observers[method] != nil {
                do throws(ClientError) {
                    if let notification = try reading(params, for: method) {
                        deliver(notification, to: method)
                    }
                } catch {
                    // A value comes whole with the next connection.
                    guard observers[method]?.wish.place == nil else { throw error }
                    observers[method]?.passOver(params)
                }
            } else if observers.values.contains(where: { $0.implements(method) }) {
                if let post = try? ReceivedNotification(json: params, method: method),
                    let key = responder(to: post)
                {
                    deliver(post, to: key)
                }
            }
        }
    }

    private mutating func takeResult(_ id: Int, _ json: [UInt8]) throws(ClientError) {
        // The request was given up, and its answer comes too late.
        guard let request = pending.removeValue(forKey: id) else {
            guard abandoned.remove(id) != nil, let token = try? Registration(json: json).token
            else { return }
            return self.request(.removeObserver(nil)) {
                RPCRequest.removeObserver(id: $0, token: token)
            }
        }
        do throws(ClientError) {
            switch request.kind {
            case .addObserver(let selector, let reply):
                let registration = try Registration(json: json)
                registered(selector, registration)
                reply?(.success(registration))
            case .removeObserver(let reply): reply?(.success(()))
            case .post(let reply): reply(.success(try PostReceipt(json: json)))
            case .resume:
                guard let answer = JSONObject(json) else { throw .notUnderstood }
                resumed(observerIDs: answer.objects("observers").compactMap { $0.string("id") })
            case .setSuspended(let isSuspended, let reply):
                self.isSuspended = isSuspended
                reply?(.success(()))
            case .call(let reply): reply(.success(json))
            }
        } catch {
            // The request is not among those that end with the line any more.
            if case .addObserver(let selector, _?) = request.kind {
                forgetObserver(selector, error)
            }
            fail(request.kind, error)
            switch request.kind {
            // A request that no task waits for is made again on another connection.
            case .resume, .addObserver(_, nil): throw error
            case .addObserver, .removeObserver, .post, .setSuspended, .call: break
            }
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
            // Gone or unknown: the removal has its effect.
            reply?(.success(()))
        case .resume: resumeRefused(refusal)
        case .post, .setSuspended, .call: fail(request.kind, .refused(refusal))
        }
        closeIfAllRemoved()
    }

    private mutating func takeNotice(_ method: [UInt8], _ params: [UInt8]) throws(ClientError) {
        if method.elementsEqual("belfry.welcome".utf8) { return begin(try Welcome(json: params)) }
        guard let notice = JSONObject(params) else { return }
        if method.elementsEqual("belfry.draining".utf8) {
            announcedPause = notice.seconds("reconnectAfter").map {
                min(max($0, .zero), AnswerHead.longestPause)
            }
        }
        guard let key = notice.string("observer").flatMap({ key(ofID: $0) }),
            let wish = observers[key]?.wish
        else { return }
        let reason = notice.string("reason")
        if method.elementsEqual("belfry.gap".utf8) {
            wish.buffer.append(
                ReceivedNotification.Gap(
                    lostCount: notice.integer("lost"), reason: reason ?? "unknown"))
        } else if method.elementsEqual("belfry.removed".utf8) {
            forgetObserver(wish.selector, .observerRemoved(reason: reason ?? ""))
        } else if method.elementsEqual("belfry.settled".utf8), let id = notice.string("id") {
            settle(id, of: key)
        }
    }
}
