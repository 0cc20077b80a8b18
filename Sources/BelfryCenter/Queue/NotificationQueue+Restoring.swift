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
