// Deliveries: each finds its observer, a new one is handed over, and owed answers are paid.
extension RegistrationTable {
    // MARK: Frames

    /// Delivers a request of the broker, which wants an answer.
    ///
    /// - Returns: the message that answers it at once, if anything does.
    mutating func deliverRequest(_ id: [UInt8], _ method: [UInt8], _ params: [UInt8]) -> [UInt8]? {
        let request = try? ReceivedNotification(json: params, method: method, call: id)
        if observers[method]?.wish.options.acknowledges == true {
            guard let request else {
                observers[method]?.passOver(params)
                return RPCRequest.answer(id: id, .refused("the frame could not be taken"))
            }
            return deliver(request, to: method, awaiting: id)
        }
        guard let request, let key = request.observer.flatMap({ key(ofID: $0) }),
            observers[key]?.wish.desk != nil
        else { return RPCRequest.methodNotFound(id: id) }
        return deliver(request, to: key, awaiting: id)
    }

    /// Delivers a notification that wants no answer.
    ///
    /// A frame that cannot be read is passed over with a gap, but not that of a value.
    ///
    /// - Throws: `ClientError.notUnderstood` for the frame of a value, which comes whole with the
    ///   next connection.
    mutating func deliverNotice(_ method: [UInt8], _ params: [UInt8]) throws(ClientError) {
        if observers[method] != nil {
            do throws(ClientError) {
                if let notification = try read(params, for: method) {
                    deliver(notification, to: method)
                }
            } catch {
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

    /// Applies a report on an observer: a gap, a removal, an ask that is over.
    mutating func apply(_ method: [UInt8], _ notice: JSONObject) {
        guard let key = notice.string("observer").flatMap({ key(ofID: $0) }),
            let wish = observers[key]?.wish
        else { return }
        let reason = notice.string("reason")
        if method.elementsEqual("belfry.gap".utf8) {
            wish.buffer.append(
                ReceivedNotification.Gap(
                    lostCount: notice.integer("lost"), reason: reason ?? "unknown"))
        } else if method.elementsEqual("belfry.removed".utf8) {
            forget(wish.selector, .observerRemoved(reason: reason ?? ""))
        } else if method.elementsEqual("belfry.settled".utf8), let id = notice.string("id") {
            observers[key]?.owed[id] = nil
            wish.desk?.settle(id)
        }
    }

    /// Reports a frame that cannot be read to all observers, as it may be for any of them.
    func reportUnreadableFrame() {
        for observer in observers.values where observer.isRegistered {
            observer.wish.buffer.append(
                ReceivedNotification.Gap(lostCount: nil, reason: "unknown"))
        }
    }

    // MARK: Observers

    /// Reads the frame of an observer; nil when it brings nothing new.
    ///
    /// The frame of an observer of a value gets the whole value.
    private mutating func read(
        _ params: [UInt8], for key: [UInt8]
    ) throws(ClientError) -> ReceivedNotification? {
        var notification = try ReceivedNotification(json: params, method: key)
        guard observers[key]?.wish.place != nil else { return notification }
        let frame = try ChangeFrame(of: notification)
        guard let value = try observers[key]?.value.apply(frame) else { return nil }
        notification.value = value
        return notification
    }

    /// Hands a notification to its observer, unless it has it already.
    private mutating func deliver(_ notification: ReceivedNotification, to key: [UInt8]) {
        guard let observer = observers[key] else { return }
        let last = observer.lastSequence ?? 0
        // No action comes twice, but several may have one number.
        if notification.isRedelivered, !notification.isAction, notification.sequence <= last {
            return
        }
        advance(key, notification)
        observer.wish.buffer.append(notification)
    }

    /// Hands over a notification that is answered; the broker repeats it until then, also while
    /// the observer has it.
    ///
    /// - Returns: the message with the answer that was given before the broker asked again.
    private mutating func deliver(
        _ notification: ReceivedNotification, to key: [UInt8], awaiting id: [UInt8]
    ) -> [UInt8]? {
        advance(key, notification)
        guard let observer = observers[key] else { return nil }
        let owed = notification.owedKey
        if let answer = observer.owed[owed]?.answer {
            observers[key]?.owed[owed] = nil
            return RPCRequest.answer(id: id, answer.response)
        }
        if observer.owed[owed] != nil {
            observers[key]?.owed[owed]?.id = id
            observers[key]?.owed[owed]?.isAsked = true
            return nil
        }
        let isAsk = notification.answerBy != nil
        observers[key]?.owed[owed] = ClientObserver.OwedAnswer(
            sequence: notification.sequence, isAsk: isAsk, id: id)
        if let desk = observer.wish.desk, isAsk {
            desk.handle(Ask(notification: notification))
        } else {
            observer.wish.buffer.append(notification)
        }
        return nil
    }

    private mutating func advance(_ key: [UInt8], _ notification: ReceivedNotification) {
        let sequence = notification.sequence
        if !notification.isRedelivered { liveSequence = max(liveSequence, sequence) }
        // Another frame may have the number of an action.
        if notification.isAction { return }
        let last = observers[key]?.lastSequence ?? 0
        observers[key]?.lastSequence = max(last, sequence)
    }

    /// The observer with this id.
    private func key(ofID id: String) -> [UInt8]? {
        observers.first { $0.value.registration?.id == id }?.key
    }

    /// The responder that an action or a post comes to: of several each gets the post once.
    private func responder(to notification: ReceivedNotification) -> [UInt8]? {
        let address = notification.target ?? notification.object
        return observers.first { _, observer in
            guard let address, let own = observer.wish.filter.object else { return false }
            return observer.implements((notification.selector ?? notification.name).utf8)
                && own.utf8.elementsEqual(address.utf8)
                && (notification.isAction
                    || observer.lastSequence.map { $0 < notification.sequence } ?? true)
        }?.key
    }

    // MARK: Answers

    /// Pays an answer that an observer owes; a second answer to a delivery has no effect.
    ///
    /// - Returns: the message to the broker; nil where it asks again first, and gets the answer
    ///   then.
    mutating func pay(_ answer: DeliveryAnswer, isOpen: Bool) -> [UInt8]? {
        let key = Array(answer.selector.utf8)
        guard let observer = observers[key], let owed = observer.owed[answer.key] else {
            return nil
        }
        guard isOpen, observer.isRegistered, owed.isAsked else {
            observers[key]?.owed[answer.key]?.answer = answer
            return nil
        }
        observers[key]?.owed[answer.key] = nil
        return RPCRequest.answer(id: owed.id, answer.response)
    }
}
