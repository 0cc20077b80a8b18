import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: asks that wait for the first responder (Rules.md, R21)")
struct WaitingForAnybodyTests {
    private var scenario: Scenario

    init() {
        var limits = CenterLimits()
        limits.isDurable = true
        scenario = Scenario(limits: limits)
    }

    /// A stored ask that waits for the first responder of `w`.
    private mutating func waiting(
        _ change: (inout Scenario.Asking) -> Void = { _ in }
    ) -> NotificationID {
        let id = scenario.ask("w", "a") {
            $0.wait = 0
            $0.lifetime = 60_000
            $0.options.waitsForAnybody = true
            change(&$0)
        }
        return id
    }

    private mutating func isHeld(_ id: NotificationID) -> Bool {
        scenario.fate(id) == "open"
            && scenario.center.asks(
                matching: ObserverQuery(), visible: { _, _ in true }
            ).rows.contains { $0.id == id && $0.observer == 0 && !$0.isShown }
    }

    @Test("R21: where nobody holds the address it waits, and the first that comes is shown it")
    mutating func first() {
        let id = waiting()
        #expect(scenario.answers == ["open"] && isHeld(id))
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client)
        // The answer to the registration comes first (rule R1).
        #expect(scenario.shown.isEmpty)
        scenario.apply(.drain(client: client))
        scenario.commit()
        #expect(scenario.shown == ["o\(responder) w.a"])
        scenario.answer(responder, 1, .result(bytes("1")))
        #expect(scenario.fate(id) == "1 by o\(responder)")
    }

    @Test("R21: without the option it ends at once; when all have handed it on it ends, too")
    mutating func ends() {
        let plain = waiting { $0.options.waitsForAnybody = false }
        #expect(scenario.fate(plain) == "no-responder")
        let responder = scenario.respond("w", ["a"], by: scenario.connect())
        scenario.apply(.drain(client: 1))
        let passed = waiting()
        scenario.answer(responder, 1, .passed(bytes("{}")))
        #expect(scenario.fate(passed) == "selector-not-implemented")
    }

    @Test("R21: one that implements another selector is not shown it")
    mutating func others() {
        let id = waiting()
        let client = scenario.connect()
        scenario.respond("w", ["b"], by: client) { $0.ifHeld = .share }
        let gone = scenario.respond("w", ["c"], by: client) { $0.ifHeld = .share }
        scenario.apply(.removeObserver(serial: gone, by: .broker))
        scenario.apply(.drain(client: client))
        #expect(isHeld(id))
        let second = scenario.respond("w", ["a"], by: client) { $0.ifHeld = .share }
        scenario.apply(.drain(client: client))
        scenario.commit()
        #expect(scenario.shown == ["o\(second) w.a"])
    }

    @Test("R21: an alias leads it on to the next address, and to who comes there")
    mutating func alias() {
        let (first, second) = (waiting(), waiting())
        let client = scenario.connect()
        scenario.respond("w", [], by: client) { $0.next = "team" }
        #expect(isHeld(first) && isHeld(second))
        let responder = scenario.respond("team", ["a"], by: client)
        scenario.apply(.drain(client: client))
        scenario.commit()
        #expect(scenario.shown == ["o\(responder) team.a", "o\(responder) team.a"])
    }

    @Test("R21: a mailbox that comes has it, and one that was busy gets it with its next room")
    mutating func mailboxAndRoom() {
        let id = waiting()
        let mailbox = scenario.respondingMailbox("w", ["a"])
        #expect(
            scenario.center.mailbox(of: mailbox, after: 0, limit: 10)?.elements
                .map(\.notification.id) == [id])
        scenario.apply(.removeObserver(serial: mailbox, by: .broker))
        #expect(isHeld(id))
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) { $0.concurrency = 1 }
        scenario.apply(.drain(client: client))
        scenario.commit()
        let next = waiting()
        #expect(isHeld(next))
        scenario.answer(responder, scenario.center.sequence, .result(bytes("1")))
        scenario.commit()
        #expect(scenario.shown == ["o\(responder) w.a"])
    }

    @Test("R21: it ends with its time and with its withdrawal, and no worker sees it then")
    mutating func endsByItself() {
        let (late, withdrawn) = (waiting { $0.lifetime = 1_000 }, waiting())
        scenario.apply(.withdraw(withdrawn))
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.fate(late) == "no-answer" && scenario.fate(withdrawn) == "withdrawn")
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        scenario.apply(.drain(client: client))
        scenario.commit()
        #expect(scenario.shown.isEmpty)
    }

    @Test("R21: it counts among the open asks: past the limit the next is refused")
    mutating func limit() {
        var limits = CenterLimits()
        limits.askLimit = 2
        scenario.apply(.configure(limits))
        _ = (waiting(), waiting())
        _ = waiting()
        #expect(scenario.effects.outcome == .refused(.asksFull(limit: 2)))
    }

    @Test("R21: a worker that is lost while it works leaves the ask to the next that comes")
    mutating func lostWorker() {
        let id = waiting()
        let first = scenario.connect()
        scenario.respond("w", ["a"], by: first) { $0.endsWithConnection = true }
        scenario.apply(.drain(client: first))
        scenario.commit()
        scenario.disconnect(first)
        #expect(isHeld(id))
        let second = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: second)
        scenario.apply(.drain(client: second))
        scenario.commit()
        #expect(scenario.shown == ["o\(responder) w.a"])
    }
}
