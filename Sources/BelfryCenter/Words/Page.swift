/// One page of a listing.
public struct Page<Row: Sendable>: Sendable {
    /// The rows, in the order of the listing.
    public var rows: [Row] = []
    /// Where the next page starts; nil when this was the last one, or one of an order.
    public var next: UInt64?
    /// The place in the order behind which the next page starts, where the rows stand in one.
    public var last: RowKey?
    /// How many rows there are on all pages, as far as was looked; nil where nobody has counted them.
    public var total: Int?
    /// How many rows were not looked at, so that some may be missing in the order and in the total.
    public var unseenCount = 0

    /// Has no rows, or these.
    public init(rows: [Row] = [], next: UInt64? = nil) {
        self.rows = rows
        self.next = next
    }
}
