/// A queue whose elements keep their position forever: the first one ever added has position 0.
///
/// Adding and removing are O(1) amortised, and an element that is removed is released at once.
struct Ring<Element: Sendable>: Sendable {
    /// A circle; its length is a power of two, or zero.
    private var storage: [Element?] = []
    /// The position of the first element.
    private(set) var startPosition: UInt64 = 0
    /// One past the position of the last element.
    private(set) var endPosition: UInt64 = 0

    /// The bytes of its storage, without memory that the elements have elsewhere.
    var footprint: Int {
        Footprint.array(of: storage.count, stride: MemoryLayout<Element?>.stride)
    }

    var count: Int { Int(endPosition - startPosition) }
    var isEmpty: Bool { endPosition == startPosition }
    var first: Element? { isEmpty ? nil : storage[place(of: startPosition)] }

    /// The element at a position between `startPosition` and `endPosition`.
    subscript(position: UInt64) -> Element {
        precondition(
            position >= startPosition && position < endPosition, "a position inside the ring")
        guard let element = storage[place(of: position)] else {
            preconditionFailure("each place between start and end has an element")
        }
        return element
    }

    /// Changes the element at a position.
    mutating func update(_ position: UInt64, _ change: (inout Element) -> Void) {
        precondition(
            position >= startPosition && position < endPosition, "a position inside the ring")
        var taken: Element?
        swap(&taken, &storage[place(of: position)])
        guard var element = consume taken else {
            preconditionFailure("each place between start and end has an element")
        }
        change(&element)
        storage[place(of: position)] = element
    }

    /// Adds an element and returns its position.
    @discardableResult
    mutating func append(_ element: consuming Element) -> UInt64 {
        if count == storage.count { resize(to: max(16, storage.count * 2)) }
        storage[place(of: endPosition)] = element
        endPosition += 1
        return endPosition - 1
    }

    /// Removes and returns the first element; the ring must have one.
    @discardableResult
    mutating func removeFirst() -> Element {
        precondition(!isEmpty, "an empty ring has no first element")
        // An exchange moves the element out: a copy would count references up and down.
        var taken: Element?
        swap(&taken, &storage[place(of: startPosition)])
        startPosition += 1
        // A ring that was long once gives its storage back.
        if storage.count > 64, count * 8 < storage.count { resize(to: storage.count / 4) }
        guard let element = consume taken else {
            preconditionFailure("each place between start and end has an element")
        }
        return element
    }

    /// Releases the storage that its elements do not need.
    mutating func shrink() {
        var needed = 16
        while needed < count { needed *= 2 }  // Bound: levels
        if needed < storage.count { resize(to: needed) }
    }

    private func place(of position: UInt64) -> Int {
        Int(truncatingIfNeeded: position & UInt64(storage.count - 1))
    }

    private mutating func resize(to newCount: Int) {
        var resized = [Element?](repeating: nil, count: newCount)
        let mask = UInt64(newCount - 1)
        for position in startPosition..<endPosition {  // Bound: growth
            resized[Int(truncatingIfNeeded: position & mask)] = storage[place(of: position)]
        }
        storage = resized
    }
}

extension Ring: Coded where Element: Coded {
    init(_ known: Ring?, by coder: inout some Coder) throws(CodeError) {
        let start: UInt64 = try coder(known?.startPosition)
        let count = try coder.count(known?.count)
        if let known {
            for position in known.startPosition..<known.endPosition {  // Bound: code
                _ = try Element(known[position], by: &coder)
            }
            self = known
            return
        }
        guard start <= UInt64.max - UInt64(count) else { throw .malformed }
        self.init()
        (startPosition, endPosition) = (start, start)
        for _ in 0..<count { append(try coder.next()) }  // Bound: code
    }
}
