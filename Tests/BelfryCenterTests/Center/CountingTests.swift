import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what a row counts, and what takes a number (Rules.md, C19, C20)")
struct CountingTests {
    @Test("C19: the row of a mailbox counts each change that was read out of it once")
    func changes() {
        var scenario = Scenario()
        let serial = scenario.lookingMailbox("v", "a") { $0.behavior = .hold }
        scenario.put("v", "a", "1")
        scenario.put("v", "a", "2")
        #expect(scenario.center.observer(serial)?.tally.delivered == 0)
        scenario.milliseconds = 7_000
        scenario.apply(.readMailbox(observer: serial, through: scenario.center.sequence))
        #expect(scenario.center.observer(serial)?.tally.delivered == 2)
        #expect(scenario.center.observer(serial)?.tally.lastDeliveredAt == 7_000)
        scenario.apply(.attachStream(observer: serial, connection(7)))
        scenario.put("v", "a", "3")
        #expect(scenario.center.observer(serial)?.tally.delivered == 3)
        scenario.apply(.readMailbox(observer: serial, through: scenario.center.sequence))
        #expect(scenario.center.observer(serial)?.tally.delivered == 3)
    }

    @Test("C19: so it is with what a mailbox had before a restart")
    func restarted() {
        var stored = StoredScenario()
        let serial = stored.run { $0.mailbox("n") }
        for _ in 1...2 { stored.run { $0.post("n") } }
        stored.restart(isComplete: false)
        stored.run { $0.apply(.readMailbox(observer: serial, through: $0.center.sequence)) }
        #expect(stored.scenario.center.observer(serial)?.tally.delivered == 2)
    }

    @Test("C20: a report takes a number when somebody observes its channel, with whatever object")
    func reports() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        #expect(scenario.center.sequence == 0)
        scenario.observe("belfry.responder.changed", "u", by: client)
        scenario.respond("v", ["a"], by: client)
        #expect(scenario.center.sequence == 1 && scenario.frames.isEmpty)
        scenario.respond("u", ["a"], by: client)
        #expect(scenario.center.sequence == 2)
        #expect(scenario.frames.map { $0.prefix { $0 != "{" } } == ["belfry.responder.changed"])
    }
}
