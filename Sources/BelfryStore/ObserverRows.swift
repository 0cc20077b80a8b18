internal import BelfryCenter

/// The observers of all centers.
struct ObserverRows {
    private let putter: Statement
    private let remover: Statement
    private let clientRemover: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        putter = try connection.prepare(
            """
            INSERT OR REPLACE INTO observer (
                center, serial, client, token_hash, name, object, selector, behavior, acknowledges,
                ends_with_connection, hold_limit, min_interval, lease, since, created_at,
                acknowledged_through, forgotten_through, implements, next, if_held, concurrency,
                target, key_path, value_flags, checksum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25)
            """)
        remover = try connection.prepare("DELETE FROM observer WHERE center = ?1 AND serial = ?2")
        clientRemover = try connection.prepare(
            "DELETE FROM observer WHERE center = ?1 AND client = ?2")
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
        let responder = record.role.responder
        putter.bind(responder.map { BlobWriter.texts($0.implements) })
        putter.bind(responder?.next)
        putter.bind(responder.map { Int64($0.ifHeld.rawValue) })
        putter.bind(responder.map { Int64($0.concurrency) })
        putter.bind(record.role.target)
        putter.bind(record.role.value?.pathText)
        putter.bind(record.role.value.map { Int64($0.flags) })
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

    /// Reads the columns behind the center.
    static func read(_ row: inout StatementRow) -> ObserverRecord? {
        let serial = row.unsigned()
        let client = row.unsigned()
        let hash = row.hash()
        let name = row.optionalBytes()
        let object = row.optionalBytes()
        let selector = row.bytes()
        let behavior = SuspensionBehavior(rawValue: UInt8(clamping: row.integer()))
        guard let hash, let behavior else { return nil }
        var terms = ObserverTerms()
        terms.suspensionBehavior = behavior
        terms.acknowledges = row.bool()
        terms.endsWithConnection = row.bool()
        terms.holdLimit = Int(clamping: row.integer())
        terms.minInterval = row.integer()
        terms.lease = row.optionalInteger()
        let since = row.unsigned()
        let createdAt = row.integer()
        let acknowledgedThrough = row.unsigned()
        let forgottenThrough = row.unsigned()
        guard let role = role(&row) else { return nil }
        return ObserverRecord(
            serial: serial, client: client, tokenHash: hash, name: name, object: object,
            selector: selector, terms: terms, since: since, createdAt: createdAt,
            acknowledgedThrough: acknowledgedThrough,
            forgottenThrough: forgottenThrough, role: role)
    }

    private static func role(_ row: inout StatementRow) -> ObserverRole? {
        let implements = row.optionalBytes()
        let next = row.optionalBytes()
        let ifHeld = row.optionalInteger().flatMap {
            ResponderTerms.IfHeld(rawValue: UInt8(clamping: $0))
        }
        let concurrency = row.optionalInteger()
        let target = row.optionalBytes()
        let keyPath = row.optionalBytes()
        let flags = row.optionalInteger()
        if let keyPath {
            guard let flags, let flags = UInt8(exactly: flags) else { return nil }
            return ValueTerms(pathText: keyPath, flags: flags).map { .value($0) }
        }
        guard let implements else { return target.map { .action(target: $0) } ?? .plain }
        guard let selectors = BlobReader.texts(implements), let ifHeld, let concurrency else {
            return nil
        }
        var terms = ResponderTerms(implements: selectors, next: next)
        terms.ifHeld = ifHeld
        terms.concurrency = Int(clamping: concurrency)
        return .responder(terms)
    }
}
