import Testing

@testable import BelfryCenter

@Suite("Archives: what one command stores (rules A3, A5 and A8)")
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

    @Test("A8: a registration beside others that read the past stores its own row alone")
    func besideReaders() {
        var stored = StoredScenario { $0.flushByteLimit = 1 }
        stored.run { $0.archive("a") { $0.isStored = true } }
        for _ in 0..<3 { stored.run { $0.post("a") } }
        let client = stored.run { $0.connect() }
        for _ in 0..<20 {
            stored.run { scenario in
                let registration = scenario.registration("a", nil, ObserverTerms())
                scenario.apply(.addObserver(registration, client: client, since: 0))
            }
            // Once as it is, and once with its place in the past.
            let rows = stored.changes.count { if case .observer = $0 { true } else { false } }
            #expect(rows == 2)
        }
    }
}

extension StoredScenario {
    /// How many notifications of archives the store has.
    fileprivate var keptCount: Int { stored.image.kept.count }
}
