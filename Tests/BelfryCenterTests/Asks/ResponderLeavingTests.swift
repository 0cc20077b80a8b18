import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: asks whose responders go (Rules.md, R)")
struct ResponderLeavingTests {
    private var scenario = Scenario()

    @Test("R1, R10, R11 (T208, T225): a replacement takes the ask over")
    mutating func isReplaced() {
        let client = scenario.connect()
        let other = scenario.connect()
        let first = scenario.respond("w", ["a"], by: client)
        let id = scenario.ask("w", "a")
        let second = scenario.respond("w", ["a"], by: other)
        #expect(scenario.settled == ["o\(first) passed"])
        // Behind the answer of the registration.
        #expect(scenario.shown.isEmpty)
        scenario.apply(.drain(client: other))
        #expect(scenario.shown == ["o\(second) w.a"])
        #expect(scenario.center.tombstone(first)?.reason == .replaced)
        scenario.answer(first, 1, .result(bytes("1")))
        #expect(scenario.fate(id) == "open")
        scenario.answer(second, 2, .result(bytes("2")))
        #expect(scenario.answers == ["2 by o\(second)"])
    }

    @Test(
        "C11, R11: a responder that goes is shown nothing more, though one of its asks ends",
        arguments: [true, false])
    mutating func isShownNothingMore(isReplaced: Bool) {
        let client = scenario.connect()
        let other = scenario.connect()
        scenario.observe("n", by: client)
        let first = scenario.respond("w", ["a"], by: client) {
            $0.behavior = .hold
            $0.concurrency = 1
        }
        let once = scenario.ask("w", "a") { $0.isOnce = true }
        let waiting = scenario.ask("w", "a")
        #expect(scenario.shown.isEmpty)
        if isReplaced {
            let second = scenario.respond("w", ["a"], by: other)
            #expect(scenario.shown.isEmpty && scenario.answers == ["responder-gone"])
            scenario.apply(.drain(client: other))
            #expect(scenario.shown == ["o\(second) w.a"])
        } else {
            scenario.remove(first, by: .client(client))
            #expect(scenario.shown.isEmpty)
            #expect(scenario.answers == ["responder-gone", "no-responder"])
            #expect(scenario.fate(waiting) == "no-responder")
        }
        #expect(scenario.fate(once) == "responder-gone")
    }

    @Test("R5, R6: two of one client that share an address take what waits, each up to its room")
    mutating func isSharedByOneClient() {
        let client = scenario.connect()
        let both = (1...2).map { _ in
            scenario.respond("w", ["a"], by: client) {
                $0.behavior = .hold
                $0.concurrency = 1
                $0.ifHeld = .share
            }
        }
        scenario.suspend(client)
        for _ in 1...3 { scenario.ask("w", "a") }
        scenario.endSuspension(client)
        #expect(scenario.shown.sorted() == both.map { "o\($0) w.a" })
        #expect(scenario.center.asks.heldCount == 1)
    }

    @Test("R6, R11: what waits for a replacement that does not hold goes on when that is busy")
    mutating func goesOnFromABusyReplacement() {
        let client = scenario.connect()
        let other = scenario.connect()
        scenario.respond("w", ["a"], by: client) {
            $0.behavior = .hold
            $0.concurrency = 1
        }
        let last = scenario.respond("app", ["a"], by: client)
        for _ in 1...3 { scenario.ask("w", "a") }
        let second = scenario.respond("w", ["a"], by: other) {
            $0.concurrency = 1
            $0.next = "app"
        }
        scenario.apply(.drain(client: other))
        #expect(scenario.shown == ["o\(second) w.a", "o\(last) app.a", "o\(last) app.a"])
        #expect(scenario.center.asks.heldCount == 0)
    }

    @Test(
        "R6, D8: what waited is shown once, behind what was held while its client asked"
    )
    mutating func isShownOnceBehindAFlush() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) {
            $0.behavior = .deliverImmediately
        }
        scenario.observe("n", by: client, .hold)
        scenario.suspend(client)
        scenario.post("n")
        scenario.cut(client)
        scenario.ask("w", "a")
        scenario.back(client)
        #expect(scenario.shown == ["o\(responder) w.a"])
        let sequence = scenario.effects.notifications.last?.sequence ?? 0
        scenario.answer(responder, sequence, .result(bytes("1")))
        #expect(scenario.answers == ["1 by o\(responder)"])
    }

    @Test("R11, R10: who was shown an ask and lost its connection may answer it by its identifier")
    mutating func isAnsweredWhileAway() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) { $0.behavior = .hold }
        let first = scenario.ask("w", "a")
        scenario.cut(client)
        let second = scenario.ask("w", "a")
        scenario.apply(.answer(first, observer: responder, .result(bytes("1"))))
        #expect(scenario.answers == ["1 by o\(responder)"])
        scenario.apply(.answer(second, observer: responder, .result(bytes("2"))))
        #expect(scenario.effects.outcome == .refused(.unknownAsk))
    }

    @Test(
        "R19: asks and acknowledgements that are owed make a client slow together"
    )
    mutating func owesBoth() {
        for asksLast in [false, true] {
            var limits = CenterLimits()
            limits.unacknowledgedLimit = 2
            var scenario = Scenario(limits: limits)
            let client = scenario.connect()
            scenario.respond("w", ["a"], by: client)
            let row = scenario.wire("n", nil, "w", "a", by: client) { $0.acknowledges = true }
            if asksLast { scenario.post("n") } else { scenario.ask("w", "a") }
            #expect(scenario.state(client) == .live && row > 0)
            if asksLast { scenario.ask("w", "a") } else { scenario.post("n") }
            #expect(scenario.state(client) == .slow)
        }
    }

    @Test("R11: when its responder disconnects without holding the walk starts again, and ends")
    mutating func responderGoes() {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        let id = scenario.ask("w", "a")
        scenario.cut(client)
        #expect(scenario.answers == ["no-responder"] && scenario.fate(id) == "no-responder")
    }

    @Test("R11: one that holds is shown it again when it comes back")
    mutating func isShownAgain() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) { $0.behavior = .hold }
        let id = scenario.ask("w", "a")
        scenario.cut(client)
        #expect(scenario.answers.isEmpty && scenario.fate(id) == "open")
        scenario.back(client)
        #expect(scenario.shown == ["o\(responder) w.a*"])
        scenario.answer(responder, 2, .result(bytes("1")))
        #expect(scenario.answers == ["1 by o\(responder)"])
    }

    @Test(
        "R11: a client that is taken over is shown again what it was asked, whatever its behaviour")
    mutating func isTakenOver() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a")
        scenario.back(client)
        #expect(scenario.shown == ["o\(responder) w.a*"])
    }

    @Test("R12: with once nobody is asked a second time")
    mutating func once() {
        let client = scenario.connect()
        let other = scenario.connect()
        scenario.respond("w", ["a"], by: client) { $0.behavior = .hold }
        scenario.ask("w", "a") { $0.isOnce = true }
        scenario.cut(client)
        #expect(scenario.answers == ["responder-gone"])
        let second = scenario.respond("w", ["a"], by: other) { $0.next = "app" }
        scenario.respond("app", ["a"], by: other)
        scenario.ask("w", "a") { $0.isOnce = true }
        scenario.answer(second, 2, .passed([]))
        #expect(scenario.answers == ["selector-not-implemented"] && scenario.shown.isEmpty)
    }
}
