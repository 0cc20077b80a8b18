/// The last notifications of a center, for clients that reconnect (Protocol.md section 6).
struct ReplayRing: Footprinted, Sendable {
    private var notifications = Ring<Notification>()
    /// Bytes of name, object and userInfo that are kept.
    private(set) var byteCount = 0
    private var countLimit: Int
    private var byteLimit: Int

    /// Makes an empty ring.
    init(limits: CenterLimits) {
        countLimit = limits.replayCountLimit
        byteLimit = limits.replayByteLimit
    }

    /// Sets other limits, and forgets notifications past them.
    mutating func configure(_ limits: CenterLimits) {
        countLimit = limits.replayCountLimit
        byteLimit = limits.replayByteLimit
        trim()
    }

    /// The bytes that the ring costs.
    var footprint: Int {
        notifications.footprint + Footprint.texts(count: count, byteCount: byteCount)
    }

    /// How many notifications are kept.
    var count: Int { notifications.count }

    /// The number of the newest forgotten notification: all above it but asks are kept.
    private(set) var forgottenThrough: UInt64 = 0
    /// When that was posted, in milliseconds since 1970, or the start for one of an earlier life.
    private(set) var forgottenAt = Int64.min

    /// Begins in a center that has used numbers in an earlier life.
    mutating func begin(above sequence: UInt64, at time: Int64) {
        (forgottenThrough, forgottenAt) = (sequence, time)
    }

    mutating func append(_ notification: consuming Notification) {
        byteCount += notification.content.byteCount
        notifications.append(notification)
        trim()
    }

    /// Forgets the oldest notifications that are past the limits.
    private mutating func trim() {
        while notifications.count > countLimit || byteCount > byteLimit {  // Bound: forgotten
            guard !notifications.isEmpty else { return }
            forgetOldest()
        }
    }

    /// Forgets the oldest notifications until no more than so many are left.
    mutating func trim(toCount count: Int) {
        while notifications.count > count { forgetOldest() }  // Bound: forgotten
        notifications.shrink()
    }

    private mutating func forgetOldest() {
        let oldest = notifications.removeFirst()
        forgottenThrough = oldest.sequence
        forgottenAt = oldest.postedAt
        byteCount -= oldest.content.byteCount
    }

    /// Calls the visitor with each notification above a sequence number, oldest first.
    func forEach(above sequence: UInt64, _ visit: (Notification) -> Void) {
        var position = position(above: sequence)
        while position < notifications.endPosition {  // Bound: resume
            visit(notifications[position])
            position += 1
        }
    }

    /// The positions of its notifications.
    var positions: Range<UInt64> { notifications.startPosition..<notifications.endPosition }

    /// The notification at a position.
    subscript(position: UInt64) -> Notification { notifications[position] }

    /// The last number that was posted before a time, where all behind it were posted later.
    func last(postedBefore time: Int64) -> UInt64? {
        let position = positions.firstPlace { notifications[$0].postedAt >= time }
        return position > positions.lowerBound ? notifications[position - 1].sequence : nil
    }

    /// Removes the content of a notification, which nobody gets any more; its number stays.
    mutating func erase(_ sequence: UInt64) {
        let position = position(above: max(sequence, 1) - 1)
        guard positions.contains(position), notifications[position].sequence == sequence else {
            return
        }
        byteCount -= notifications[position].content.byteCount
        notifications.update(position) { $0 = $0.erased }
    }

    /// The position of the first notification above a number; the numbers of asks are not here.
    func position(above sequence: UInt64) -> UInt64 {
        (notifications.startPosition..<notifications.endPosition).firstPlace {
            notifications[$0].sequence > sequence
        }
    }
}

extension ReplayRing: Coded {
    init(_ known: ReplayRing?, by coder: inout some Coder) throws(CodeError) {
        notifications = try coder(known?.notifications)
        byteCount = try coder(known?.byteCount)
        countLimit = try coder(known?.countLimit)
        byteLimit = try coder(known?.byteLimit)
        forgottenThrough = try coder(known?.forgottenThrough)
    }
}
