/// Reads the rows of a table once, in the order of centers, and checks each checksum.
struct RowWalk<Record>: ~Copyable {
    private let table: StoreError.Table
    private let reader: Statement
    private let read: (inout StatementRow) -> Record?
    /// The row of the reader.
    private var row: StatementRow
    /// The center of the reader's row; nil before the next row is read.
    private var center: Int64?
    private var isOver = false

    /// Begins; the rows of the table must lie in the order of centers.
    ///
    /// - Parameter read: makes something of the columns behind the center; nil where no store wrote
    ///   them so.
    init(
        _ table: StoreError.Table, in connection: borrowing Connection,
        read: @escaping (inout StatementRow) -> Record?
    ) throws(StoreError) {
        self.table = table
        self.read = read
        reader = try connection.prepare(StoreSchema.query(for: StoreSchema.checkedColumns(table)))
        row = reader.row
    }

    /// Visits the rows of a center, and checks the rows of missing centers before it.
    ///
    /// - Throws: `.damaged(.changedRows)` for the first row that has changed since it was written.
    mutating func visit(_ wanted: Int64, _ visit: (consuming Record) -> Void) throws(StoreError) {
        while let center = try stand(), center <= wanted {
            guard center == wanted else {
                try leave()
                continue
            }
            guard let record = read(&row) else {
                try leave()
                throw .damaged(.brokenRow(table))
            }
            try leave()
            visit(record)
        }
    }

    /// Checks the rows that are left: their centers are not there.
    mutating func finish() throws(StoreError) {
        while try stand() != nil { try leave() }
    }

    /// Leaves the reader's row after a check of its checksum.
    private mutating func leave() throws(StoreError) {
        guard row.isSound() else { throw .damaged(.changedRows([table: 1])) }
        center = nil
    }

    /// The center of the reader's row, or of the next one; nil behind the last.
    private mutating func stand() throws(StoreError) -> Int64? {
        if center == nil, !isOver {
            isOver = try !reader.next()
            row = reader.row
            if !isOver { center = row.integer() }
        }
        return center
    }
}
