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
        scenario.center.noteKept()
        let before = scenario.center.needs.kept
        let client = scenario.connect()
        for number in 0..<500 {
            scenario.apply(
                .addObserver(
                    scenario.registration("n\(number)", "o\(number)"), client: client, since: nil))
            scenario.say("p\(number)")
        }
        scenario.center.noteKept()
        let full = scenario.center.needs.kept
        scenario.apply(.removeClient(client: client, by: .broker))
        for kind in KeptKind.allCases { scenario.apply(.trim(kind, count: 0)) }
        scenario.center.noteKept()
        for kind in [KeptKind.observers, .channels, .replay, .fates, .tombstones] {
            #expect(full[kind] > before[kind] + 10_000 || kind == .tombstones, "\(kind)")
            #expect(scenario.center.needs.kept[kind] < before[kind] + 4_096, "\(kind)")
        }
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
