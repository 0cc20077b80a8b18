/// The keys of a known shape by their names, numbered in the order in which they are given.
///
/// Names are compared byte by byte: Swift's `==` for text calls different sequences equal.
public struct JSONKeyTable<Key: Sendable>: Sendable {
    private var names: [UInt8] = []
    private var ends: [Int] = []
    private let keys: [Key]

    /// A table of at most 64 keys, so that `JSONKeySet` can hold the ordinals of all.
    public init(_ rows: [(name: String, key: Key)]) {
        precondition(rows.count <= JSONKeySet.capacity, "a key table holds at most 64 keys")
        keys = rows.map(\.key)
        for row in rows {
            names.append(contentsOf: row.name.utf8)
            ends.append(names.count)
        }
    }

    /// The number of keys.
    public var count: Int { keys.count }

    /// The number of the key with this name, or `nil` when the table does not hold it.
    ///
    /// - Complexity: a comparison of lengths for each key, and of bytes where the lengths agree.
    public func ordinal(of name: [UInt8]) -> Int? {
        let (name, names, ends) = (name.span, names.span, ends.span)
        var start = 0
        for ordinal in ends.indices {
            let end = ends[ordinal]
            if end - start == name.count {
                var index = 0
                while index < name.count, name[index] == names[start + index] { index += 1 }
                if index == name.count { return ordinal }
            }
            start = end
        }
        return nil
    }

    /// The key with this number.
    public subscript(ordinal: Int) -> Key { keys[ordinal] }

    /// The key with this name, or `nil` when the table does not hold it.
    public func key(named name: [UInt8]) -> Key? { ordinal(of: name).map { keys[$0] } }

    /// The name of the key with this number.
    public func name(of ordinal: Int) -> [UInt8] {
        [UInt8](names[(ordinal == 0 ? 0 : ends[ordinal - 1])..<ends[ordinal]])
    }
}

extension JSONKeyTable where Key: RawRepresentable<String> {
    /// A table of at most 64 keys, whose raw values are their names.
    public init(_ keys: [Key]) {
        self.init(keys.map { (name: $0.rawValue, key: $0) })
    }
}
