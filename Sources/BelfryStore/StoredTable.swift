internal import BelfryCenter

/// A table of the main file: its columns, and the texts of SQL that follow from them.
struct StoredTable {
    /// The name.
    let name: StoreError.Table
    /// The kind of the records in its rows; nil where rows are columns alone.
    let kind: Change.RecordKind?
    /// The columns that a checksum is of, in their order.
    let columns: [String]
    /// The columns that no two rows have in common.
    let key: [String]
    /// Whether rows keep the order in which they came, by a column `place` that counts them.
    ///
    /// The column has no checksum: rows are only read in its order, which is checked.
    let isPlaced: Bool
    /// The column whose value is equal in rows that are removed together.
    let group: String?
    /// The order in which the rows of a center are loaded, where the table has another order.
    let loadOrder: String?

    /// Describes a table that is not of centers.
    init(_ name: StoreError.Table, key: String, _ others: [String]) {
        self.name = name
        self.key = [key]
        columns = self.key + others
        kind = nil
        isPlaced = false
        group = nil
        loadOrder = nil
    }

    /// Describes a table whose rows begin with the number of a center.
    ///
    /// - Parameters:
    ///   - key: the columns that identify a row of a center; for placed rows it may be empty.
    ///   - others: the columns besides that a query needs.
    init(
        _ name: StoreError.Table, _ kind: Change.RecordKind?, key: [String],
        others: [String] = [], group: String? = nil, isPlaced: Bool = false,
        loadOrder: String? = nil
    ) {
        self.name = name
        self.kind = kind
        self.key = key.isEmpty ? [] : ["center"] + key
        self.isPlaced = isPlaced
        self.group = group
        self.loadOrder = loadOrder
        columns = ["center"] + key + others + (kind == nil ? [] : ["record"])
    }

    /// Whether its rows begin with the number of a center.
    var isOfCenters: Bool { columns[0] == "center" }

    /// Whether its rows are in the order of centers, and checked while they are loaded.
    var isWalked: Bool { isOfCenters && !isPlaced && loadOrder == nil }

    /// The change that the record of a row makes.
    ///
    /// - Throws: `.damaged(.brokenRow)` for what no store writes.
    func change(_ record: [UInt8]) throws(StoreError) -> Change {
        guard let kind, let change = try? Change(kind, record: record) else {
            throw .damaged(.brokenRow(name))
        }
        return change
    }

    // MARK: SQL

    /// The columns that a checksum is of, as a list in SQL.
    var checkedList: String { columns.joined(separator: ", ") }

    /// The statement that makes the table; rows that are not placed are in the order of their keys.
    var definition: String {
        let columns = (columns + ["checksum"]).map { $0 + " NOT NULL" }.joined(separator: ", ")
        let keyList = key.joined(separator: ", ")
        guard isPlaced else {
            return
                "CREATE TABLE \(name.rawValue) (\(columns), PRIMARY KEY (\(keyList))) WITHOUT ROWID"
        }
        let unique = key.isEmpty ? "" : ", UNIQUE (\(keyList))"
        return "CREATE TABLE \(name.rawValue) (place INTEGER PRIMARY KEY, \(columns)\(unique))"
    }

    /// The statement that writes a row in the place of the one with the same key.
    ///
    /// The columns of the checksum are bound in their order, and then the checksum.
    var put: String {
        let marks = (1...columns.count + 1).map { "?\($0)" }.joined(separator: ", ")
        let start = "INTO \(name.rawValue) (\(checkedList), checksum) VALUES (\(marks))"
        if !isPlaced { return "INSERT OR REPLACE " + start }
        if key.isEmpty { return "INSERT " + start }
        return "INSERT " + start + " ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE "
            + "SET record = excluded.record, checksum = excluded.checksum"
    }

    /// The statement that removes all rows with the values that are bound for these columns.
    func removal(by columns: [String]) -> String {
        let values = columns.enumerated().map { "\($1) = ?\($0 + 1)" }
        return "DELETE FROM \(name.rawValue) WHERE " + values.joined(separator: " AND ")
    }

    /// The query of all rows in their order: the columns of the checksum, and the checksum.
    var walk: String { walk("\(checkedList), checksum") }

    /// The query of some columns of all rows in their order, or in the opposite one.
    func walk(_ columns: String, direction: String = "") -> String {
        let order = (isPlaced ? ["place"] : key).map { $0 + direction }.joined(separator: ", ")
        return "SELECT \(columns) FROM \(name.rawValue) NOT INDEXED ORDER BY \(order)"
    }

    /// The query of the records of one center in the order in which they are loaded.
    var recordsOfCenter: String {
        "SELECT record FROM \(name.rawValue) WHERE center = ?1 ORDER BY \(loadOrder ?? "place")"
    }
}
