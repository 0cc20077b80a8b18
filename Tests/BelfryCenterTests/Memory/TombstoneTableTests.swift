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
        var generator = SeededGenerator(seed: seed)
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
        #expect(serials(scenario.center.tombstones) == [4, 5])
    }
}
