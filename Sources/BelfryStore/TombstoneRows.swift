internal import BelfryCenter

/// The tombstones of the observers that were removed last, of all centers together.
///
/// Places are counted up and only the oldest rows ever go, so no place is missing in between.
struct TombstoneRows {
    private let adder: Statement
    private let trimmer: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        adder = try connection.prepare(
            "INSERT INTO tombstone VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")
        trimmer = try connection.prepare(
            "DELETE FROM tombstone WHERE place <= (SELECT max(place) FROM tombstone) - ?1")
        reader = try connection.prepare(
            """
            SELECT center, serial, token_hash, removed_at, by_client, by_principal, reason, name,
                object
            FROM tombstone ORDER BY place DESC
            """)
    }

    func add(
        _ tombstone: Tombstone, serial: UInt64, center: Int64
    ) throws(StoreError) {
        adder.bind(center)
        adder.bind(serial)
        adder.bind(tombstone.tokenHash)
        adder.bind(tombstone.removedAt)
        switch tombstone.removedBy {
        case .client(let id):
            adder.bind(id)
            adder.bindNull()
        case .principal(let principal):
            adder.bindNull()
            adder.bind(principal)
        case .broker:
            adder.bindNull()
            adder.bindNull()
        }
        adder.bind(Int64(tombstone.reason.rawValue))
        adder.bind(tombstone.name)
        adder.bind(tombstone.object)
        adder.bindChecksum()
        try adder.run()
    }

    /// Forgets the oldest past the limit.
    func trim(to limit: Int) throws(StoreError) {
        trimmer.bind(limit)
        try trimmer.run()
    }

    /// The newest tombstones that fit into so many bytes, by center number, the oldest first.
    func load(
        byteLimit: Int
    ) throws(StoreError) -> [Int64: [(serial: UInt64, Tombstone)]] {
        var found: [Int64: [(serial: UInt64, Tombstone)]] = [:]
        var byteCount = 0
        defer { reader.reset() }
        while try reader.next() {
            var row = reader.row
            let center = row.integer()
            let serial = row.unsigned()
            let hash = row.hash()
            let removedAt = row.integer()
            let client = row.optionalInteger()
            let principal = row.optionalBytes()
            let reason = RemovalReason(rawValue: UInt8(clamping: row.integer()))
            guard let hash, let reason else { throw .damaged(.brokenRow(.tombstone)) }
            let remover: Remover =
                if let client {
                    .client(UInt64(bitPattern: client))
                } else if let principal {
                    .principal(principal)
                } else {
                    .broker
                }
            let name = row.optionalBytes()
            let tombstone = Tombstone(
                tokenHash: hash, removedAt: removedAt, removedBy: remover, reason: reason,
                name: name, object: row.optionalBytes())
            byteCount += tombstone.loadedByteCount
            if byteCount > byteLimit { break }
            found[center, default: []].append((serial, tombstone))
        }
        return found.mapValues { Array($0.reversed()) }
    }
}

extension Tombstone {
    /// The bytes that count for it when a start reads tombstones.
    var loadedByteCount: Int { 128 + (name?.count ?? 0) + (object?.count ?? 0) }
}
