internal import BelfryCenter

/// The values of all centers: a document is a row, which is written whole.
struct ValueRows {
    private let putter: Statement
    private let remover: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT OR REPLACE INTO value (
                center, object, document, changed, changed_at, parts, checksum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """)
        remover = try connection.prepare("DELETE FROM value WHERE center = ?1 AND object = ?2")
    }

    func put(_ record: ValueRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.object)
        putter.bind(record.text)
        putter.bind(record.changedSequence)
        putter.bind(record.changedAt)
        putter.bind(BlobWriter.parts(record.parts))
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ object: [UInt8], center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(object)
        try remover.run()
    }

    /// Reads the columns behind the center.
    static func read(_ row: inout StatementRow) -> ValueRecord? {
        let object = row.bytes()
        let text = row.bytes()
        let changed = row.unsigned()
        let changedAt = row.integer()
        guard let parts = BlobReader.parts(row.bytes()) else { return nil }
        return ValueRecord(
            object: object, text: text, changedSequence: changed, changedAt: changedAt,
            parts: parts)
    }
}
