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

    /// Begins in a center that has used numbers in an earlier life.
    mutating func begin(above sequence: UInt64) { forgottenThrough = sequence }

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

    /// The position of the first notification above a number; the numbers of asks are not here.
    private func position(above sequence: UInt64) -> UInt64 {
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
