/// A list that mostly has one element, which needs no memory elsewhere.
struct FewList<Element: Sendable>: Sendable {
    private(set) var first: Element?
    private var others: [Element] = []

    init() {}

    init(_ elements: [Element]) {
        first = elements.first
        if elements.count > 1 { others = Array(elements.dropFirst()) }
    }

    init(one element: Element) { first = element }

    var isEmpty: Bool { first == nil }
    var count: Int { first == nil ? 0 : 1 + others.count }
    var all: [Element] { first.map { [$0] + others } ?? [] }

    mutating func append(_ element: Element) {
        if first == nil { first = element } else { others.append(element) }
    }

    /// Whether an element passes the test.
    @inline(__always)
    func contains(where isWanted: (Element) -> Bool) -> Bool {
        (first.map(isWanted) ?? false) || others.contains(where: isWanted)
    }

    /// Calls the body with each element, in order.
    @inline(__always)
    func forEach(_ body: (Element) -> Void) {
        guard let first else { return }
        body(first)
        for element in others { body(element) }  // Bound: repeaters
    }
}

extension FewList where Element: Equatable {
    func contains(_ element: Element) -> Bool {
        first == element || !others.isEmpty && others.contains(element)
    }
}

extension FewList: Coded where Element: Coded {
    init(_ known: FewList?, by coder: inout some Coder) throws(CodeError) {
        first = try coder(known?.first)
        others = try coder(known?.others)
    }
}
