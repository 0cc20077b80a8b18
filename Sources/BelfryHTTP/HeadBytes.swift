/// The place of one field line in its head.
struct FieldRange: Sendable {
    var nameStart: UInt32
    var nameEnd: UInt32
    var valueStart: UInt32
    var valueEnd: UInt32
    /// The name as an enum value, or `nil` before it was looked at.
    var known: KnownName?

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
}

/// The fields of one head in their order, in memory that is used again.
struct FieldRanges: Sendable {
    /// The fields; those past `count` are left from an earlier head.
    private var storage: [FieldRange] = []
    private(set) var count = 0

    subscript(index: Int) -> FieldRange {
        precondition(index < count, "a head has fewer fields")
        return storage[index]
    }

    mutating func append(_ field: FieldRange) {
        if count < storage.count {
            storage[count] = field
        } else {
            storage.append(field)
        }
        count &+= 1
    }

    mutating func removeAll() {
        count = 0
    }
}

/// The bytes of one head and the places of its fields, in memory that is used again.
struct HeadBytes: Sendable {
    /// The bytes; what lies past `count` is left from an earlier head.
    private var storage: [UInt8] = []
    private(set) var count = 0
    var fields = FieldRanges()

    mutating func reset() {
        count = 0
        fields.removeAll()
    }

    /// Adds `bytes[start..<end]`; the loop becomes wide moves.
    ///
    /// It copies a few bytes behind `end` too where there are any: one more than a multiple of
    /// 32, because all moves but one are wide then.
    mutating func append(_ bytes: Span<UInt8>, from start: Int, to end: Int) {
        let wideEnd = min(bytes.count, start + (end - start + 30) & ~31 + 1)
        let part = bytes.extracting(start..<wideEnd)
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
        count += end - start
    }

    /// Whether others have these bytes, at least one, from `start` on.
    func stand(in bytes: Span<UInt8>, from start: Int) -> Bool {
        guard count > 0, bytes.count - start >= count else { return false }
        let other = bytes.extracting(start..<start + count)
        let own = span
        // Without an early end, so that many bytes are compared at once.
        var difference: UInt8 = 0
        for index in own.indices { difference |= own[index] ^ other[index] }
        return difference == 0
    }

    /// All bytes of the head.
    var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(first: count) }
    }

    /// The value of the first field of this name, which is given in lower case.
    func firstRange(of name: String) -> Range<Int>? {
        let length = name.utf8.count
        for index in 0..<fields.count {
            let field = fields[index]
            guard Int(field.nameEnd &- field.nameStart) == length else { continue }
            if span.extracting(field.name).equalsIgnoringCase(name) { return field.value }
        }
        return nil
    }

    /// The values of all fields of this name, which is given in lower case, in their order.
    func ranges(of name: String) -> [Range<Int>] {
        let length = name.utf8.count
        var ranges: [Range<Int>] = []
        for index in 0..<fields.count {
            let field = fields[index]
            guard Int(field.nameEnd &- field.nameStart) == length else { continue }
            if span.extracting(field.name).equalsIgnoringCase(name) { ranges.append(field.value) }
        }
        return ranges
    }
}
