/// The observers of this client, and all that a new connection needs to restore them.
///
/// A new connection resumes the session, before anything else: observers of lifetime `token` are
/// still at the broker, others only if it has not noticed that the line broke. Those that it has
/// not are registered anew, with `since`, and all of them where it does not know the session any
/// more.
struct RegistrationTable {
    /// The request that resumes the session.
    struct Resumption {
        let session: String
        let epoch: String
        /// The number above which the broker delivers again.
        let after: UInt64?
    }

    /// The observers by their selectors.
    var observers: [[UInt8]: ClientObserver] = [:]
    /// Whether the client asked to be suspended.
    var isSuspended = false
    /// The session whose observers, leases and farewells these are.
    private var session: String?
    /// The epoch that the numbers of the observers are of.
    private var epoch: String?
    /// The greatest number of a notification that came live on this connection: all observers
    /// have everything below it, because the numbers of one client never decrease.
    var liveSequence: UInt64 = 0
    /// The sequence number of the last connection that received something.
    private var seenSequence: UInt64 = 0

    // MARK: Adding and removing

    /// Adds an observer that is to be registered.
    ///
    /// - Throws: `ClientError.selectorInUse`.
    mutating func add(_ wish: ObserverWish) throws(ClientError) {
        if let selector = selectorInUse(by: wish) { throw .selectorInUse(selector) }
        observers[Array(wish.selector.utf8)] = ClientObserver(wish)
    }

    /// A selector that another observer has too: a frame would not name one of them.
    private func selectorInUse(by wish: ObserverWish) -> String? {
        if let desk = wish.desk {
            return desk.options.selectors.first { observers[Array($0.utf8)] != nil }
        }
        let isInUse =
            observers[Array(wish.selector.utf8)] != nil
            || observers.values.contains { $0.implements(wish.selector.utf8) }
        return isInUse ? wish.selector : nil
    }

    /// Confirms an observer; false if it was removed while the broker registered it.
    mutating func confirm(_ selector: String, _ registration: Registration) -> Bool {
        observers[Array(selector.utf8)]?.confirm(registration) != nil
    }

    /// Removes an observer at the wish of its owner, and returns its token at the broker.
    mutating func remove(_ selector: String) -> String? {
        let observer = observers.removeValue(forKey: Array(selector.utf8))
        observer?.wish.finish(nil, discarding: true)
        return observer?.registration?.token
    }

    /// Forgets an observer that the broker does not have.
    mutating func forget(_ selector: String, _ error: ClientError) {
        let observer = observers.removeValue(forKey: Array(selector.utf8))
        observer?.wish.finish(error, discarding: false)
    }

    /// Removes all observers; without an error, their sequences are emptied.
    mutating func removeAll(_ error: ClientError?) {
        let all = observers
        observers.removeAll()
        for observer in all.values {
            observer.wish.finish(error, discarding: error == nil)
        }
    }

    /// The tokens of the observers at the broker, in order.
    var tokens: [String] {
        observers.values.compactMap { $0.registration?.token }.sorted()
    }

    // MARK: Restoring

    /// Detaches the observers from a connection that was open and has ended.
    mutating func detach() {
        for key in Array(observers.keys) where observers[key]?.isRegistered == true {
            observers[key]?.detach(liveSequence: liveSequence)
        }
        if liveSequence > 0 { seenSequence = liveSequence }
        liveSequence = 0
    }

    /// Begins with the session of the first connection.
    mutating func begin(_ welcome: Welcome) {
        session = welcome.session
        epoch = welcome.epoch
    }

    /// The request that resumes the session; nil before the first one.
    var resumption: Resumption? {
        guard let session, let epoch else { return nil }
        // If only frames of the last number may be missing, the broker gives those again to all
        // observers but the first, whose frame has come.
        let known = observers.values.filter { $0.registration != nil }
        let least = known.compactMap(\.position).min()
        let after = least.map { $0 + 1 == seenSequence ? seenSequence : $0 }
        return Resumption(session: session, epoch: epoch, after: after)
    }

    /// Restores the session with the observers that the broker still has.
    ///
    /// - Returns: the ids of observers that are to be removed at the broker, in order: they were
    ///   removed here without a connection, or never confirmed.
    mutating func restore(ids: [String], _ welcome: Welcome?) -> [String] {
        var unknown = Set(ids)
        for (key, observer) in observers {
            guard let id = observer.registration?.id else { continue }
            if unknown.remove(id) != nil {
                observers[key]?.isRegistered = true
            } else if observer.wish.options.lifetime == .token {
                forget(observer.wish.selector, .observerRemoved(reason: "removed"))
            }
        }
        adoptEpoch(of: welcome)
        return unknown.sorted()
    }

    /// Begins anew with the session of a welcome, to whose client the broker has nothing yet.
    mutating func beginAnew(_ welcome: Welcome?) {
        session = welcome?.session
        for key in observers.keys { observers[key]?.registration = nil }
        adoptEpoch(of: welcome)
    }

    /// Adopts a new epoch: the losses are unknown, and everything that the broker has is to come.
    ///
    /// The broker reports the gap itself to observers that it has kept.
    private mutating func adoptEpoch(of welcome: Welcome?) {
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

    /// The observers that this connection lacks, by their selectors.
    var missing: [ClientObserver] {
        observers.values.filter { !$0.isRegistered }.sorted { $0.wish.selector < $1.wish.selector }
    }
}
