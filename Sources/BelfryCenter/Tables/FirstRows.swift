/// The first rows of an order, out of any number that are offered in any order.
///
/// It keeps at most twice as many as are wanted: then it drops the last half, and ignores all that
/// come behind the rest.
struct FirstRows<Item> {
    private var kept: [(key: RowKey, item: Item)] = []
    private var last: RowKey?
    /// Whether some offered rows are not among the first ones, once these were taken.
    private(set) var hasMore = false
    private let limit: Int

    init(limit: Int) { self.limit = max(limit, 1) }

    mutating func offer(_ key: RowKey, _ item: Item) {
        if let last, last < key { return }
        kept.append((key, item))
        if kept.count >= 2 * limit { cut() }
    }

    private mutating func cut() {
        kept.sort { $0.key < $1.key }
        guard kept.count > limit else { return }
        hasMore = true
        kept.removeLast(kept.count - limit)
        last = kept.last?.key
    }

    /// The first rows, in their order.
    mutating func rows() -> [(key: RowKey, item: Item)] {
        cut()
        return kept
    }
}
