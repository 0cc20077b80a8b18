// Observers with a `minInterval`: the last of a name and object comes when its interval is over.

extension NotificationCenter {
    /// When the interval of a notification's kind is over, if it runs still.
    @inline(__always)
    func intervalEnd(
        for notification: Notification, at slot: UInt32, _ time: CommandTime
    ) -> Int64? {
        guard observers[slot].terms.minInterval > 0 else { return nil }
        let kind = ObservedKind(observer: observers[slot].serial, notification.content)
        guard let end = paces[kind], end > time.monotonicNanoseconds else { return nil }
        return end
    }

    /// A notification is written now: the next one of its kind waits for an interval.
    mutating func startInterval(
        of notification: Notification, at slot: UInt32, _ time: CommandTime
    ) {
        guard observers[slot].terms.minInterval > 0 else { return }
        let now = time.monotonicNanoseconds
        if paces.count > 1_024, paces.count > 2 * livePaceCount {
            paces = paces.filter { $0.value > now }
            if paces.count > Self.paceLimit { paces = [:] }
            livePaceCount = paces.count
        }
        let kind = ObservedKind(observer: observers[slot].serial, notification.content)
        paces[kind] = now.adding(observers[slot].terms.minInterval)
    }

    /// How many intervals that still run are remembered; past it all of them are forgotten, and some
    /// notifications come sooner than they should.
    static let paceLimit = 100_000
}
