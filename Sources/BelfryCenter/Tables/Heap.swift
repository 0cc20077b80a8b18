/// A binary heap: its least element is known at once, adding and taking one is O(log n).
struct Heap<Element: Comparable & Sendable>: Footprinted, Sendable {
    /// Each element is no greater than the two at twice its place plus 1 and plus 2.
    private var elements: [Element] = []

    /// The bytes that the heap costs.
    var footprint: Int {
        Footprint.list(
            count: elements.count, capacity: elements.capacity,
            stride: MemoryLayout<Element>.stride)
    }

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }

    /// The least element.
    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
        elements.append(element)
        rise(from: elements.count - 1)
    }

    /// Removes and returns the least element.
    @discardableResult
    mutating func removeFirst() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let least = elements.first else { return last }
        elements[0] = last
        sink(from: 0)
        return least
    }

    /// Removes all elements that fail the test; O(n).
    ///
    /// The new array is as large as it must be: a heap that was large once gives its storage back.
    mutating func keep(where isKept: (Element) -> Bool) {
        elements = elements.filter(isKept)
        // Bound: growth
        for place in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(from: place) }
    }

    private mutating func rise(from start: Int) {
        var place = start
        while place > 0 {  // Bound: levels
            let parent = (place - 1) / 2
            guard elements[place] < elements[parent] else { return }
            elements.swapAt(place, parent)
            place = parent
        }
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {  // Bound: levels
            let left = place * 2 + 1
            guard left < elements.count else { return }
            let right = left + 1
            let isRightLess = right < elements.count && elements[right] < elements[left]
            let child = isRightLess ? right : left
            guard elements[child] < elements[place] else { return }
            elements.swapAt(place, child)
            place = child
        }
    }
}

extension Heap: Coded where Element: Coded {
    init(_ known: Heap?, by coder: inout some Coder) throws(CodeError) {
        elements = try coder(known?.elements)
    }
}
