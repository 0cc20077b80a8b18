/// Goes through the rows of a table once, in the order of centers; each must be what was written.
struct RowWalk<Record>: ~Copyable {
    private let table: StoreError.Table
    private let reader: Statement
    private let read: (Statement) -> Record?
    /// The center of the row at which the reader stands; nil until it has gone to one.
    private var center: Int64?
    private var isOver = false

    /// Begins; the rows of the table must lie in the order of centers.
    ///
    /// - Parameter read: makes something of the columns behind the center; nil where no store wrote them so.
    init(
        _ table: StoreError.Table, in connection: borrowing Connection,
        read: @escaping (Statement) -> Record?
    ) throws(StoreError) {
        self.table = table
        self.read = read
        reader = try connection.prepare(StoreSchema.query(for: table))
    }

    /// Visits the rows of a center; those of centers that are not there, before it, are only checked.
    ///
    /// - Throws: `.damaged(.changedRows)` for the first row that is not what was written.
    mutating func visit(_ wanted: Int64, _ visit: (Record) -> Void) throws(StoreError) {
        while let center = try stand(), center <= wanted {
            let record = center == wanted ? read(reader) : nil
            guard reader.isSound() else { throw .damaged(.changedRows([table: 1])) }
            if center == wanted {
                guard let record else { throw .damaged(.brokenRow(table)) }
                visit(record)
            }
            self.center = nil
        }
    }

    /// Checks the rows that are left: their centers are not there.
    mutating func finish() throws(StoreError) {
        while try stand() != nil {
            guard reader.isSound() else { throw .damaged(.changedRows([table: 1])) }
            center = nil
        }
    }

    /// The center of the row at which the reader stands, or of the next one; nil behind the last.
    private mutating func stand() throws(StoreError) -> Int64? {
        if center == nil, !isOver {
            isOver = try !reader.next()
            if !isOver { center = reader.integer() }
        }
        return center
    }
}
