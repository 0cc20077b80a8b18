// An entry of the queue: its changes by a post and by other entries, and its stored form.

extension NotificationQueue {
    /// One waiting notification, and the others that were merged into it (law 1).
    struct Entry: Sendable, Equatable {
        /// The notification.
        let id: NotificationID
        /// Entries leave in the order of their places.
        let place: UInt64
        /// Name, object and userInfo.
        var content: Notification.Content
        /// The notification whose handling posted it.
        var causedBy: NotificationID?
        /// How long the chain of `causedBy` is with it at its end.
        var depth: Int
        /// When it leaves, `asap` or `idle`.
        var style: PostingStyle
        /// The mask that it was posted with; only the mask of a new post counts (rule Q5).
        let coalescing: Coalescing
        /// The modes in which it may be posted, each once.
        var modes: [[UInt8]]
        /// How many other posts were merged into it.
        var mergedCount: Int
        /// When it was enqueued, in milliseconds since 1970.
        let enqueuedAt: Int64
        /// When it counts as asap, on the monotonic clock in nanoseconds; `Int64.max` is never.
        var promotesAt: Int64
        /// When it is dropped, on the monotonic clock in nanoseconds; `Int64.max` is never.
        var expiresAt: Int64
        /// Whether it is delivered in spite of suspension.
        var isImmediate: Bool
        /// Whether it was in the store in an earlier life of the broker.
        let isRestored: Bool
        /// The owner that it counts for.
        var owner = Owner.none

        /// The bytes that it costs, about.
        var cost: Int {
            Footprint.texts(count: 2, byteCount: content.byteCount)
                + modes.count * MemoryLayout<[UInt8]>.stride + 2 * MemoryLayout<Slot>.stride
        }
    }
}

// Changes by a post and by other entries.
extension NotificationQueue.Entry {
    /// Makes the entry of a post.
    init(
        _ post: borrowing Post, depth: Int, place: UInt64, isRestored: Bool = false,
        at time: CommandTime
    ) {
        let options = post.options
        let now = time.monotonicNanoseconds
        let isIdle = options?.style == .idle
        self.init(
            id: post.id, place: place, content: post.content, causedBy: post.causedBy,
            depth: depth, style: isIdle ? .idle : .asap,
            coalescing: options?.coalescing ?? [.onName, .onSender],
            modes: Self.distinct(options?.modes ?? []), mergedCount: 0,
            enqueuedAt: time.wallMilliseconds,
            promotesAt: isIdle ? now.adding(options?.maxDelay) : .max,
            expiresAt: now.adding(options?.timeToLive),
            isImmediate: options?.isImmediate ?? false, isRestored: isRestored)
    }

    /// Takes over an asap post that changes no more than content and counts; nil if it would.
    ///
    /// - Returns: The identifier of the entry, and how many bytes longer its content is.
    mutating func takeOver(
        _ post: borrowing Post, _ options: PostOptions, _ depth: Int, _ owner: Owner,
        byteRoom: Int
    ) throws(Refusal) -> (id: NotificationID, byteCount: Int)? {
        guard style == .asap, expiresAt == .max, modes == options.modes, owner == self.owner
        else { return nil }
        var growth = 0
        if options.keepsLatest {
            growth = post.content.byteCount - content.byteCount
            if growth > 0, growth > byteRoom { throw .queueBytesFull }
            content = post.content
            causedBy = post.causedBy
        }
        mergedCount += 1
        isImmediate = isImmediate || options.isImmediate
        self.depth = max(self.depth, depth)
        return (id, growth)
    }

    /// Merges the demands of other entries and of a new post into this entry.
    ///
    /// None of them is posted later than it would have been alone (law 1); place, identifier and
    /// mask stay.
    mutating func absorb(_ others: [Self], _ latest: Self, keepsLatest: Bool) {
        for other in others { absorb(other) }  // Bound: similar
        absorb(latest)
        if keepsLatest {
            content = latest.content
            causedBy = latest.causedBy
            owner = latest.owner
        }
    }

    private mutating func absorb(_ other: Self) {
        if other.style == .asap { style = .asap }
        promotesAt = style == .asap ? .max : min(promotesAt, other.promotesAt)
        expiresAt = max(expiresAt, other.expiresAt)
        isImmediate = isImmediate || other.isImmediate
        depth = max(depth, other.depth)
        mergedCount += other.mergedCount + 1
        if modes != other.modes { modes = Self.distinct(modes + other.modes) }
    }

    /// The modes, each once, in the order of their first mention; no modes mean the default one.
    static func distinct(_ modes: [[UInt8]]) -> [[UInt8]] {
        if modes.count == 1 { return modes }
        if modes.isEmpty { return [Mode.default] }
        var known: Set<[UInt8]> = []
        return modes.filter { known.insert($0).inserted }
    }
}

// The stored form, and the digest.
extension NotificationQueue.Entry {
    /// Makes the entry of a record; clocks start again.
    init(_ record: QueueRecord, at time: CommandTime) {
        let now = time.monotonicNanoseconds
        let isIdle = record.style == .idle
        self.init(
            id: record.id, place: record.place, content: record.content,
            causedBy: record.causedBy, depth: record.depth, style: isIdle ? .idle : .asap,
            coalescing: record.coalescing, modes: Self.distinct(record.modes),
            mergedCount: record.mergedCount, enqueuedAt: record.enqueuedAt,
            promotesAt: isIdle ? now.adding(record.delayLeft) : .max,
            expiresAt: now.adding(record.timeToLive), isImmediate: record.isImmediate,
            isRestored: true)
    }

    /// The record of the entry for the store.
    func record(at time: CommandTime) -> QueueRecord {
        let now = time.monotonicNanoseconds
        return QueueRecord(
            id: id, place: place, content: content, causedBy: causedBy, depth: depth,
            style: style, coalescing: coalescing, modes: modes, mergedCount: mergedCount,
            enqueuedAt: enqueuedAt, delayLeft: Self.left(until: promotesAt, from: now),
            timeToLive: Self.left(until: expiresAt, from: now), isImmediate: isImmediate)
    }

    /// The row of the entry in a listing of the queue.
    var row: QueueEntryRow {
        QueueEntryRow(
            id: id, content: content, style: style, coalescing: coalescing, modes: modes,
            mergedCount: mergedCount, enqueuedAt: enqueuedAt)
    }

    private static func left(until time: Int64, from now: Int64) -> Int64? {
        if time == Int64.max { return nil }
        let (left, isTooLong) = time.subtractingReportingOverflow(now)
        return isTooLong ? nil : max(left, 0)
    }

    func addDigest(to digest: inout StateDigest) {
        digest.add(id)
        digest.add(place)
        digest.add(content)
        digest.add(causedBy != nil)
        if let causedBy { digest.add(causedBy) }
        digest.add(depth)
        digest.add(UInt64(style.rawValue))
        digest.add(UInt64(coalescing.rawValue))
        digest.add(modes.count)
        for mode in modes { digest.add(mode) }  // Bound: snapshot
        digest.add(mergedCount)
        digest.add(enqueuedAt)
        digest.add(promotesAt)
        digest.add(expiresAt)
        digest.add(isImmediate)
        digest.add(isRestored)
    }
}

extension NotificationQueue.Entry: Coded {
    init(_ known: NotificationQueue.Entry?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        place = try coder(known?.place)
        content = try coder(known?.content)
        causedBy = try coder(known?.causedBy)
        depth = try coder(known?.depth)
        style = try coder(known?.style)
        coalescing = try coder(known?.coalescing)
        modes = try coder(known?.modes)
        mergedCount = try coder(known?.mergedCount)
        enqueuedAt = try coder(known?.enqueuedAt)
        promotesAt = try coder(known?.promotesAt)
        expiresAt = try coder(known?.expiresAt)
        isImmediate = try coder(known?.isImmediate)
        isRestored = try coder(known?.isRestored)
        owner = try coder(known?.owner)
    }
}
