import BelfryCenter

/// The entries that were applied last, to tell a repeated one from another one in its place.
struct RecentEntries {
    /// How many are remembered.
    static let limit = 1_024

    private var marks = [Mark?](repeating: nil, count: limit)

    private struct Mark {
        let index: UInt64
        let node: [UInt8]
        let life: UInt64
        let number: UInt64
    }

    mutating func note(_ entry: Entry, at index: UInt64) {
        marks[Int(index % UInt64(Self.limit))] = Mark(
            index: index, node: entry.node, life: entry.life, number: entry.number)
    }

    /// Whether an entry is the one that was applied at an index; nil where that is forgotten.
    func has(_ entry: Entry, at index: UInt64) -> Bool? {
        guard let mark = marks[Int(index % UInt64(Self.limit))], mark.index == index else {
            return nil
        }
        return mark.life == entry.life && mark.number == entry.number && mark.node == entry.node
    }
}
