import TestSupport
import Testing

@testable import BelfryCenter

@Suite("PrefixTable: the prefixes of a text, a step a byte (rule P8)")
struct PrefixTableTests {
    private static func found(
        _ table: PrefixTable, _ text: String, from leastByteCount: Int = 0
    ) -> [PrefixTable.Index] {
        var indexes: [PrefixTable.Index] = []
        table.forEachPrefix(of: bytes(text).span, leastByteCount: leastByteCount) {
            indexes.append($0)
        }
        return indexes
    }

    @Test("each prefix of a text is found, the shortest first")
    func finds() {
        var table = PrefixTable()
        let numbers = ["Order.", "O", "Order.New", "Orders", "order"].map {
            table.insert(bytes($0).span)
        }
        #expect(table.count == 5)
        #expect(Self.found(table, "Order.New") == [numbers[1], numbers[0], numbers[2]])
        #expect(Self.found(table, "Order.") == [numbers[1], numbers[0]])
        #expect(Self.found(table, "Order.New", from: 6) == [numbers[0], numbers[2]])
        #expect(Self.found(table, "Orde") == [numbers[1]])
        #expect(Self.found(table, "") == [] && Self.found(table, "x") == [])
        #expect(table.index(of: bytes("Orders").span) == numbers[3])
        #expect(table.index(of: bytes("Orde").span) == nil)
    }

    /// The prefixes that begin with a text; those behind an end are passed over.
    private static func below(
        _ table: PrefixTable, _ start: String, endingAt ends: Set<String> = []
    ) -> [String] {
        var texts: [String] = []
        table.forEachText(beginningWith: bytes(start)) { text, _ in
            texts.append(String(decoding: text, as: UTF8.self))
            return !ends.contains(texts[texts.count - 1])
        }
        return texts
    }

    @Test("the prefixes that begin with a text are found in the order of their bytes")
    func begins() {
        var table = PrefixTable()
        let all = ["O", "Order.", "Order.A", "Order.New", "Orders", "order"]
        for prefix in all.reversed() { _ = table.insert(bytes(prefix).span) }
        #expect(Self.below(table, "") == all)
        #expect(Self.below(table, "Ord") == Array(all[1...4]))
        #expect(Self.below(table, "Order.") == Array(all[1...3]))
        #expect(Self.below(table, "Order.Ne") == ["Order.New"])
        for text in ["Order.Nx", "Order.New.", "p"] { #expect(Self.below(table, text) == []) }
        #expect(Self.below(table, "", endingAt: ["Order."]) == ["O", "Order.", "Orders", "order"])
        #expect(Self.below(PrefixTable(), "") == [])
    }

    @Test("a prefix that is used twice goes with the second; empty tables cost what new ones do")
    func counts() {
        var table = PrefixTable()
        let footprint = table.footprint
        let first = table.insert(bytes("ab").span)
        #expect(table.insert(bytes("ab").span) == first && table.count == 1)
        table.remove(first)
        #expect(Self.found(table, "abc") == [first])
        table.remove(first)
        #expect(Self.found(table, "abc") == [] && table.count == 0)
        for number in 0..<100 { _ = table.insert(bytes("n\(number)").span) }
        for number in 0..<100 {
            if let index = table.index(of: bytes("n\(number)").span) { table.remove(index) }
        }
        #expect(table.count == 0 && table.footprint == footprint)
    }

    @Test("it agrees with a list that is searched", arguments: 1...40)
    func agrees(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        var table = PrefixTable()
        var uses: [String: (index: PrefixTable.Index, count: Int)] = [:]
        func text(_ limit: Int) -> String {
            (0..<Int.random(in: 1...limit, using: &random)).reduce(into: "") { text, _ in
                text += ["a", "b", "é"].randomElement(using: &random) ?? "a"
            }
        }
        for _ in 0..<300 {
            let prefix = text(5)
            if let use = uses[prefix], Bool.random(using: &random) {
                table.remove(use.index)
                uses[prefix] = use.count == 1 ? nil : (use.index, use.count - 1)
            } else {
                let index = table.insert(bytes(prefix).span)
                #expect(uses[prefix].map { $0.index == index } ?? true)
                uses[prefix] = (index, (uses[prefix]?.count ?? 0) + 1)
            }
            let wanted = text(7)
            let expected = uses.filter { bytes(wanted).starts(with: bytes($0.key)) }
                .sorted { $0.key.utf8.count < $1.key.utf8.count }.map(\.value.index)
            try #require(Self.found(table, wanted) == expected)
            try #require(table.count == uses.count)
            let start = text(3)
            let below = uses.keys.map { bytes($0) }.filter { $0.starts(with: bytes(start)) }
                .sorted { $0.lexicographicallyPrecedes($1) }
            var found: [[UInt8]] = []
            table.forEachText(beginningWith: bytes(start)) { text, useCount in
                found.append(text)
                return useCount == uses[String(decoding: text, as: UTF8.self)]?.count ?? 0
            }
            try #require(found == below)
        }
    }
}
