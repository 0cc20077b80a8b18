/// The first rows of an order, out of any number that are offered in any order.
///
/// Twice as many as are wanted are kept at most: then the last half goes, and what comes behind the rest is not kept any
/// more.
struct FirstRows {
    /// Where a row stands: by number, then by text, then by its own number.
    struct Key: Comparable {
        var number: Int64 = 0
        var text: [UInt8] = []
        var row: UInt64

        static func < (left: Key, right: Key) -> Bool {
            if left.number != right.number { return left.number < right.number }
            if left.text != right.text { return left.text.lexicographicallyPrecedes(right.text) }
            return left.row < right.row
        }
    }

    private var kept: [(key: Key, slot: UInt32)] = []
    private var last: Key?
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 1) }

    mutating func offer(_ key: Key, at slot: UInt32) {
        if let last, last < key { return }
        kept.append((key, slot))
        if kept.count >= 2 * limit { cut() }
    }

    private mutating func cut() {
        kept.sort { $0.key < $1.key }
        guard kept.count > limit else { return }
        kept.removeLast(kept.count - limit)
        last = kept.last?.key
    }

    /// The slots of the first rows, in their order.
    consuming func slots() -> [UInt32] {
        cut()
        return kept.map(\.slot)
    }
}
