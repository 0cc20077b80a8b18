import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what is shown when a command is over (Rules.md, R6, R9, R10, R20)")
struct AskOrderTests {
    private static func holdsOne(_ responding: inout Scenario.Responding) {
        responding.behavior = .hold
        responding.concurrency = 1
    }

    private static func sharesOne(_ responding: inout Scenario.Responding) {
        holdsOne(&responding)
        responding.ifHeld = .share
    }

    private static var durable: CenterLimits {
        var limits = CenterLimits()
        limits.isDurable = true
        return limits
    }

    // MARK: R10

    @Test("R10: of asks that end in one command none is shown; one end is told")
    func endTogether() {
        var scenario = Scenario()
        let responder = scenario.respond("w", ["a"], by: scenario.connect(), Self.holdsOne)
        let asks = (1...5).map { _ in scenario.ask("w", "a") { $0.lifetime = 1_000 } }
        let last = scenario.ask("w", "a") { $0.lifetime = 9_000 }
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.settled == ["o\(responder) expired"])
        #expect(asks.allSatisfy { scenario.fate($0) == "no-answer" })
        #expect(scenario.shown == ["o\(responder) w.a"])
        #expect(scenario.effects.notifications.map(\.id) == [last])
    }

    @Test("R10: so it is where time passes in shares: what is over waits for its end, unseen")
    func endInShares() {
        var scenario = Scenario()
        let responder = scenario.respond("w", ["a"], by: scenario.connect(), Self.holdsOne)
        let asks = (1...5).map { _ in scenario.ask("w", "a") { $0.lifetime = 1_000 } }
        scenario.milliseconds += 1_000
        var settled: [String] = []
        for _ in asks {
            scenario.apply(.passTime(workLimit: 1))
            #expect(scenario.shown.isEmpty)
            settled += scenario.settled
        }
        #expect(settled == ["o\(responder) expired"])
        #expect(asks.allSatisfy { scenario.fate($0) == "no-answer" })
    }

    @Test("R10, R16: an asker that waits for several goes: none of them is shown meanwhile")
    func askerGoes() {
        var scenario = Scenario()
        let responder = scenario.respond("w", ["a"], by: scenario.connect(), Self.holdsOne)
        for end in ["cut", "removed", "resumed"] {
            let asker = scenario.connect()
            let asks = (1...3).map { _ in scenario.ask("w", "a") { $0.terms.client = asker } }
            let other = scenario.ask("w", "a")
            switch end {
            case "cut": scenario.cut(asker)
            case "removed": scenario.apply(.removeClient(client: asker, by: .broker))
            default:
                scenario.observe("x", by: asker)
                let newcomer = scenario.connect()
                scenario.apply(.resume(Resumption(newcomer: newcomer, client: asker, after: nil)))
            }
            #expect(scenario.settled == ["o\(responder) withdrawn"], "\(end)")
            #expect(asks.allSatisfy { scenario.fate($0) == "withdrawn" }, "\(end)")
            #expect(scenario.effects.notifications.map(\.id).contains(other), "\(end)")
            #expect(scenario.shown == ["o\(responder) w.a"], "\(end)")
            scenario.answer(responder, scenario.center.sequence, .result(bytes("1")))
        }
    }

    @Test("R10: what was held back until the store knew is not shown when it is over by then")
    func overWhenStored() {
        var scenario = Scenario(limits: Self.durable)
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client, Self.holdsOne)
        let first = scenario.ask("w", "a") { $0.wait = 0 }
        let second = scenario.ask("w", "a") {
            $0.wait = 0
            $0.lifetime = 1_000
        }
        scenario.answer(responder, 1, .result(bytes("1")))
        let announcement = scenario.effects.announcement
        scenario.milliseconds += 1_000
        scenario.apply(.showAnnounced(through: announcement))
        #expect(scenario.shown.isEmpty)
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.shown.isEmpty && scenario.settled.isEmpty)
        #expect(scenario.fate(first) == "1 by o\(responder)")
        #expect(scenario.fate(second) == "no-answer")
    }

    @Test(
        "R6, R20: one that is over before the store knew leaves its room to those behind it",
        arguments: ["expired", "known late", "withdrawn"])
    func overWhileStored(end: String) {
        var scenario = Scenario(limits: Self.durable)
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client, Self.holdsOne)
        scenario.ask("w", "a")
        let stored = scenario.ask("w", "a") {
            $0.wait = 0
            $0.lifetime = 1_000
        }
        let next = scenario.ask("w", "a")
        scenario.answer(responder, 1, .result(bytes("1")))
        let announcement = scenario.effects.announcement
        #expect(announcement > 0 && scenario.shown.isEmpty)
        switch end {
        case "expired": scenario.pass(milliseconds: 1_000)
        case "known late":
            scenario.milliseconds += 1_000
            scenario.apply(.showAnnounced(through: announcement))
        default: scenario.apply(.withdraw(stored))
        }
        #expect(scenario.shown == ["o\(responder) w.a"])
        #expect(scenario.effects.notifications.map(\.id) == [next])
    }

    // MARK: R6

    @Test(
        "R6, R8: a mailbox that is read by a stream is shown what waits, whatever is held in it",
        arguments: [true, false])
    func streamIsShown(isOwnAction: Bool) {
        var scenario = Scenario()
        let registration = scenario.responder("w", ["a", "b"], Self.holdsOne)
        let serial = registration.serial
        _ = scenario.connect([registration], transport: .mailbox)
        scenario.apply(.attachStream(observer: serial, connection(7)))
        let other = scenario.connect()
        scenario.respond("away", ["b"], by: other) { $0.behavior = .hold }
        scenario.wire("e", nil, isOwnAction ? "w" : "away", "b", by: scenario.connect())
        scenario.apply(.setSuspended(client: other, true))
        scenario.post("e")
        scenario.post("b", "w")
        let asks = (1...2).map { _ in scenario.ask("w", "a") }
        scenario.apply(.answer(asks[0], observer: serial, .result(bytes("1"))))
        #expect(scenario.shown == ["o\(serial) w.a"])
        scenario.apply(.answer(asks[1], observer: serial, .result(bytes("2"))))
        #expect(scenario.answers == ["2 by o\(serial)"])
    }

    @Test("R6, R11: an ask whose holder is cut goes to another one that shares and is idle")
    func idleTakes() {
        var scenario = Scenario()
        let (first, second) = (scenario.connect(), scenario.connect())
        scenario.respond("d", ["work"], by: first, Self.sharesOne)
        let other = scenario.respond("d", ["work"], by: second, Self.sharesOne)
        let id = scenario.ask("d", "work")
        scenario.cut(first)
        #expect(scenario.shown == ["o\(other) d.work"])
        scenario.answer(other, scenario.center.sequence, .result(bytes("1")))
        #expect(scenario.fate(id) == "1 by o\(other)")
    }

    @Test("R2, R6: of several that are idle each takes one, by the rule of who is asked")
    func idleTakeInTurn() {
        var scenario = Scenario()
        let clients = (1...3).map { _ in scenario.connect() }
        let first = scenario.respond("d", ["work"], by: clients[0]) {
            $0.behavior = .hold
            $0.ifHeld = .share
        }
        scenario.ask("d", "work")
        scenario.ask("d", "work")
        scenario.ask("d", "work")
        let others = clients.dropFirst().map { client in
            let serial = scenario.respond("d", ["work"], by: client, Self.sharesOne)
            scenario.apply(.drain(client: client))
            return serial
        }
        scenario.cut(clients[0])
        #expect(scenario.shown == others.map { "o\($0) d.work" })
        // The third waits for the first responder that is free: here its own, when that is back.
        scenario.back(clients[0])
        #expect(scenario.shown == ["o\(first) d.work*"])
    }

    @Test("R6: one that is over, and has not ended yet, takes no room from those behind it")
    func overTakesNoRoom() {
        var scenario = Scenario()
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client, Self.holdsOne)
        scenario.suspend(client)
        let first = scenario.ask("w", "a") { $0.lifetime = 1_000 }
        let second = scenario.ask("w", "a")
        scenario.milliseconds += 1_000
        scenario.endSuspension(client)
        #expect(scenario.shown == ["o\(responder) w.a"])
        #expect(scenario.effects.notifications.map(\.id) == [second])
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.shown.isEmpty && scenario.fate(first) == "no-answer")
    }

    @Test("R6, D8: one that what it is held has made slow leaves the ask to another one at once")
    func slowByWhatItIsHeld() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 2
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let busier = scenario.respond("d", ["work"], by: scenario.connect()) {
            $0.ifHeld = .share
        }
        scenario.ask("d", "work")
        scenario.respond("d", ["work"], by: client) {
            $0.behavior = .deliverImmediately
            $0.ifHeld = .share
        }
        scenario.observeAcknowledging("n", by: client)
        scenario.apply(.drain(client: client))
        scenario.suspend(client)
        for _ in 1...3 { scenario.post("n") }
        // Two of what is held come before the ask, and then its client owes too much.
        scenario.ask("d", "work")
        #expect(scenario.state(client) == .slow)
        #expect(scenario.shown == ["o\(busier) d.work"])
    }

    @Test("R6, R11: one that is taken over and slow at once leaves the ask to one that is idle")
    func slowAsItTakesOver() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 2
        var scenario = Scenario(limits: limits)
        let (client, other) = (scenario.connect(), scenario.connect())
        scenario.respond("d", ["work"], by: client, Self.sharesOne)
        scenario.observeAcknowledging("n", by: client)
        scenario.apply(.drain(client: client))
        scenario.ask("d", "work")
        for _ in 1...3 { scenario.post("n") }
        let idle = scenario.respond("d", ["work"], by: other, Self.sharesOne)
        scenario.apply(.drain(client: other))
        #expect(scenario.shown.isEmpty)
        scenario.back(client)
        #expect(scenario.state(client) == .slow)
        #expect(scenario.shown == ["o\(idle) d.work"])
    }

    @Test("R6: who does not implement it, has no room, or was shown it, does not take it")
    func cannotTake() {
        var scenario = Scenario()
        let clients = (1...3).map { _ in scenario.connect() }
        let first = scenario.respond("d", ["work"], by: clients[0], Self.sharesOne)
        scenario.respond("d", ["rest"], by: clients[1], Self.sharesOne)
        let busy = scenario.respond("d", ["work"], by: clients[2], Self.sharesOne)
        let id = scenario.ask("d", "work")
        scenario.ask("d", "work")
        scenario.cut(clients[0])
        #expect(scenario.shown.isEmpty && scenario.fate(id) == "open")
        scenario.back(clients[0])
        #expect(scenario.shown == ["o\(first) d.work*"])
        scenario.cut(clients[0])
        scenario.answer(busy, 2, .result(bytes("1")))
        #expect(scenario.shown == ["o\(busy) d.work"])
    }

    @Test("R6, R20: a stored ask goes to the idle one when the store knows; a restart")
    func storedIsTaken() {
        var stored = StoredScenario()
        let first = stored.run { $0.connect() }
        let second = stored.run { $0.connect() }
        stored.run { $0.respond("d", ["work"], by: first, Self.sharesOne) }
        let other = stored.run { $0.respond("d", ["work"], by: second, Self.sharesOne) }
        let id = stored.run { $0.ask("d", "work") { $0.wait = 0 } }
        stored.run { $0.cut(first) }
        #expect(stored.scenario.shown.isEmpty)
        let announcement = stored.scenario.effects.announcement
        stored.run { $0.apply(.showAnnounced(through: announcement)) }
        #expect(stored.scenario.shown == ["o\(other) d.work"])
        // Both are away after a restart: the first one back has it.
        stored.restart(isComplete: false)
        stored.run { $0.back(first) }
        #expect(stored.scenario.shown.isEmpty)
        stored.run { $0.back(second) }
        let again = stored.scenario.effects.announcement
        if again > 0 { stored.run { $0.apply(.showAnnounced(through: again)) } }
        #expect(stored.scenario.fate(id) == "open")
        #expect(stored.scenario.shown == ["o\(other) d.work*"])
    }

    @Test("R6, R20: one that goes while the store is told leaves the ask to an idle one")
    func announcedIsTaken() {
        var scenario = Scenario(limits: Self.durable)
        let (first, second) = (scenario.connect(), scenario.connect())
        let busy = scenario.respond("d", ["work"], by: first, Self.sharesOne)
        scenario.ask("d", "work") { $0.wait = 0 }
        let id = scenario.ask("d", "work") { $0.wait = 0 }
        scenario.answer(busy, 1, .result(bytes("1")))
        let announcement = scenario.effects.announcement
        let idle = scenario.respond("d", ["work"], by: second, Self.sharesOne)
        scenario.apply(.drain(client: second))
        scenario.cut(first)
        #expect(scenario.shown.isEmpty)
        scenario.apply(.showAnnounced(through: announcement))
        #expect(scenario.shown.isEmpty)
        scenario.commit()
        #expect(scenario.shown == ["o\(idle) d.work"] && scenario.fate(id) == "open")
    }

    @Test("R11, R20: one that goes after the store was told leaves nothing of that to another one")
    func announcedToOneThatGoes() {
        var scenario = Scenario(limits: Self.durable)
        let client = scenario.connect()
        scenario.respond("w", ["x"], by: scenario.connect()) {
            $0.ifHeld = .share
            $0.next = "v"
        }
        let first = scenario.respond("w", ["a"], by: client, Self.sharesOne)
        let second = scenario.respond("v", ["a"], by: scenario.connect())
        scenario.ask("w", "a") { $0.wait = 0 }
        let id = scenario.ask("w", "a") { $0.wait = 0 }
        scenario.answer(first, 1, .result(bytes("1")))
        let announcement = scenario.effects.announcement
        scenario.apply(.setSuspended(client: client, true))
        scenario.apply(.showAnnounced(through: announcement))
        #expect(scenario.shown.isEmpty)
        scenario.apply(.removeObserver(serial: first, by: .broker))
        #expect(scenario.shown.isEmpty && scenario.fate(id) == "open")
        scenario.commit()
        #expect(scenario.shown == ["o\(second) v.a"])
    }

    @Test("R6, R20: a stored ask that waits is shown a commit later, and may be overtaken")
    func overtakenByOneThatIsWaitedFor() {
        var scenario = Scenario(limits: Self.durable)
        let responder = scenario.respond("w", ["a"], by: scenario.connect()) {
            $0.behavior = .hold
            $0.concurrency = 2
        }
        scenario.ask("w", "a")
        scenario.ask("w", "a")
        let stored = scenario.ask("w", "a") { $0.wait = 0 }
        let waited = scenario.ask("w", "a")
        scenario.answer(responder, 1, .result(bytes("1")))
        #expect(scenario.shown.isEmpty)
        let announcement = scenario.effects.announcement
        scenario.answer(responder, 2, .result(bytes("1")))
        #expect(scenario.effects.notifications.map(\.id) == [waited])
        scenario.apply(.showAnnounced(through: announcement))
        #expect(scenario.effects.notifications.map(\.id) == [stored])
    }

    // MARK: R9

    @Test(
        "R9: one that was shown the ask and is busy counts as busy, whatever its behaviour",
        arguments: [SuspensionBehavior.coalesce, .hold, .deliverImmediately])
    func busyAgain(behavior: SuspensionBehavior) {
        var scenario = Scenario()
        let first = scenario.respond("w", ["a"], by: scenario.connect()) {
            $0.behavior = behavior
            $0.concurrency = 1
            $0.ifHeld = .share
        }
        let second = scenario.respond("w", ["a"], by: scenario.connect()) { $0.ifHeld = .share }
        let id = scenario.ask("w", "a")
        scenario.answer(first, 1, .passed(bytes("{}")))
        #expect(scenario.shown == ["o\(second) w.a"])
        scenario.ask("w", "a")
        #expect(scenario.shown == ["o\(first) w.a"])
        scenario.answer(second, 2, .passed(bytes("{}")))
        #expect(scenario.fate(id) == "responder-busy")
    }

    @Test(
        "R9: the last that hands on counts as neither, whatever its behaviour and state",
        arguments: SuspensionBehavior.allCases)
    func lastHandsOn(behavior: SuspensionBehavior) {
        var scenario = Scenario()
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) { $0.behavior = behavior }
        let id = scenario.ask("w", "a")
        scenario.apply(.setSuspended(client: client, true))
        scenario.answer(responder, 1, .passed(bytes("{}")))
        #expect(scenario.fate(id) == "selector-not-implemented")
        scenario.endSuspension(client)
        let row = scenario.wire("e", nil, "w", "a", by: client) { $0.acknowledges = true }
        scenario.press("e", wait: 1_000_000_000)
        let sequence = scenario.center.sequence
        scenario.apply(.setSuspended(client: client, true))
        scenario.respond(to: row, sequence, of: responder, .passed(bytes("{}")))
        #expect(scenario.reportRows == ["o\(row) unhandled w selector-not-implemented"])
    }
}
