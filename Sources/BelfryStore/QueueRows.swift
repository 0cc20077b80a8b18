internal import BelfryCenter

/// The queue entries of all centers.
struct QueueRows {
    private let putter: Statement
    private let remover: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT OR REPLACE INTO queue
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            """)
        remover = try connection.prepare("DELETE FROM queue WHERE center = ?1 AND id = ?2")
        reader = try connection.prepare(
            """
            SELECT id, place, caused_by, depth, style, coalescing, modes, merged, enqueued_at,
                delay_left, time_to_live, is_immediate, name, object, user_info
            FROM queue WHERE center = ?1 ORDER BY place, id
            """)
    }

    func put(_ record: QueueRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.id)
        putter.bind(record.place)
        putter.bind(record.causedBy)
        putter.bind(record.depth)
        putter.bind(Int64(record.style.rawValue))
        putter.bind(Int64(record.coalescing.rawValue))
        putter.bind(BlobWriter.texts(record.modes))
        putter.bind(record.mergedCount)
        putter.bind(record.enqueuedAt)
        putter.bind(record.delayLeft)
        putter.bind(record.timeToLive)
        putter.bind(record.isImmediate)
        putter.bind(record.content)
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ id: NotificationID, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(id)
        try remover.run()
    }

    func load(center: Int64, _ tell: (QueueRecord) -> Void) throws(StoreError) {
        defer { reader.reset() }
        reader.bind(center)
        while try reader.next() {
            var row = reader.row
            guard let record = Self.read(&row) else { throw .damaged(.brokenRow(.queue)) }
            tell(record)
        }
    }

    private static func read(_ row: inout StatementRow) -> QueueRecord? {
        let id = row.id()
        let place = row.unsigned()
        let causedBy = row.id()
        let depth = Int(clamping: row.integer())
        let style = PostingStyle(rawValue: UInt8(clamping: row.integer()))
        let coalescing = Coalescing(rawValue: UInt8(truncatingIfNeeded: row.integer()))
        let modes = BlobReader.texts(row.bytes())
        let mergedCount = Int(clamping: row.integer())
        let enqueuedAt = row.integer()
        let delayLeft = row.optionalInteger()
        let timeToLive = row.optionalInteger()
        let isImmediate = row.bool()
        guard let id, let style, let modes else { return nil }
        return QueueRecord(
            id: id, place: place, content: row.content(), causedBy: causedBy, depth: depth,
            style: style, coalescing: coalescing, modes: modes, mergedCount: mergedCount,
            enqueuedAt: enqueuedAt, delayLeft: delayLeft, timeToLive: timeToLive,
            isImmediate: isImmediate)
    }
}
