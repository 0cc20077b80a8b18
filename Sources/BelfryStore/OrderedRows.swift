internal import BelfryCenter

/// Reads the rows of a table center by center, where the table has another order.
///
/// Their checksums are compared before.
struct OrderedRows {
    private let table: StoredTable
    private let reader: Statement

    init(_ name: StoreError.Table, in connection: borrowing Connection) throws(StoreError) {
        table = StoreSchema.table(name)
        reader = try connection.prepare(table.recordsOfCenter)
    }

    /// Hands over the rows of a center.
    func visit(_ center: Int64, _ tell: (consuming StoredPiece) -> Void) throws(StoreError) {
        defer { reader.reset() }
        reader.bind(center)
        while try reader.next() {
            var row = reader.row
            tell(.row(try table.change(row.bytes())))
        }
    }
}
