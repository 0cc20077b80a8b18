/// Restoring entries from a store, and the digest of a queue.
extension NotificationQueue {
    /// Puts a stored entry back at its place, whatever the limits are.
    mutating func restore(_ record: QueueRecord, at time: CommandTime) {
        insert(Entry(record, at: time))
        nextPlace = max(nextPlace, record.place.addingReportingOverflow(1).partialValue)
    }
}
