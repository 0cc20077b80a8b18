internal import BelfryCenter

/// The timers of all centers.
struct TimerRows {
    private let putter: Statement
    private let remover: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT OR REPLACE INTO timer
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)
            """)
        remover = try connection.prepare("DELETE FROM timer WHERE center = ?1 AND id = ?2")
        reader = try connection.prepare(
            """
            SELECT id, caused_by, depth, posted_at, due_at, is_restored, style, coalescing, \
            keeps_latest, modes,
                max_delay, time_to_live, is_immediate, delay, scope, client, principal, has_key,
                period, start_at, next, fired, missed, last_made, lease_left, name, object, \
            user_info
            FROM timer WHERE center = ?1 ORDER BY id
            """)
    }

    func put(_ record: TimerRecord, center: Int64) throws(StoreError) {
        let options = record.post.options ?? PostOptions()
        putter.bind(center)
        putter.bind(record.post.id)
        putter.bind(record.post.causedBy)
        putter.bind(record.depth)
        putter.bind(record.postedAt)
        putter.bind(record.dueAt)
        putter.bind(record.isRestored)
        putter.bind(options.style.map { Int64($0.rawValue) })
        putter.bind(Int64(options.coalescing.rawValue))
        putter.bind(options.keepsLatest)
        putter.bind(BlobWriter.texts(options.modes))
        putter.bind(options.maxDelay)
        putter.bind(options.timeToLive)
        putter.bind(options.isImmediate)
        putter.bind(options.timer?.delay)
        putter.bind(BlobWriter.scope(record.scope))
        putter.bind(record.client.map { Int64(bitPattern: $0) })
        putter.bind(record.principal?.name)
        putter.bind(record.principal?.hasKey ?? false)
        putter.bind(options.timer?.period)
        putter.bind(record.repetition?.startAt)
        putter.bind(record.repetition?.next)
        putter.bind(record.repetition?.fired)
        putter.bind(record.repetition?.missed)
        putter.bind(record.repetition?.lastMade)
        putter.bind(record.repetition?.leaseLeft)
        putter.bind(record.post.content)
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ id: NotificationID, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(id)
        try remover.run()
    }

    func load(center: Int64, _ tell: (TimerRecord) -> Void) throws(StoreError) {
        defer { reader.reset() }
        reader.bind(center)
        while try reader.next() {
            var row = reader.row
            guard let record = Self.read(&row) else { throw .damaged(.brokenRow(.timer)) }
            tell(record)
        }
    }

    private static func read(_ row: inout StatementRow) -> TimerRecord? {
        let id = row.id()
        let causedBy = row.id()
        let depth = Int(clamping: row.integer())
        let postedAt = row.integer()
        let dueAt = row.optionalInteger()
        let isRestored = row.bool()
        let options = readOptions(&row)
        let delay = row.optionalInteger()
        let scope = BlobReader.scope(row.optionalBytes())
        let client = row.optionalInteger().map { UInt64(bitPattern: $0) }
        let principal = row.optionalBytes()
        let hasKey = row.bool()
        let period = row.optionalInteger()
        let repetition = readRepetition(&row)
        guard let id, let options, let scope, (period == nil) == (repetition == nil),
            principal == nil || delay != nil
        else { return nil }
        let timer = TimerTerms(
            start: delay.map { .after($0) }, period: period, isFarewell: principal != nil)
        return TimerRecord(
            post: Post(
                id: id, content: row.content(), causedBy: causedBy, options: options(timer)),
            depth: depth, postedAt: postedAt, dueAt: dueAt, isRestored: isRestored, scope: scope,
            client: client,
            principal: principal.map { TimerRecord.Principal(name: $0, hasKey: hasKey) },
            repetition: repetition)
    }

    /// Reads the options, which still need the terms of the timer.
    private static func readOptions(
        _ row: inout StatementRow
    ) -> ((TimerTerms) -> PostOptions)? {
        let style = row.optionalInteger().map { PostingStyle(rawValue: UInt8(clamping: $0)) }
        let coalescing = Coalescing(rawValue: UInt8(truncatingIfNeeded: row.integer()))
        let keepsLatest = row.bool()
        let modes = BlobReader.texts(row.bytes())
        let maxDelay = row.optionalInteger()
        let timeToLive = row.optionalInteger()
        let isImmediate = row.bool()
        guard let style = style ?? nil, let modes else { return nil }
        return { timer in
            PostOptions(
                style: style, coalescing: coalescing, keepsLatest: keepsLatest, modes: modes,
                maxDelay: maxDelay, isImmediate: isImmediate, timeToLive: timeToLive,
                timer: timer)
        }
    }

    private static func readRepetition(
        _ row: inout StatementRow
    ) -> TimerRecord.Repetition? {
        let startAt = row.optionalInteger()
        let next = row.optionalInteger()
        let fired = row.optionalInteger()
        let missed = row.optionalInteger()
        let lastMade = row.optionalInteger()
        let leaseLeft = row.optionalInteger()
        guard let startAt, let next, let fired, let missed else { return nil }
        return TimerRecord.Repetition(
            startAt: startAt, next: next, fired: fired, missed: missed, lastMade: lastMade,
            leaseLeft: leaseLeft)
    }
}

extension TimerTerms {
    /// The delay of the first firing, or of a farewell, in nanoseconds; nil where a time of day was
    /// asked for.
    fileprivate var delay: Int64? {
        if case .after(let delay) = start { return delay }
        return isFarewell ? 0 : nil
    }
}
