import Testing

@testable import BelfryCenter

@Suite("KeptMemory")
struct KeptMemoryTests {
    @Test("there is a place for each kind")
    func kinds() {
        var memory = KeptMemory()
        for kind in KeptKind.allCases { memory[kind] = kind.rawValue + 1 }
        for kind in KeptKind.allCases { #expect(memory[kind] == kind.rawValue + 1) }
    }

    @Test(
        "blocks are counted as malloc gives them out",
        arguments: [(0, 32), (24, 32), (25, 48), (40, 48), (41, 64)])
    func blocks(byteCount: Int, expected: Int) {
        #expect(Footprint.block(of: byteCount) == expected)
    }

    @Test("a center that has forgotten and lost all keeps nearly nothing")
    func empty() {
        var scenario = Scenario()
        let before = scenario.keptMemory()
        let client = scenario.connect()
        for number in 0..<500 {
            scenario.apply(
                .addObserver(
                    scenario.registration("n\(number)", "o\(number)"), client: client, since: nil))
            scenario.say("p\(number)")
        }
        let full = scenario.keptMemory()
        scenario.apply(.removeClient(client: client, by: .broker))
        for kind in KeptKind.allCases { scenario.apply(.trim(kind, count: 0)) }
        let last = scenario.keptMemory()
        for kind in [KeptKind.observers, .channels, .replay, .fates, .tombstones] {
            #expect(full[kind] > before[kind] + 10_000 || kind == .tombstones, "\(kind)")
            #expect(last[kind] < before[kind] + 4_096, "\(kind)")
        }
    }

    @Test("small changes are left for later, and the growth is told once they add up")
    func smallChanges() {
        var scenario = Scenario()
        let before = scenario.keptMemory()
        let client = scenario.connect()
        var growth = KeptMemory()
        func hasGrown(by byteCount: Int) -> Bool {
            scenario.center.noteKept(ifChangedBy: byteCount, addingTo: &growth)
        }
        #expect(!hasGrown(by: 4_096))
        #expect(scenario.center.keptMemory == before)
        for number in 0..<16 where growth == KeptMemory() {
            scenario.observe("n\(number)", by: client)
            _ = hasGrown(by: 4_096)
        }
        #expect(growth == scenario.center.keptMemory - before)
        growth = KeptMemory()
        #expect(!hasGrown(by: 1))
        #expect(hasGrown(by: 0))
        #expect(growth == KeptMemory())
    }

    @Test("a trim forgets the oldest, down to a count and no further")
    func trim() {
        var scenario = Scenario()
        let ids = (0..<10).map { scenario.say("a\($0)") }
        scenario.apply(.trim(.fates, count: 10))
        #expect(scenario.center.trimmableCount(of: .fates) == 10)
        scenario.apply(.trim(.fates, count: 3))
        #expect(scenario.center.trimmableCount(of: .fates) == 3)
        #expect(scenario.account(ids[6]) == nil)
        #expect(scenario.account(ids[7]) != nil)
        scenario.apply(.trim(.replay, count: 4))
        #expect(scenario.center.trimmableCount(of: .replay) == 4)
    }

    @Test("observers, the queue and what is held lose nothing by a trim")
    func kept() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        scenario.say("a1")
        for kind in KeptKind.allCases { scenario.apply(.trim(kind, count: 0)) }
        #expect(scenario.center.heldByteCount == 2)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a1"])
    }
}
