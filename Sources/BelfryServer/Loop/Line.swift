/// A queue: elements leave in the order in which they came.
struct Line<Element> {
    private var elements: [Element] = []
    private var start = 0

    var count: Int { elements.count - start }

    var first: Element? { start < elements.count ? elements[start] : nil }

    var last: Element? { count > 0 ? elements.last : nil }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Removes the first element; the storage shrinks when half of it is empty.
    mutating func removeFirst() -> Element {
        let element = elements[start]
        start += 1
        if start == elements.count {
            elements.removeAll(keepingCapacity: elements.capacity <= 1_024)
            start = 0
        } else if start > elements.count / 2 {
            elements.removeFirst(start)
            start = 0
        }
        return element
    }

    /// Keeps some elements, in their order.
    mutating func keep(where isKept: (Element) -> Bool) {
        elements = elements[start...].filter(isKept)
        start = 0
    }
}

extension Line: Sendable where Element: Sendable {}
