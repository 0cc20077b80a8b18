internal import BelfrySystem

/// Makes a new main file of the rows that can be read of a damaged one, which stays beside it.
///
/// Each table is read from both of its ends up to what cannot be read, and only rows with the right
/// checksum are taken.
enum StoreSalvage {
    /// The name of the damaged files from then on.
    static let damagedName = StoreOpening.mainName + ".damaged"

    /// Replaces the main file by one that has what can be read of it and its log.
    static func replaceMain(
        _ path: String, in directory: borrowing Directory, _ losses: inout StoreLosses
    ) throws(StoreError) {
        try StoreOpening.makeNew(path, in: directory)
        try save(path, &losses)
        for suffix in ["", "-wal"] {
            try StoreOpening.remove(damagedName + suffix, in: directory)
        }
        // The main file has its name until the new one takes it: there is never none.
        let hasLog = try StoreOpening.status(of: StoreOpening.logName, in: directory) != nil
        try storeCall { () throws(SystemCallError) in
            try directory.link(StoreOpening.mainName, as: damagedName)
            if hasLog { try directory.rename(StoreOpening.logName, to: damagedName + "-wal") }
        }
        try StoreOpening.putNewInPlace(in: directory)
    }

    private static func save(_ path: String, _ losses: inout StoreLosses) throws(StoreError) {
        let target = try StoreOpening.connect(path + "/" + StoreOpening.newName)
        try target.execute("PRAGMA synchronous = FULL")
        try target.execute("BEGIN IMMEDIATE")
        var savedRowCount = 0
        do throws(StoreError) {
            let source = try StoreOpening.connect(path + "/" + StoreOpening.mainName)
            for table in StoreSchema.tables {
                let isWhole = try save(table, from: source, to: target, &savedRowCount, &losses)
                if !isWhole { losses.unreadableTables.append(table.name) }
            }
        } catch {
            guard error.mayLeaveRows else { throw error }
            losses.unreadableTables = StoreError.Table.allCases
        }
        losses.savedRowCount = savedRowCount
        try target.execute("COMMIT")
        try target.checkpoint(truncates: true)
    }

    /// Copies the rows of a table.
    ///
    /// - Returns: whether the table could be read to its end.
    private static func save(
        _ table: StoredTable, from source: borrowing Connection, to target: borrowing Connection,
        _ savedRowCount: inout Int, _ losses: inout StoreLosses
    ) throws(StoreError) -> Bool {
        // The place of rows that are ordered by it is copied too.
        let columns = table.checkedList + ", checksum" + (table.isPlaced ? ", place" : "")
        let count = table.columns.count + (table.isPlaced ? 2 : 1)
        let marks = Array(repeating: "?", count: count).joined(separator: ", ")
        let writer = try target.prepare(
            "INSERT OR IGNORE INTO \(table.name.rawValue) (\(columns)) VALUES (\(marks))")
        for direction in ["", " DESC"] {
            do throws(StoreError) {
                let reader = try source.prepare(table.walk(columns, direction: direction))
                while try reader.next() {
                    var found = reader.row
                    guard found.isSound(extraCount: table.isPlaced ? 1 : 0) else {
                        losses.rows[table.name, default: 0] += 1
                        continue
                    }
                    try reader.copyRow(to: writer)
                    savedRowCount += target.changedRowCount
                }
                return true
            } catch {
                // A disk that is full is no damage.
                if error == .full { throw error }
            }
        }
        return false
    }
}
