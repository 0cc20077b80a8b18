internal import BelfryLoop
internal import BelfrySystem

// Observers: registering, delivering, answering, and going on after a lost connection.
//
// A new connection resumes the session, before anything else: observers of lifetime `token` are
// still at the broker, others only if it has not noticed that the line broke. Those that it has not
// are registered anew, with `since`, and all of them where it does not know the session any more.
extension ClientLoop {
    /// An observer of this client.
    struct Observer {
        /// The answer that a delivery asks for.
        struct Owed {
            let sequence: UInt64
            let isAsk: Bool
            /// The id of the request as JSON; it is that of the last time that it came.
            var id: [UInt8]
            /// Whether it was asked on this connection: the broker knows no answer to another one.
            var isAsked = true
            /// The answer that was given before the broker asked again.
            var answer: DeliveryAnswer?
        }

        let wish: ObserverWish
        var registration: Registration?
        /// Whether this connection has it.
        var isRegistered = false
        /// The number up to which everything has come; a new connection continues behind it.
        var lastSequence: UInt64?
        /// The deliveries that are not answered, by their keys (`ReceivedNotification.owedKey`).
        ///
        /// The broker lets an observer owe 1,000 of them at most.
        var owed: [String: Owed] = [:]
        /// The value that it observes, if any.
        var value = FollowedValue()

        /// The number from which a new registration continues: owed deliveries come again.
        var since: UInt64? {
            guard wish.isReplayed, let lastSequence else { return wish.since }
            guard let first = owed.values.map(\.sequence).min(), first > 0 else {
                return lastSequence
            }
            return min(lastSequence, first - 1)
        }
    }

    // MARK: Registering

    mutating func addObserver(
        _ wish: ObserverWish, _ reply: ClientCommand.Reply<Registration>
    ) {
        let key = Array(wish.selector.utf8)
        if let selector = selectorInUse(by: wish) {
            return reply(.failure(.selectorInUse(selector)))
        }
        observers[key] = Observer(wish: wish)
        register(wish, since: wish.since, reply)
    }

    /// A selector that another observer has too: frames would not tell them apart.
    private func selectorInUse(by wish: ObserverWish) -> String? {
        if let desk = wish.desk {
            return desk.options.selectors.first { observers[Array($0.utf8)] != nil }
        }
        let isInUse =
            observers[Array(wish.selector.utf8)] != nil
            || observers.values.contains { $0.implements(wish.selector.utf8) }
        return isInUse ? wish.selector : nil
    }

    private mutating func register(
        _ wish: ObserverWish, since: UInt64?, _ reply: ClientCommand.Reply<Registration>?
    ) {
        request(
            .addObserver(selector: wish.selector, reply),
            within: reply == nil ? nil : wish.options.timeout
        ) {
            RPCRequest.addObserver(id: $0, wish, since: since)
        }
    }

    mutating func registered(_ selector: String, _ registration: Registration) {
        let key = Array(selector.utf8)
        guard var observer = observers[key] else {
            // It was removed while the broker registered it.
            return request(.removeObserver(nil)) {
                RPCRequest.removeObserver(id: $0, token: registration.token)
            }
        }
        observer.registration = registration
        observer.isRegistered = true
        let since = observer.since.map { min($0, registration.since) }
        observer.lastSequence = observer.lastSequence ?? since ?? registration.since
        observers[key] = observer
    }

    /// Without a connection one of lifetime `connection` is gone already, and one of lifetime
    /// `token` is removed when the session is resumed.
    mutating func removeObserver(
        _ selector: String, _ reply: ClientCommand.Reply<Void>
    ) {
        let observer = observers.removeValue(forKey: Array(selector.utf8))
        observer?.wish.finish(nil, discarding: true)
        guard case .open = phase, let token = observer?.registration?.token else {
            return reply(.success(()))
        }
        request(.removeObserver(reply)) { RPCRequest.removeObserver(id: $0, token: token) }
    }

    mutating func forgetObserver(_ selector: String, _ error: ClientError) {
        let observer = observers.removeValue(forKey: Array(selector.utf8))
        observer?.wish.finish(error, discarding: false)
    }

    mutating func endObservations(_ error: ClientError?) {
        let all = observers
        observers.removeAll()
        for observer in all.values {
            observer.wish.finish(error, discarding: error == nil)
        }
    }

    // MARK: Delivering

    /// Hands a notification to its observer, unless it has it already.
    mutating func deliver(_ notification: ReceivedNotification, to key: [UInt8]) {
        guard let observer = observers[key] else { return }
        let last = observer.lastSequence ?? 0
        // No action comes twice, but several may have one number.
        if notification.isRedelivered, !notification.isAction, notification.sequence <= last {
            return
        }
        advance(key, notification)
        observer.wish.buffer.append(notification)
    }

    /// The frame of an observer, or nil when it brings nothing new.
    ///
    /// The frame of an observer of a value has the whole value.
    mutating func reading(
        _ params: [UInt8], for key: [UInt8]
    ) throws(ClientError) -> ReceivedNotification? {
        var notification = try ReceivedNotification(json: params, method: key)
        guard observers[key]?.wish.place != nil else { return notification }
        let frame = try ChangeFrame(of: notification)
        guard let value = try observers[key]?.value.take(frame) else { return nil }
        notification.value = value
        return notification
    }

    /// The same for one that is answered; it comes again until then, also when it is in hand.
    mutating func deliver(
        _ notification: ReceivedNotification, to key: [UInt8], awaiting id: [UInt8]
    ) {
        advance(key, notification)
        guard let observer = observers[key] else { return }
        let owed = notification.owedKey
        if let answer = observer.owed[owed]?.answer {
            observers[key]?.owed[owed] = nil
            send(RPCRequest.answer(id: id, answer.response))
        } else if observer.owed[owed] != nil {
            observers[key]?.owed[owed]?.id = id
            observers[key]?.owed[owed]?.isAsked = true
        } else {
            let isAsk = notification.answerBy != nil
            observers[key]?.owed[owed] = Observer.Owed(
                sequence: notification.sequence, isAsk: isAsk, id: id)
            if let desk = observer.wish.desk, isAsk {
                desk.take(Ask(notification: notification))
            } else {
                observer.wish.buffer.append(notification)
            }
        }
    }

    /// The observer with this id.
    func key(ofID id: String) -> [UInt8]? {
        observers.first { $0.value.registration?.id == id }?.key
    }

    /// The responder that an action or a post comes to: of several each gets the post once.
    func responder(to notification: ReceivedNotification) -> [UInt8]? {
        let address = notification.target ?? notification.object
        return observers.first { _, observer in
            guard let address, let own = observer.wish.object else { return false }
            return observer.implements((notification.selector ?? notification.name).utf8)
                && own.utf8.elementsEqual(address.utf8)
                && (notification.isAction
                    || observer.lastSequence.map { $0 < notification.sequence } ?? true)
        }?.key
    }

    /// Settles an ask whose answer is not awaited any more.
    mutating func settle(_ id: String, of key: [UInt8]) {
        observers[key]?.owed[id] = nil
        observers[key]?.wish.desk?.settle(id)
    }

    private mutating func advance(_ key: [UInt8], _ notification: ReceivedNotification) {
        let sequence = notification.sequence
        if !notification.isRedelivered { liveSequence = max(liveSequence, sequence) }
        // Another frame may have the number of an action.
        if notification.isAction { return }
        let last = observers[key]?.lastSequence ?? 0
        observers[key]?.lastSequence = max(last, sequence)
    }

    /// Passes on what an observer answers; the second answer to a delivery says nothing.
    mutating func answer(_ answer: DeliveryAnswer) {
        let key = Array(answer.selector.utf8)
        guard let observer = observers[key], let owed = observer.owed[answer.key] else {
            return
        }
        guard case .open = phase, observer.isRegistered, owed.isAsked else {
            // The broker delivers it again, and gets the answer then.
            observers[key]?.owed[answer.key]?.answer = answer
            return
        }
        observers[key]?.owed[answer.key] = nil
        send(RPCRequest.answer(id: owed.id, answer.response))
    }

    // MARK: Going on

    /// A connection that was open has ended.
    mutating func leaveObservers() {
        for key in Array(observers.keys) {
            guard var observer = observers[key], observer.isRegistered else { continue }
            observer.isRegistered = false
            // Frames of other observers with the last number itself may be missing.
            observer.lastSequence = max(observer.lastSequence ?? 0, max(liveSequence, 1) - 1)
            // The broker does not expect an answer that it did not ask for again on this
            // connection.
            observer.owed = observer.owed.filter { $0.value.answer == nil }
            for owed in observer.owed.keys { observer.owed[owed]?.isAsked = false }
            observers[key] = observer
        }
        if liveSequence > 0 { seenSequence = liveSequence }
        liveSequence = 0
    }

    /// The broker has welcomed the client.
    mutating func begin(_ welcome: Welcome) {
        guard case .opening = phase else { return }
        self.welcome = welcome
        guard let epoch, let clientSession else {
            epoch = welcome.epoch
            clientSession = welcome.session
            becomeOpen()
            return takeWaiting()
        }
        guard options.resumes else { return beginAnew() }
        // If only frames of the last number may be missing, the broker gives those again to all
        // observers but the first, whose frame has come.
        let known = observers.values.filter { $0.registration != nil }
        let least = known.compactMap(\.lastSequence).min()
        let after = least.map { $0 + 1 == seenSequence ? seenSequence : $0 }
        request(.resume) {
            RPCRequest.resume(id: $0, session: clientSession, after: after, epoch: epoch)
        }
    }

    /// Resumes the session with these observers.
    mutating func resumed(observerIDs: [String]) {
        var unknown = Set(observerIDs)
        for (key, observer) in observers {
            guard let id = observer.registration?.id else { continue }
            if unknown.remove(id) != nil {
                observers[key]?.isRegistered = true
            } else if observer.wish.options.lifetime == .token {
                forgetObserver(observer.wish.selector, .observerRemoved(reason: "removed"))
            }
        }
        adoptEpoch()
        becomeOpen()
        // Removed here while there was no connection, or never confirmed.
        for id in unknown.sorted() {
            request(.removeObserver(nil)) { RPCRequest.removeObserver(id: $0, observer: id) }
        }
        goOn()
    }

    /// The session is not known any more, mostly; a broker that has too much to do is left alone.
    mutating func resumeRefused(_ refusal: BrokerRefusal) {
        if let status = refusal.status, status >= 500 { return lose(.connectionLost) }
        beginAnew()
    }

    /// The client of the welcome is a new one, which has nothing yet.
    private mutating func beginAnew() {
        clientSession = welcome?.session
        for key in observers.keys { observers[key]?.registration = nil }
        adoptEpoch()
        becomeOpen()
        if isSuspended {
            request(.setSuspended(true, nil)) { RPCRequest.setSuspended(id: $0, true) }
        }
        goOn()
    }

    /// Adopts a new epoch: the losses are unknown, and everything that the broker has is to come.
    ///
    /// The broker reports the gap itself to observers that it has kept.
    private mutating func adoptEpoch() {
        guard let welcome, welcome.epoch != epoch else { return }
        epoch = welcome.epoch
        seenSequence = 0
        for key in Array(observers.keys) {
            guard let observer = observers[key], observer.lastSequence != nil else { continue }
            if !observer.isRegistered, observer.wish.place == nil {
                observer.wish.buffer.append(
                    ReceivedNotification.Gap(lostCount: nil, reason: "unknown"))
            }
            observers[key]?.forgetNumbers()
        }
    }

    /// Registers the observers that this connection lacks, then takes the commands that waited.
    private mutating func goOn() {
        let missing = observers.values.filter { !$0.isRegistered }
        for observer in missing.sorted(by: { $0.wish.selector < $1.wish.selector }) {
            register(observer.wish, since: observer.since, nil)
        }
        takeWaiting()
    }
}

extension ClientLoop.Observer {
    /// Whether it is a responder that implements this selector.
    func implements(_ selector: some Sequence<UInt8>) -> Bool {
        wish.desk?.options.selectors.contains { $0.utf8.elementsEqual(selector) } ?? false
    }

    /// Steps over a frame that cannot be taken, and would come again with each connection.
    mutating func passOver(_ params: [UInt8]) {
        let sequence = JSONObject(params)?.integer("seq").flatMap { UInt64(exactly: $0) }
        if let sequence { lastSequence = max(lastSequence ?? 0, sequence) }
        wish.buffer.append(
            ReceivedNotification.Gap(lostCount: sequence.map { _ in 1 }, reason: "unknown"))
    }

    /// The numbers begin anew.
    ///
    /// Asks go by their ids, and come again.
    mutating func forgetNumbers() {
        lastSequence = 0
        owed = owed.filter(\.value.isAsk)
    }
}
