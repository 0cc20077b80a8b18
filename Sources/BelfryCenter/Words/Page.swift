/// One page of a listing.
public struct Page<Row: Sendable>: Sendable {
    /// The rows, in the order of the listing.
    public var rows: [Row] = []
    /// The start of the next page; nil on the last page, and for rows in an order.
    public var next: UInt64?
    /// The place in the order behind which the next page starts, for rows in an order.
    public var last: RowKey?
    /// The number of rows on all pages, as far as examined; nil where they were not counted.
    public var total: Int?
    /// Rows that were not examined, and may be missing in the order and in the total.
    public var unseenCount = 0

    /// Makes a page of some rows, or of none.
    public init(rows: [Row] = [], next: UInt64? = nil) {
        self.rows = rows
        self.next = next
    }
}
