import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: timers and the store (Rules.md, L)")
struct StoredTimerTests {
    private var stored = StoredScenario()

    @Test("L6: due times are wall time across a restart; what became due is posted at the start")
    mutating func goesOn() {
        let id = stored.run { $0.later("a1/o", after: 5_000) }
        #expect(stored.changes.contains { if case .timer = $0 { true } else { false } })
        stored.run { $0.later("b2", after: 60_000, style: .idle, modes: ["modal"]) }
        stored.scenario.milliseconds += 4_000
        stored.restart(isComplete: false)
        #expect(stored.turn(after: 999) == [])
        #expect(stored.turn(after: 1) == ["a1/o"])
        #expect(stored.scenario.effects.notifications[0].id == id)
        stored.scenario.milliseconds += 100_000
        stored.restart(isComplete: false)
        #expect(stored.turn() == [])
        #expect(stored.scenario.queueTexts == ["b2 idle"] && stored.stored.image.timers.isEmpty)
        #expect(stored.scenario.center.digest() != 0)
    }

    @Test("L6: after a stop there is one firing for all that were missed, and the grid stays")
    mutating func catchesUp() {
        let id = stored.run { $0.later("r", after: 0, every: 1_000) }
        #expect(stored.turn() == ["r"])
        #expect(stored.turn(after: 1_000) == ["r"])
        stored.scenario.milliseconds += 3_500
        stored.restart()
        #expect(stored.turn() == ["r"])
        #expect(stored.scenario.effects.notifications[0].causedBy == id)
        #expect(!stored.scenario.effects.notifications[0].isRestored)
        #expect(stored.scenario.timerTexts == ["r at 5000 fired 3 missed 2"])
        #expect(stored.turn(after: 499) == [])
        #expect(stored.turn(after: 1) == ["r"])
    }

    @Test("L6: what may have been posted before a crash is marked, and has the id that it had")
    mutating func isMarkedAfterACrash() {
        stored.run { $0.later("r", every: 1_000) }
        stored.scenario.milliseconds += 1_000
        let before = stored
        #expect(stored.scenario.turn() == ["r"])
        let first = stored.scenario.effects.notifications[0]
        #expect(!first.isRestored)
        // The store has heard nothing of it.
        stored = before
        stored.restart(isComplete: false)
        #expect(stored.turn() == ["r"])
        let again = stored.scenario.effects.notifications[0]
        #expect(again.id == first.id && again.isRestored)
        #expect(stored.turn(after: 1_000) == ["r"])
        #expect(!stored.scenario.effects.notifications[0].isRestored)
    }

    @Test("L6: no firing has the id of another one that was posted before a crash and not stored")
    mutating func eachFiringHasItsID() {
        stored.run { $0.later("r", every: 1_000) }
        let before = stored
        var lost: [NotificationID] = []
        for _ in 0..<2 {
            stored.scenario.milliseconds += 1_000
            #expect(stored.scenario.turn() == ["r"])
            lost.append(stored.scenario.effects.notifications[0].id)
        }
        // The store has heard of neither.
        stored = before
        stored.scenario.milliseconds += 2_500
        stored.restart(isComplete: false)
        #expect(stored.turn() == ["r"])
        let again = stored.scenario.effects.notifications[0]
        #expect(again.id == lost[0] && again.isRestored)
        #expect(stored.turn(after: 500) == ["r"])
        let next = stored.scenario.effects.notifications[0]
        #expect(!lost.contains(next.id) && !next.isRestored)
    }

    @Test("L6: what was made before a restart and still waits is known by its id")
    mutating func lastFiringIsKnown() {
        let id = stored.run { $0.later("r", every: 1_000, modes: ["modal"]) }
        // It is late: of the three that were due, one is made.
        #expect(stored.turn(after: 3_500) == [])
        stored.restart()
        #expect(stored.turn(after: 500) == [])
        #expect(stored.scenario.timerTexts == ["r at 5000 fired 1 missed 3"])
        stored.run { $0.apply(.dequeueEntry(id, scope: .everything)) }
        #expect(stored.scenario.queueTexts == [] && stored.scenario.timerTexts == [])
    }

    @Test("L6: a lease does not run while the broker is down")
    mutating func leaseStandsStill() {
        let id = stored.run { $0.later("r", every: 60_000, lease: 100_000) }
        #expect(stored.turn(after: 60_000) == ["r"])
        stored.scenario.milliseconds += 70_000
        stored.restart()
        #expect(stored.turn() == ["r"])
        #expect(stored.turn(after: 39_999) == [])
        #expect(stored.scenario.timerTexts.count == 1)
        #expect(stored.turn(after: 1) == [])
        #expect(stored.scenario.timerTexts == [] && stored.scenario.fate(id) == .expired)
        #expect(stored.stored.image.timers.isEmpty)
    }

    @Test("L7: a repeating timer whose client did not last ends at the start")
    mutating func endsWithItsClient() {
        let lasting = stored.run { $0.connect() }
        stored.run { $0.observe("x", by: lasting, .hold) }
        let passing = stored.run { $0.connect() }
        stored.run { $0.later("stays", every: 1_000, by: lasting) }
        stored.run { $0.later("goes", every: 1_000, by: passing) }
        stored.restart(isComplete: false)
        #expect(stored.turn(after: 1_000) == ["stays"])
        #expect(stored.stored.image.timers.count == 1)
    }

    @Test("L10: after a restart the delay of a farewell runs from the start, at least 30 s")
    mutating func farewellsWaitForTheirClients() {
        let (x, y, z) = (
            stored.run { $0.connect() }, stored.run { $0.connect() }, stored.run { $0.connect() }
        )
        stored.run { $0.farewell("x", by: x) }
        stored.run { $0.farewell("y", after: 60_000, by: y) }
        stored.run { $0.farewell("z", after: 10_000, by: z) }
        #expect(stored.stored.image.clients.count == 3)
        stored.run { $0.cut(z) }
        stored.scenario.milliseconds += 500_000
        stored.restart(isComplete: false)
        #expect(stored.turn(after: 29_999) == [])
        #expect(stored.turn(after: 1) == ["x", "z"])
        #expect(stored.stored.image.clients.map(\.id) == [y])
        let outcome = stored.run { $0.back(y) }
        if case .resumed = outcome {} else { Issue.record("it lasts as long as its farewell") }
        #expect(stored.turn(after: 100_000) == [])
        stored.run { $0.cut(y) }
        #expect(stored.turn(after: 60_000) == ["y"])
        #expect(stored.stored.image.timers.isEmpty && stored.stored.image.clients.isEmpty)
    }

    @Test("L11: a center that comes back posts didStart once, to who observes that")
    mutating func didStart() {
        let client = stored.run { $0.connect() }
        stored.run { $0.observe("belfry.center.didStart", by: client, .hold) }
        stored.run { $0.observe(nil, by: client, .hold) }
        stored.restart(isComplete: false)
        stored.run { $0.apply(.endTurn(workLimit: .max)) }
        stored.run { $0.back(client) }
        #expect(stored.scenario.frames == [#"belfry.center.didStart{"epoch":"k1","unclean":true}"#])
        stored.restart()
        stored.run { $0.apply(.endTurn(workLimit: .max)) }
        stored.run { $0.back(client) }
        #expect(
            stored.scenario.frames == [#"belfry.center.didStart{"epoch":"k1","unclean":false}"#])
    }

    @Test("a timer that cannot be stored is refused, and nothing changes")
    mutating func mustBeStored() {
        stored.run { $0.later("a", after: 10) { $0.canStore = false } }
        #expect(stored.scenario.effects.outcome == .refused(.cannotStore))
        #expect(stored.scenario.timerTexts == [])
    }
}
