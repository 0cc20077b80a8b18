internal import BelfrySystem

/// Makes a new main file of the rows that can be read of a damaged one, which stays beside it.
///
/// Each table is read from both of its ends up to what cannot be read, and only rows with the right
/// checksum are taken. The new file has the version of the damaged one.
enum StoreSalvage {
    /// The name of the damaged files from then on.
    static let damagedName = StoreOpening.mainName + ".damaged"

    /// Replaces the main file by one that has what can be read of it and its log.
    static func replaceMain(
        _ path: String, in directory: borrowing Directory, _ losses: inout StoreLosses
    ) throws(StoreError) {
        let version = version(of: path)
        try StoreOpening.makeNew(path, in: directory, version: version)
        try save(path, version: version, &losses)
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

    /// The version of the main file; the present one where it says none whose rows can be taken.
    private static func version(of path: String) -> Int {
        let source = try? StoreOpening.connect(path + "/" + StoreOpening.mainName)
        let version = Int(clamping: (try? source?.integer("PRAGMA user_version")) ?? 0)
        let known = StoreSchema.checksumVersion...StoreSchema.version
        return known.contains(version) ? version : StoreSchema.version
    }

    private static func save(
        _ path: String, version: Int, _ losses: inout StoreLosses
    ) throws(StoreError) {
        let target = try StoreOpening.connect(path + "/" + StoreOpening.newName)
        try target.execute("PRAGMA synchronous = FULL")
        try target.execute("BEGIN IMMEDIATE")
        var savedRowCount = 0
        do throws(StoreError) {
            let source = try StoreOpening.connect(path + "/" + StoreOpening.mainName)
            for row in StoreSchema.checkedColumns(of: version) {
                let isWhole = try save(row, from: source, to: target, &savedRowCount, &losses)
                if !isWhole { losses.unreadableTables.append(row.table) }
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
        _ row: StoreSchema.CheckedColumns,
        from source: borrowing Connection, to target: borrowing Connection,
        _ savedRowCount: inout Int, _ losses: inout StoreLosses
    ) throws(StoreError) -> Bool {
        // The place of rows that are ordered by it is copied too.
        let place = row.order == ["place"] ? ", place" : ""
        let columns = row.columns + ", checksum" + place
        let count = columns.split(separator: ",").count
        let marks = Array(repeating: "?", count: count).joined(separator: ", ")
        let writer = try target.prepare(
            "INSERT OR IGNORE INTO \(row.table.rawValue) (\(columns)) VALUES (\(marks))")
        for direction in ["", " DESC"] {
            let order = row.order.map { $0 + direction }.joined(separator: ", ")
            do throws(StoreError) {
                let reader = try source.prepare(
                    "SELECT \(columns) FROM \(row.table.rawValue) NOT INDEXED ORDER BY \(order)")
                while try reader.next() {
                    var found = reader.row
                    guard found.isSound(extraCount: place.isEmpty ? 0 : 1) else {
                        losses.rows[row.table, default: 0] += 1
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
