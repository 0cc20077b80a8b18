/// One page of a listing.
public struct Page<Row: Sendable>: Sendable {
    /// The rows, in the order of the listing.
    public var rows: [Row] = []
    /// Where the next page starts; nil when this was the last one.
    public var next: UInt64?
}
