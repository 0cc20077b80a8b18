internal import BelfryCenter

/// The observers of all centers.
struct ObserverRows {
    private let putter: Statement
    private let remover: Statement
    private let clientRemover: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT OR REPLACE INTO observer
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                ?18)
            """)
        remover = try connection.prepare("DELETE FROM observer WHERE center = ?1 AND serial = ?2")
        clientRemover = try connection.prepare(
            "DELETE FROM observer WHERE center = ?1 AND client = ?2")
        reader = try connection.prepare(
            """
            SELECT serial, client, token_hash, name, object, selector, behavior, acknowledges,
                ends_with_connection, hold_limit, min_interval, lease, since, created_at,
                acknowledged_through, forgotten_through
            FROM observer WHERE center = ?1 ORDER BY serial
            """)
    }

    func put(_ record: ObserverRecord, center: Int64) throws(StoreError) {
        putter.bind(center)
        putter.bind(record.serial)
        putter.bind(record.client)
        putter.bind(record.tokenHash)
        putter.bind(record.name)
        putter.bind(record.object)
        putter.bind(record.selector)
        putter.bind(Int64(record.terms.suspensionBehavior.rawValue))
        putter.bind(record.terms.acknowledges)
        putter.bind(record.terms.endsWithConnection)
        putter.bind(record.terms.holdLimit)
        putter.bind(record.terms.minInterval)
        putter.bind(record.terms.lease)
        putter.bind(record.since)
        putter.bind(record.createdAt)
        putter.bind(record.acknowledgedThrough)
        putter.bind(record.forgottenThrough)
        putter.bindChecksum()
        try putter.run()
    }

    func remove(_ serial: UInt64, center: Int64) throws(StoreError) {
        remover.bind(center)
        remover.bind(serial)
        try remover.run()
    }

    func removeAll(ofClient id: UInt64, center: Int64) throws(StoreError) {
        clientRemover.bind(center)
        clientRemover.bind(id)
        try clientRemover.run()
    }

    func load(center: Int64, _ tell: (ObserverRecord) -> Void) throws(StoreError) {
        defer { reader.reset() }
        reader.bind(center)
        while try reader.next() { tell(try read()) }
    }

    private func read() throws(StoreError) -> ObserverRecord {
        let serial = reader.unsigned()
        let client = reader.unsigned()
        let hash = reader.hash()
        let name = reader.optionalBytes()
        let object = reader.optionalBytes()
        let selector = reader.bytes()
        let behavior = SuspensionBehavior(rawValue: UInt8(clamping: reader.integer()))
        guard let hash, let behavior else { throw .damaged(.brokenRow(.observer)) }
        var terms = ObserverTerms()
        terms.suspensionBehavior = behavior
        terms.acknowledges = reader.bool()
        terms.endsWithConnection = reader.bool()
        terms.holdLimit = Int(clamping: reader.integer())
        terms.minInterval = reader.integer()
        terms.lease = reader.optionalInteger()
        let since = reader.unsigned()
        let createdAt = reader.integer()
        let acknowledgedThrough = reader.unsigned()
        return ObserverRecord(
            serial: serial, client: client, tokenHash: hash, name: name, object: object,
            selector: selector, terms: terms, since: since, createdAt: createdAt,
            acknowledgedThrough: acknowledgedThrough,
            forgottenThrough: reader.unsigned())
    }
}
