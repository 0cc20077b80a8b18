/// The last notifications of a center, for clients that come back (Protocol.md section 6).
struct ReplayRing: Sendable {
    private var notifications = Ring<Notification>()
    /// Bytes of name, object and userInfo that are kept.
    private(set) var byteCount = 0

    /// The bytes that the ring costs.
    var footprint: Int {
        notifications.footprint + Footprint.texts(count: count, byteCount: byteCount)
    }

    /// How many notifications are kept.
    var count: Int { notifications.count }

    /// The sequence number of the oldest notification that is kept.
    var firstSequence: UInt64? { notifications.first?.sequence }

    mutating func append(_ notification: consuming Notification, limits: CenterLimits) {
        byteCount += notification.content.byteCount
        notifications.append(notification)
        trim(to: limits)
    }

    /// Forgets the oldest notifications that are past the limits.
    mutating func trim(to limits: CenterLimits) {
        while notifications.count > limits.replayCountLimit || byteCount > limits.replayByteLimit {
            guard !notifications.isEmpty else { return }
            forgetOldest()
        }
    }

    /// Forgets the oldest notifications until no more than so many are left.
    mutating func trim(toCount count: Int) {
        while notifications.count > count { forgetOldest() }
        notifications.shrink()
    }

    private mutating func forgetOldest() {
        byteCount -= notifications.removeFirst().content.byteCount
    }

    /// Calls the visitor with each notification above a sequence number, oldest first.
    func forEach(above sequence: UInt64, _ visit: (Notification) -> Void) {
        guard let first = firstSequence else { return }
        // Every notification is kept, so their numbers have no holes.
        let skipped = sequence >= first ? sequence - first + 1 : 0
        var position = notifications.startPosition + skipped
        while position < notifications.endPosition {
            visit(notifications[position])
            position += 1
        }
    }
}
