/// The place of a row in an order: by a number, then by a text, then by its own number.
public struct RowKey: Comparable, Sendable {
    /// The number that the order compares; the least comes first.
    public var number: Int64
    /// The text that the order compares.
    public var text: [UInt8]
    /// The row's own number.
    public var row: UInt64

    /// Joins the parts.
    public init(number: Int64 = 0, text: [UInt8] = [], row: UInt64 = 0) {
        self.number = number
        self.text = text
        self.row = row
    }

    /// Whether the left row comes before the right one.
    public static func < (left: RowKey, right: RowKey) -> Bool {
        if left.number != right.number { return left.number < right.number }
        if left.text != right.text { return left.text.lexicographicallyPrecedes(right.text) }
        return left.row < right.row
    }
}
