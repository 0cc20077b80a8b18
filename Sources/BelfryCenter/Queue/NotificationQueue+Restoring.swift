/// Restoring entries from a store, and the digest of a queue.
extension NotificationQueue {
    /// Puts a stored entry back at its place, whatever the limits are.
    mutating func restore(_ record: QueueRecord, at time: CommandTime) {
        insert(Entry(record, at: time))
        nextPlace = max(nextPlace, record.place.addingReportingOverflow(1).partialValue)
    }

    /// Adds all that can be observed of the queue now or later.
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
