internal import BelfryCenter

/// The losses of observers that they were not told yet.
struct GapRows {
    private let putter: Statement
    private let remover: Statement
    private let observerRemover: Statement
    private let clientRemover: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            "INSERT OR REPLACE INTO gap VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        remover = try connection.prepare(
            "DELETE FROM gap WHERE center = ?1 AND observer = ?2 AND reason = ?3")
        observerRemover = try connection.prepare(
            "DELETE FROM gap WHERE center = ?1 AND observer = ?2")
        clientRemover = try connection.prepare(
            """
            DELETE FROM gap WHERE center = ?1 AND observer IN
                (SELECT serial FROM observer WHERE center = ?1 AND client = ?2)
            """)
    }

    /// Replaces the losses of an observer for one reason.
    func put(_ gap: GapRecord, observer: UInt64, center: Int64) throws(StoreError) {
        if gap.count == 0 {
            remover.bind(center)
            remover.bind(observer)
            remover.bind(Int64(gap.reason.rawValue))
            return try remover.run()
        }
        putter.bind(center)
        putter.bind(observer)
        putter.bind(Int64(gap.reason.rawValue))
        putter.bind(gap.count.map { Int64($0) })
        putter.bind(gap.first)
        putter.bind(gap.last)
        putter.bindChecksum()
        try putter.run()
    }

    func removeAll(ofObserver serial: UInt64, center: Int64) throws(StoreError) {
        observerRemover.bind(center)
        observerRemover.bind(serial)
        try observerRemover.run()
    }

    /// Removes the gaps of all observers of a client, which are there still.
    func removeAll(ofClient id: UInt64, center: Int64) throws(StoreError) {
        clientRemover.bind(center)
        clientRemover.bind(id)
        try clientRemover.run()
    }

    /// Reads the columns behind the center.
    static func read(_ row: inout StatementRow) -> (observer: UInt64, gap: GapRecord)? {
        let observer = row.unsigned()
        let reason = Gap.Reason(rawValue: UInt8(clamping: row.integer()))
        guard let reason else { return nil }
        let count = row.optionalInteger().map { Int(clamping: $0) }
        let first = row.unsigned()
        return (
            observer,
            GapRecord(reason: reason, count: count, first: first, last: row.unsigned())
        )
    }
}
