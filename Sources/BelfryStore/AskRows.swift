internal import BelfryCenter

/// The asks of all centers that must last.
struct AskRows {
    private let putter: Statement
    private let remover: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT INTO ask
            VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                ?17)
            ON CONFLICT (center, id) DO UPDATE
            SET caused_by = excluded.caused_by, depth = excluded.depth,
                fallback = excluded.fallback, is_once = excluded.is_once,
                asked_at = excluded.asked_at, answer_by = excluded.answer_by,
                principal = excluded.principal, shown = excluded.shown,
                observer = excluded.observer, outcome = excluded.outcome,
                forgotten_at = excluded.forgotten_at, name = excluded.name,
                object = excluded.object, user_info = excluded.user_info,
                checksum = excluded.checksum
            """)
        remover = try connection.prepare("DELETE FROM ask WHERE center = ?1 AND id = ?2")
        reader = try connection.prepare(
            """
            SELECT id, caused_by, depth, fallback, is_once, asked_at, answer_by, principal, shown,
                observer, outcome, forgotten_at, name, object, user_info
            FROM ask WHERE center = ?1 ORDER BY place
            """)
    }

    func put(_ record: AskRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.id)
        putter.bind(record.causedBy)
        putter.bind(record.depth)
        putter.bind(record.fallback)
        putter.bind(record.isOnce)
        putter.bind(record.askedAt)
        putter.bind(record.answerBy)
        putter.bind(record.principal)
        putter.bind(BlobWriter.serials(record.shown))
        putter.bind(record.observer)
        putter.bind(record.end.map { BlobWriter.outcome($0.outcome) })
        putter.bind(record.end?.forgottenAt)
        putter.bind(record.content)
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ id: NotificationID, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(id)
        try remover.run()
    }

    func load(center: Int64, _ tell: (AskRecord) -> Void) throws(StoreError) {
        defer { reader.reset() }
        reader.bind(center)
        while try reader.next() {
            var row = reader.row
            guard let record = Self.read(&row) else { throw .damaged(.brokenRow(.ask)) }
            tell(record)
        }
    }

    private static func read(_ row: inout StatementRow) -> AskRecord? {
        let id = row.id()
        let causedBy = row.id()
        let depth = Int(clamping: row.integer())
        let fallback = row.optionalBytes()
        let isOnce = row.bool()
        let askedAt = row.integer()
        let answerBy = row.integer()
        let principal = row.bytes()
        let shown = BlobReader.serials(row.bytes())
        let observer = row.unsigned()
        let outcome = row.optionalBytes()
        let forgottenAt = row.optionalInteger()
        guard let id, let shown, (outcome == nil) == (forgottenAt == nil) else { return nil }
        var end: AskRecord.End?
        if let outcome, let forgottenAt {
            guard let outcome = BlobReader.outcome(outcome) else { return nil }
            end = AskRecord.End(outcome: outcome, forgottenAt: forgottenAt)
        }
        return AskRecord(
            id: id, content: row.content(), causedBy: causedBy, depth: depth, fallback: fallback,
            isOnce: isOnce, askedAt: askedAt, answerBy: answerBy, principal: principal,
            shown: shown, observer: observer, end: end)
    }
}
