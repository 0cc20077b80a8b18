internal import BelfryCenter

/// The tables of the main file.
enum StoreSchema {
    /// The `PRAGMA application_id` of the store's files: "Blfy".
    static let applicationID: UInt32 = 0x426C_6679

    /// The same of a backup, until a broker has started with it: "Blfb".
    static let backupID: UInt32 = 0x426C_6662

    /// The size of a page of the main file, in bytes.
    static let pageByteCount = 4_096

    /// The number of the schema, which `PRAGMA user_version` has.
    ///
    /// Another one is needed for each change of a table, or of the code of a record. A file with
    /// another number is refused: no release has left one (decision 127).
    static let version = 10

    /// All tables; those of centers are in the order in which they are loaded.
    ///
    /// A record is the code of a whole change (`RecordWriter`). Columns beside it are there for
    /// queries: keys to replace and remove rows, the client of an observer since a client is
    /// removed with all of its observers, and the place of a queue entry, by which the entries of a
    /// center are ordered. Appended rows mostly share a page: what is held is ordered by sequence
    /// numbers and not by observers, for a post has many holders.
    static let tables = [
        StoredTable(.setting, key: "name", ["value"]),
        StoredTable(.center, key: "id", ["name", "epoch", "sequence"]),
        StoredTable(.client, .client, key: ["id"]),
        StoredTable(.observer, .observer, key: ["serial"], others: ["client"], group: "client"),
        StoredTable(.tombstone, .tombstone, key: [], isPlaced: true),
        StoredTable(.notification, .notification, key: ["sequence"]),
        StoredTable(.held, nil, key: ["sequence", "observer"], group: "sequence"),
        StoredTable(.action, .action, key: ["sequence", "row"], group: "sequence"),
        StoredTable(.gap, .gap, key: ["observer", "reason"], group: "observer"),
        StoredTable(.queue, .queued, key: ["id"], others: ["place"], loadOrder: "place, id"),
        StoredTable(.timer, .timer, key: ["id"]),
        StoredTable(.ask, .ask, key: ["id"], isPlaced: true),
        StoredTable(.value, .value, key: ["object"]),
        StoredTable(.key, .key, key: ["principal", "text"], isPlaced: true),
        StoredTable(.archive, .archive, key: ["number"]),
        StoredTable(.archived, .archivedKind, key: ["archive", "kind"], group: "archive"),
        StoredTable(.kept, .kept, key: ["sequence"]),
    ]

    /// The texts that make a new file.
    static let definitions =
        tables.map(\.definition) + [
            "CREATE UNIQUE INDEX center_of_name ON center (name)",
            "CREATE INDEX observer_of_client ON observer (center, client)",
        ]

    /// One of the tables.
    static func table(_ name: StoreError.Table) -> StoredTable {
        guard let table = tables.first(where: { $0.name == name }) else {
            preconditionFailure("each table is described")
        }
        return table
    }
}
