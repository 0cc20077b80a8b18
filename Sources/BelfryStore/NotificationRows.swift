internal import BelfryCenter

/// The notifications that are held: one row each, and a small one for each holder.
struct NotificationRows {
    private let putter: Statement
    private let remover: Statement
    private let heldPutter: Statement
    private let heldRemover: Statement
    private let allHeldRemover: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            "INSERT OR REPLACE INTO notification VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
        remover = try connection.prepare(
            "DELETE FROM notification WHERE center = ?1 AND sequence = ?2")
        heldPutter = try connection.prepare("INSERT OR REPLACE INTO held VALUES (?1, ?2, ?3, ?4)")
        heldRemover = try connection.prepare(
            "DELETE FROM held WHERE center = ?1 AND sequence = ?2 AND observer = ?3")
        allHeldRemover = try connection.prepare(
            "DELETE FROM held WHERE center = ?1 AND sequence = ?2")
    }

    func put(_ record: NotificationRecord, center: Int64) throws(StoreError) {
        let notification = record.notification
        putter.bind(center)
        putter.bind(notification.sequence)
        putter.bind(notification.id)
        putter.bind(notification.postedAt)
        putter.bind(notification.causedBy)
        putter.bind(record.timeToLive)
        putter.bind(notification.content)
        putter.bindChecksum()
        try putter.run()
    }

    /// Removes a notification and the rows of all holders, also of removed observers.
    func remove(_ sequence: UInt64, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(sequence)
        try remover.run()
        allHeldRemover.bind(center)
        allHeldRemover.bind(sequence)
        try allHeldRemover.run()
    }

    func hold(
        _ sequence: UInt64, observer: UInt64, center: Int64
    ) throws(StoreError) {
        heldPutter.bind(center)
        heldPutter.bind(sequence)
        heldPutter.bind(observer)
        heldPutter.bindChecksum()
        try heldPutter.run()
    }

    func release(
        _ sequence: UInt64, observer: UInt64, center: Int64
    ) throws(StoreError) {
        heldRemover.bind(center)
        heldRemover.bind(sequence)
        heldRemover.bind(observer)
        try heldRemover.run()
    }

    /// Reads the columns behind the center.
    static func read(_ row: inout StatementRow) -> NotificationRecord? {
        let sequence = row.unsigned()
        let id = row.id()
        let postedAt = row.integer()
        let causedBy = row.id()
        let timeToLive = row.optionalInteger()
        guard let id else { return nil }
        let notification = Notification(
            id: id, sequence: sequence, postedAt: postedAt, causedBy: causedBy,
            content: row.content(), isRestored: true)
        return NotificationRecord(notification: notification, timeToLive: timeToLive)
    }

    /// Reads the columns of a row of a holder behind the center.
    static func readHeld(_ row: inout StatementRow) -> (sequence: UInt64, observer: UInt64)? {
        (row.unsigned(), row.unsigned())
    }
}
