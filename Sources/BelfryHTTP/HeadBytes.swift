/// Where one field line stands in its head.
struct FieldRange: Sendable {
    var nameStart: UInt32
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

/// The bytes of one head and the places of its fields, in memory that is used again.
struct HeadBytes: Sendable {
    /// The bytes; what lies past `count` is left from an earlier head.
    private var storage: [UInt8] = []
    private(set) var count = 0
    var fields: [FieldRange] = []

    mutating func reset() {
        count = 0
        fields.removeAll(keepingCapacity: true)
    }

    /// Adds `bytes[start..<end]`; the loop becomes wide moves.
    mutating func append(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        let part = bytes.extracting(start..<end)
        let needed = count + part.count
        if storage.count < needed {
            let more = max(needed, 2 * storage.count, 512) - storage.count
            storage.append(contentsOf: repeatElement(0, count: more))
        }
        let offset = count
        var target = storage.mutableSpan
        precondition(offset >= 0 && part.count <= target.count - offset)
        for index in part.indices {
            target[offset &+ index] = part[index]
        }
        count = needed
    }

    /// All bytes of the head.
    var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(first: count) }
    }

    /// The value of the first field of this name, which is given in lower case.
    func firstRange(of name: String) -> Range<Int>? {
        let length = name.utf8.count
        for field in fields where Int(field.nameEnd &- field.nameStart) == length {
            if span.extracting(field.name).equalsIgnoringCase(name) { return field.value }
        }
        return nil
    }

    /// The values of all fields of this name, which is given in lower case, in their order.
    func ranges(of name: String) -> [Range<Int>] {
        let length = name.utf8.count
        var ranges: [Range<Int>] = []
        for field in fields where Int(field.nameEnd &- field.nameStart) == length {
            if span.extracting(field.name).equalsIgnoringCase(name) { ranges.append(field.value) }
        }
        return ranges
    }
}
