import BelfryJSON
import TestSupport
import Testing

@testable import BelfryCenter

@Suite("TombstoneTable (law 4)")
struct TombstoneTableTests {
    private let tombstone = Tombstone(
        tokenHash: SecretHash(high: 1, low: 2), removedAt: 5, removedBy: .broker,
        reason: .removed, name: bytes("a"), object: nil)

    private func serials(_ table: TombstoneTable) -> [UInt64] {
        var result: [UInt64] = []
        table.forEach { serial, _ in result.append(serial) }
        return result
    }

    @Test("the limit is kept at and one past it, and the oldest is forgotten")
    func limit() {
        var table = TombstoneTable()
        for serial in [9, 4, 7] as [UInt64] { table.append(tombstone, serial: serial, limit: 3) }
        #expect(serials(table) == [9, 4, 7])
        table.append(tombstone, serial: 5, limit: 3)
        #expect(serials(table) == [4, 7, 5])
        #expect(table[9] == nil)
        #expect(table[4] == tombstone)
        #expect(table.count == 3)
    }

    @Test("a limit of nothing keeps nothing", arguments: [0, -1])
    func nothing(limit: Int) {
        var table = TombstoneTable()
        table.append(tombstone, serial: 1, limit: limit)
        #expect(table[1] == nil)
        #expect(table.count == 0)
    }

    @Test("random additions agree with an array", arguments: 1...3)
    func randomComparison(seed: UInt64) {
        var generator = SplitMix(seed: seed)
        var table = TombstoneTable()
        var model: [UInt64] = []
        for serial in 1...2_000 as ClosedRange<UInt64> {
            let limit = 1 + generator.below(50)
            table.append(tombstone, serial: serial, limit: limit)
            model.append(serial)
            model.removeFirst(max(0, model.count - limit))
            let probe = UInt64(1 + generator.below(2_000))
            check((table[probe] != nil) == model.contains(probe))
        }
        check(serials(table) == model)
    }

    /// A tombstone of an observer with this many names of 1,000 bytes, a prefix and a condition.
    private func tombstone(nameCount: Int) throws -> Tombstone {
        var terms = FilterTerms()
        let text = String(repeating: "n", count: 996)
        terms.names = (0..<nameCount).map { bytes("\(1_000 + $0)\(text)") }
        terms.objectPrefix = bytes(String(repeating: "o", count: 1_000))
        let condition = bytes(#"{"a":"\#(String(repeating: "c", count: 4_000))"}"#)
        terms.condition = try JSONCondition(condition.span)
        terms.grants = [GrantCondition(alternatives: [try JSONCondition(condition.span)])]
        return Tombstone(
            tokenHash: SecretHash(high: 1, low: 2), removedAt: 5, removedBy: .broker,
            reason: .removed, name: nil, object: nil, terms: terms)
    }

    @Test("the texts of finer filters count, until they are forgotten", arguments: [0, 1, 32])
    func textsOfFilters(nameCount: Int) throws {
        let stone = try tombstone(nameCount: nameCount)
        var table = TombstoneTable()
        for serial in 1...100 as ClosedRange<UInt64> {
            table.append(tombstone, serial: serial, limit: 1_000)
        }
        let before = table.footprint
        for serial in 101...200 as ClosedRange<UInt64> {
            table.append(stone, serial: serial, limit: 1_000)
        }
        let each = (table.footprint - before) / 100
        let kept = (nameCount + 1) * 1_000
        #expect(each >= kept && each < kept + kept * 15 / 100 + 400, "\(each) of \(kept)")
        table.trim(to: 0)
        #expect(table.textFootprint == 0)
    }

    @Test("the room that texts have in one process does not count: it is no part of the state")
    func room() {
        func footprint(capacity: Int) -> Int {
            var name = [UInt8](repeating: 97, count: 100)
            name.reserveCapacity(capacity)
            var terms = FilterTerms()
            terms.names = [name]
            terms.names.reserveCapacity(capacity)
            var table = TombstoneTable()
            table.append(
                Tombstone(
                    tokenHash: SecretHash(high: 1, low: 2), removedAt: 5, removedBy: .broker,
                    reason: .removed, name: nil, object: nil, terms: terms), serial: 1, limit: 1)
            return table.textFootprint
        }
        #expect(footprint(capacity: 4_096) == footprint(capacity: 100))
    }

    @Test("names and prefixes of a finer filter are kept, and conditions are not")
    func conditions() throws {
        let terms = try #require(try tombstone(nameCount: 2).terms)
        #expect(terms.names.count == 2 && terms.objectPrefix != nil && !terms.hasCondition)
        var scenario = Scenario()
        scenario.observe(where: #"{"a":1}"#, by: scenario.connect())
        scenario.remove(1, by: .broker)
        let tombstone = try #require(scenario.center.tombstone(1))
        #expect(tombstone.terms == nil)
    }

    @Test("a lower limit that is configured takes effect at once")
    func configure() {
        var scenario = Scenario()
        let client = scenario.connect()
        for _ in 0..<5 {
            scenario.remove(scenario.observe("a", by: client), by: .broker)
        }
        var limits = CenterLimits()
        limits.tombstoneLimit = 2
        scenario.apply(.configure(limits))
        #expect(serials(scenario.center.registry.tombstones) == [4, 5])
    }
}
