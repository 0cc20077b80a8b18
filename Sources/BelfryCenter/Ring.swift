/// A queue whose elements keep their position for ever: the first one ever added has position 0.
///
/// Removing from the front is O(1) amortised.
struct Ring<Element: Sendable>: Sendable {
    private var storage: [Element] = []
    private var head = 0
    /// The position of the first element.
    private(set) var startPosition: UInt64 = 0

    var count: Int { storage.count - head }
    var isEmpty: Bool { count == 0 }
    var first: Element? { isEmpty ? nil : storage[head] }
    /// One past the position of the last element.
    var endPosition: UInt64 { startPosition + UInt64(count) }

    /// The element at a position between `startPosition` and `endPosition`.
    subscript(position: UInt64) -> Element {
        get { storage[head + Int(position - startPosition)] }
        set { storage[head + Int(position - startPosition)] = newValue }
    }

    /// Adds an element and tells its position.
    @discardableResult
    mutating func append(_ element: Element) -> UInt64 {
        storage.append(element)
        return endPosition - 1
    }

    /// Removes the first element; the ring must have one.
    mutating func removeFirst() {
        precondition(!isEmpty, "an empty ring has no first element")
        head += 1
        startPosition += 1
        if head >= 64, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }
}
