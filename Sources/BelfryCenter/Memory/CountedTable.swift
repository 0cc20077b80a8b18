/// A table of values by key, with the sum of their memory.
struct CountedTable<Key: Hashable & Footprinted & Sendable, Value: Footprinted & Sendable>:
    Footprinted, Sendable
{
    private(set) var values: [Key: Value]
    /// The bytes of the blocks of keys and values outside the table.
    private var blockByteCount = 0

    /// Makes a table of these values.
    init(_ values: [Key: Value] = [:]) {
        self.values = values
        // Bound: snapshot, intervals
        for (key, value) in values { blockByteCount += key.footprint + value.footprint }
    }

    var footprint: Int {
        Footprint.dictionary(
            capacity: values.capacity,
            stride: MemoryLayout<Key>.stride + MemoryLayout<Value>.stride) + blockByteCount
    }

    var count: Int { values.count }
    var isEmpty: Bool { values.isEmpty }
    var keys: Dictionary<Key, Value>.Keys { values.keys }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if let newValue {
                let old = values.updateValue(newValue, forKey: key)
                blockByteCount += newValue.footprint - (old?.footprint ?? -key.footprint)
            } else {
                _ = removeValue(forKey: key)
            }
        }
    }

    subscript(key: Key, default value: @autoclosure () -> Value) -> Value {
        get { values[key] ?? value() }
        _modify {
            let before = values[key]?.footprint ?? -key.footprint
            yield &values[key, default: value()]
            blockByteCount += (values[key]?.footprint ?? 0) - before
        }
    }

    mutating func removeValue(forKey key: Key) -> Value? {
        guard let old = values.removeValue(forKey: key) else { return nil }
        blockByteCount -= key.footprint + old.footprint
        return old
    }
}

extension Coder {
    /// Goes through a table, in the order of its keys.
    mutating func table<Key: Coded & Hashable, Value: Coded>(
        _ known: CountedTable<Key, Value>?, by isBefore: (Key, Key) -> Bool
    ) throws(CodeError) -> CountedTable<Key, Value> {
        let values = try table(known?.values, by: isBefore)
        return known ?? CountedTable(values)
    }

    /// Goes through a table whose keys are numbers.
    mutating func table<Key: Coded & Hashable & Comparable, Value: Coded>(
        _ known: CountedTable<Key, Value>?
    ) throws(CodeError) -> CountedTable<Key, Value> {
        try table(known, by: <)
    }
}
