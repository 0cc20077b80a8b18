// Observers with a `minInterval`: the last of a name and object is sent when its interval is over.

extension NotificationCenter {
    /// The end of the interval of a notification's kind, if it still runs.
    @inline(__always)
    func intervalEnd(
        for notification: Notification, at slot: UInt32, _ time: CommandTime
    ) -> Int64? {
        guard observers[slot].terms.minInterval > 0 else { return nil }
        let kind = ObservedKind(observer: observers[slot].serial, notification.content)
        return paces.end(of: kind, at: time.monotonicNanoseconds)
    }

    /// Starts an interval when a notification is written: the next one of its kind waits for it.
    mutating func startInterval(
        of notification: Notification, at slot: UInt32, _ time: CommandTime
    ) {
        guard observers[slot].terms.minInterval > 0 else { return }
        let now = time.monotonicNanoseconds
        let kind = ObservedKind(observer: observers[slot].serial, notification.content)
        paces.begin(kind, until: now.adding(observers[slot].terms.minInterval), at: now)
    }
}
