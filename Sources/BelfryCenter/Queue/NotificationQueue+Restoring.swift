/// What a store keeps of a queue, and what a digest sees of it.
extension NotificationQueue {
    /// Puts an entry back that a store has kept, at its place; limits are not asked.
    mutating func restore(_ record: QueueRecord, at time: CommandTime) {
        insert(Entry(record, at: time))
        nextPlace = max(nextPlace, record.place.addingReportingOverflow(1).partialValue)
    }

    /// Adds all that can be seen of the queue now or later.
    func addDigest(to digest: inout StateDigest) {
        digest.add(count)
        digest.add(nextPlace)
        if snapshotEnd != 0 { digest.add(snapshotEnd) }
        forEachInPostingOrder { entry in
            entry.addDigest(to: &digest)
            return true
        }
    }
}

extension NotificationQueue.Entry {
    /// The entry that a record tells of; clocks start again.
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

    /// What must last of the entry.
    func record(at time: CommandTime) -> QueueRecord {
        let now = time.monotonicNanoseconds
        return QueueRecord(
            id: id, place: place, content: content, causedBy: causedBy, depth: depth,
            style: style, coalescing: coalescing, modes: modes, mergedCount: mergedCount,
            enqueuedAt: enqueuedAt, delayLeft: Self.left(until: promotesAt, from: now),
            timeToLive: Self.left(until: expiresAt, from: now), isImmediate: isImmediate)
    }

    /// What can be seen of the entry.
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
        for mode in modes { digest.add(mode) }
        digest.add(mergedCount)
        digest.add(enqueuedAt)
        digest.add(promotesAt)
        digest.add(expiresAt)
        digest.add(isImmediate)
        digest.add(isRestored)
    }
}
