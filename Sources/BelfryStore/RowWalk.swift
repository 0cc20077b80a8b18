internal import BelfryCenter

/// Reads the rows of a table once, in the order of centers, and checks each checksum.
struct RowWalk: ~Copyable {
    private let table: StoredTable
    private let reader: Statement
    /// The row of the reader.
    private var row: StatementRow
    /// The center of the reader's row; nil before the next row is read.
    private var center: Int64?
    /// The record of the row; the room of one is used for the next.
    private var record: [UInt8] = []
    private var isOver = false

    /// Begins; the rows of the table must lie in the order of centers.
    init(_ name: StoreError.Table, in connection: borrowing Connection) throws(StoreError) {
        table = StoreSchema.table(name)
        reader = try connection.prepare(table.walk)
        row = reader.row
    }

    /// Hands over the rows of a center, and checks the rows of missing centers before it.
    ///
    /// - Throws: `.damaged(.changedRows)` for the first row that has changed since it was written.
    mutating func visit(
        _ wanted: Int64, _ tell: (consuming StoredPiece) -> Void
    ) throws(StoreError) {
        while let center = try stand(), center <= wanted {
            if center < wanted {
                try leave()
            } else if table.kind == nil {
                let (sequence, observer) = (row.unsigned(), row.unsigned())
                try leave()
                tell(.row(.held(observer: observer, sequence: sequence)))
            } else {
                row.read(column: table.columns.count - 1, into: &record)
                try leave()
                tell(.row(try table.change(record)))
            }
        }
    }

    /// Checks the rows that are left: their centers are not there.
    mutating func finish() throws(StoreError) {
        while try stand() != nil { try leave() }
    }

    /// Leaves the reader's row after a check of its checksum.
    private mutating func leave() throws(StoreError) {
        guard row.isSound() else { throw .damaged(.changedRows([table.name: 1])) }
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
