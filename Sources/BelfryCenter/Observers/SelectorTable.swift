/// Gives equal selectors equal numbers for as long as an observer has them.
struct SelectorTable: Footprinted, Sendable {
    private var texts: KeyTable
    private var useCounts: [UInt32] = []

    init(seed: HashSeed) {
        texts = KeyTable(seed: seed)
    }

    /// The bytes that the table costs.
    var footprint: Int { texts.footprint + texts.count * MemoryLayout<UInt32>.stride }

    /// How many selectors are in use.
    var count: Int { texts.count }

    func text(of selector: UInt32) -> [UInt8] { texts.key(at: selector) }

    /// The number of a selector that an observer has.
    func number(of text: Span<UInt8>) -> UInt32? { texts.index(of: text) }

    /// The numbers of the selectors that a responder implements.
    func numbers(of responder: ResponderTerms) -> [UInt32] {
        responder.implements.compactMap { number(of: $0.span) }
    }

    /// The number of a selector, for one more observer.
    mutating func retain(_ text: [UInt8]) -> UInt32 {
        let (index, _) = texts.insert(text.span)
        if Int(index) == useCounts.count { useCounts.append(0) }
        useCounts[Int(index)] += 1
        return index
    }

    /// Counts one observer of the selector less.
    mutating func release(_ selector: UInt32) {
        useCounts[Int(selector)] -= 1
        if useCounts[Int(selector)] == 0 { texts.remove(at: selector) }
    }
}

extension SelectorTable: Coded {
    init(_ known: SelectorTable?, by coder: inout some Coder) throws(CodeError) {
        texts = try coder(known?.texts)
        useCounts = try coder(known?.useCounts)
    }
}
