/// The keys of a known shape, numbered in the order in which they are given.
///
/// Keys are compared byte by byte: Swift's `==` for text calls different sequences equal.
public struct JSONKeyTable: Sendable {
    private var names: [UInt8] = []
    private var ends: [Int] = []

    /// A table of at most 64 keys, so that `JSONKeySet` can hold the ordinals of all.
    public init(_ keys: [String]) {
        precondition(keys.count <= JSONKeySet.capacity, "a key table holds at most 64 keys")
        for key in keys {
            names.append(contentsOf: key.utf8)
            ends.append(names.count)
        }
    }

    /// The number of `key`, or `nil` when the table does not hold it.
    ///
    /// - Complexity: a comparison of lengths for each key, and of bytes where the lengths agree.
    public func ordinal(of key: [UInt8]) -> Int? {
        let (key, names, ends) = (key.span, names.span, ends.span)
        var start = 0
        for ordinal in ends.indices {
            let end = ends[ordinal]
            if end - start == key.count {
                var index = 0
                while index < key.count, key[index] == names[start + index] { index += 1 }
                if index == key.count { return ordinal }
            }
            start = end
        }
        return nil
    }
}
