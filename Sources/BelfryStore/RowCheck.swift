/// Compares rows of a main file with their checksums, and indexes with their tables.
enum RowCheck {
    /// Refuses a main file with changed rows, without loading it.
    static func check(_ connection: borrowing Connection) throws(StoreError) {
        let changed = try changedRows(connection)
        if !changed.isEmpty { throw .damaged(.changedRows(changed)) }
        try checkIndexes(connection)
    }

    /// The count of changed rows of each table; tables without one are left out.
    static func changedRows(
        in tables: Set<StoreError.Table> = Set(StoreError.Table.allCases),
        _ connection: borrowing Connection
    ) throws(StoreError) -> [StoreError.Table: Int] {
        var counts: [StoreError.Table: Int] = [:]
        for row in try checkedColumns(connection) where tables.contains(row.table) {
            let reader = try connection.prepare(StoreSchema.query(for: row))
            while try reader.next() {
                var found = reader.row
                if !found.isSound() { counts[row.table, default: 0] += 1 }
            }
        }
        return counts
    }

    /// Finds out whether the indexes have the rows of their tables, and no others.
    ///
    /// That of the observers is long, so it is compared as a set, by the sum of its rows'
    /// checksums.
    static func checkIndexes(_ connection: borrowing Connection) throws(StoreError) {
        for table in [StoreError.Table.center, .ask, .key] {
            let answer = try connection.bytes("PRAGMA integrity_check(\(table.rawValue))")
            if answer != Array("ok".utf8) { throw .damaged(.brokenIndex(table)) }
        }
        let sum = "SELECT sum(belfry_checksum(center, client, serial)) FROM observer"
        // The rows of a table without a row id are in the index of its primary key; NOT INDEXED
        // would let SQLite take the other one.
        let rows = try connection.integer(sum + " INDEXED BY sqlite_autoindex_observer_1")
        let index = try connection.integer(sum + " INDEXED BY observer_of_client")
        if rows != index { throw .damaged(.brokenIndex(.observer)) }
    }

    /// Removes the rows that have changed since they were written.
    ///
    /// Rows of centers and clients that are lost with them go too.
    static func removeChangedRows(
        _ connection: borrowing Connection, _ losses: inout StoreLosses
    ) throws(StoreError) {
        func remove(from table: StoreError.Table, _ condition: String) throws(StoreError) {
            try connection.execute("DELETE FROM \(table.rawValue) WHERE \(condition)")
            let count = connection.changedRowCount
            if count > 0 { losses.rows[table, default: 0] += count }
        }
        let rows = try checkedColumns(connection)
        for (table, columns, _) in rows {
            try remove(from: table, "checksum IS NOT belfry_checksum(\(columns))")
        }
        // The tombstones of a center that has ended are no loss: they stay until there are too
        // many.
        try connection.execute(
            """
            DELETE FROM tombstone WHERE center NOT IN (SELECT id FROM center)
                AND center <= (SELECT value FROM setting WHERE name = 'centers_ended')
            """)
        for (table, columns, _) in rows where columns.hasPrefix("center,") {
            try remove(from: table, "center NOT IN (SELECT id FROM center)")
        }
        try remove(from: .observer, "(center, client) NOT IN (SELECT center, id FROM client)")
    }

    /// The checked columns in the version of a main file, migrated or not.
    private static func checkedColumns(
        _ connection: borrowing Connection
    ) throws(StoreError) -> [StoreSchema.CheckedColumns] {
        let version = Int(clamping: try connection.integer("PRAGMA user_version"))
        return StoreSchema.checkedColumns(of: version)
    }
}
