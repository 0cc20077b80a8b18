internal import BelfryCenter

/// The tombstones of the observers that were removed last, of all centers together.
///
/// Places are counted up and only the oldest rows ever go, so no place is missing in between.
struct TombstoneRows {
    private static let table = StoreSchema.table(.tombstone)

    private let adder: Statement
    private let trimmer: Statement
    private let reader: Statement

    init(_ connection: borrowing Connection) throws(StoreError) {
        adder = try connection.prepare(Self.table.put)
        trimmer = try connection.prepare(
            "DELETE FROM tombstone WHERE place <= (SELECT max(place) FROM tombstone) - ?1")
        reader = try connection.prepare(
            "SELECT center, record FROM tombstone ORDER BY place DESC")
    }

    /// Adds the row of a center with this record.
    func add(_ record: Span<UInt8>, center: Int64) throws(StoreError) {
        adder.bind(center)
        adder.bind(record)
        adder.bindChecksum()
        try adder.run()
    }

    /// Forgets the oldest past the limit.
    func trim(to limit: Int) throws(StoreError) {
        trimmer.bind(limit)
        try trimmer.run()
    }

    /// The newest tombstones that fit into so many bytes, by center number, the oldest first.
    func load(byteLimit: Int) throws(StoreError) -> [Int64: [Change]] {
        var found: [Int64: [Change]] = [:]
        var byteCount = 0
        defer { reader.reset() }
        while try reader.next() {
            var row = reader.row
            let center = row.integer()
            let change = try Self.table.change(row.bytes())
            if case .observerRemoved(_, let tombstone) = change {
                byteCount += tombstone.loadedByteCount
            }
            if byteCount > byteLimit { break }
            found[center, default: []].append(change)
        }
        return found.mapValues { Array($0.reversed()) }
    }
}

extension Tombstone {
    /// The bytes that count for it when a start reads tombstones.
    var loadedByteCount: Int { 128 + (name?.count ?? 0) + (object?.count ?? 0) }
}
