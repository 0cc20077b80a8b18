import Testing

@testable import BelfryCenter

@Suite("Archives: changes of terms in shares (rules A3 and A5)")
struct ArchiveShareTests {
    @Test("A5: a command hands a store some megabyte of an archive that is stored from now on")
    func stored() {
        var stored = StoredScenario()
        stored.run { $0.archive("a") }
        let large = "{\"x\":\"\(String(repeating: "x", count: 100_000))\"}"
        for _ in 0..<20 { stored.run { $0.post("a", userInfo: large) } }
        stored.run { $0.archive("a") { $0.isStored = true } }
        #expect(stored.keptCount == 13)
        #expect(stored.scenario.center.needs.isDue(at: stored.scenario.time))
        stored.run { $0.apply(.passTime(workLimit: 2_048)) }
        #expect((14..<20).contains(stored.keptCount))
        stored.run { $0.apply(.passTime(workLimit: .max)) }
        #expect(stored.keptCount == 20)
        #expect(!stored.scenario.center.needs.isDue(at: stored.scenario.time))
    }
}

extension StoredScenario {
    /// How many notifications of archives the store has.
    fileprivate var keptCount: Int { stored.image.kept.count }
}
