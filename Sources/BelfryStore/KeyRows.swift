internal import BelfryCenter

/// The idempotency keys of all centers, with their answers.
struct KeyRows {
    private let putter: Statement
    private let remover: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT INTO key VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (center, principal, text) DO UPDATE
            SET request_hash = excluded.request_hash, form = excluded.form,
                answer = excluded.answer, checksum = excluded.checksum
            """)
        remover = try connection.prepare(
            "DELETE FROM key WHERE center = ?1 AND principal = ?2 AND text = ?3")
        reader = try connection.prepare(
            """
            SELECT principal, text, request_hash, form, answer FROM key WHERE center = ?1
            ORDER BY place
            """)
    }

    func put(_ record: KeyRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.key.principal)
        putter.bind(record.key.text)
        putter.bind(record.key.requestHash)
        putter.bind(Int64(record.key.form))
        putter.bind(BlobWriter.answer(of: record))
        putter.bindChecksum()
        try putter.run()
    }

    func remove(
        principal: [UInt8], text: [UInt8], center: Int64
    ) throws(StoreError) {
        remover.bind(center)
        remover.bind(principal)
        remover.bind(text)
        try remover.run()
    }

    func load(center: Int64, _ tell: (KeyRecord) -> Void) throws(StoreError) {
        defer { reader.reset() }
        reader.bind(center)
        while try reader.next() {
            var row = reader.row
            guard let record = Self.read(&row) else { throw .damaged(.brokenRow(.key)) }
            tell(record)
        }
    }

    private static func read(_ row: inout StatementRow) -> KeyRecord? {
        let (principal, text) = (row.bytes(), row.bytes())
        guard let hash = row.hash() else { return nil }
        let form = UInt8(truncatingIfNeeded: row.integer())
        let key = IdempotencyKey(
            principal: principal, text: text, requestHash: hash, form: form)
        return BlobReader.record(of: key, answer: row.bytes())
    }
}
