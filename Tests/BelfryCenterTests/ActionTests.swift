import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: targets and actions (Rules.md, K)")
struct ActionTests {
    private var scenario = Scenario()

    @Test("K1, K3 (T240): a post goes from an observer with a target to who holds that")
    mutating func isWritten() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        let responder = scenario.respond("lamp", ["toggle"], by: client)
        let row = scenario.wire("touchUp", "s1", "lamp", "toggle", by: wirer)
        let id = scenario.press("touchUp", "s1")
        #expect(scenario.actions == ["o\(responder) lamp.toggle touchUp{}/s1 1"])
        #expect(scenario.effects.deliveries.map(\.connection.number) == [client + 100])
        #expect(scenario.reportRows == ["o\(row) delivered lamp o\(responder)"])
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, delivered: 1))
        #expect(scenario.center.observer(row)?.delivered == 1)
        #expect(scenario.center.observer(responder)?.delivered == 1)
        scenario.press("touchUp", "s2")
        #expect(scenario.actions.isEmpty && scenario.reportRows.isEmpty)
    }

    @Test("K1: it fires while its own client is suspended or gone, as long as it lives")
    mutating func ownClientIsAway() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        scenario.respond("lamp", ["toggle"], by: client)
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.suspend(wirer)
        scenario.press("touchUp")
        #expect(scenario.actions.count == 1)
        scenario.cut(wirer)
        scenario.press("touchUp")
        #expect(scenario.actions.count == 1)
        scenario.remove(row, by: .broker)
        scenario.press("touchUp")
        #expect(scenario.actions.isEmpty && scenario.reportRows.isEmpty)
    }

    @Test("K2 (T242): targets fire in the order of registration, between plain observers")
    mutating func order() {
        let client = scenario.connect()
        let responder = scenario.respond("lamp", ["on", "off"], by: client)
        scenario.wire("down", nil, "lamp", "off", by: client)
        scenario.observe("down", by: client)
        scenario.wire("down", nil, "lamp", "on", by: client)
        scenario.wire("up", nil, "lamp", "off", by: client)
        scenario.press("down")
        #expect(scenario.effects.deliveries.map(\.observer) == [responder, 3, responder])
        #expect(scenario.actions == ["o1 lamp.off down{} 1", "o1 lamp.on down{} 1"])
        scenario.press("up")
        #expect(scenario.actions == ["o1 lamp.off up{} 2"])
    }

    @Test(
        "K4 (T244): where nobody takes it, the row is unhandled and counts as dropped, without a gap"
    )
    mutating func isUnhandled() {
        let client = scenario.connect()
        let row = scenario.wire("touchUp", nil, "fan", "spin", by: client)
        let id = scenario.press("touchUp")
        #expect(scenario.reportRows == ["o\(row) unhandled fan no-responder"])
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, dropped: 1))
        scenario.respond("fan", [], by: client) { $0.next = "hall" }
        scenario.press("touchUp")
        #expect(scenario.reportRows == ["o\(row) unhandled fan,hall selector-not-implemented"])
        #expect(scenario.effects.notices.isEmpty)
        #expect(scenario.center.observer(row)?.dropped == 2)
    }

    @Test("K4, R6, R9: a holder that is suspended or busy is stepped over")
    mutating func steppedOver() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        let busy = scenario.connect()
        scenario.respond("lamp", ["toggle"], by: client) { $0.next = "hall" }
        let hall = scenario.respond("hall", ["toggle"], by: busy) { $0.concurrency = 1 }
        scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.suspend(client)
        scenario.press("touchUp")
        #expect(scenario.reportRows == ["o3 delivered lamp,hall o\(hall)"])
        #expect(scenario.actions == ["o2 hall.toggle touchUp{} 1"])
        scenario.ask("hall", "toggle")
        scenario.press("touchUp")
        #expect(scenario.reportRows == ["o3 unhandled lamp,hall responder-busy"])
    }

    @Test("K5: who holds the address may come, go and be replaced")
    mutating func responderChanges() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        for responder: UInt64 in [2, 3] {
            scenario.respond("lamp", ["toggle"], by: client)
            scenario.press("touchUp")
            #expect(scenario.reportRows == ["o\(row) delivered lamp o\(responder)"])
        }
        scenario.remove(3, by: .broker)
        scenario.press("touchUp")
        #expect(scenario.reportRows == ["o\(row) unhandled lamp no-responder"])
    }

    @Test(
        "K6 (T248): with hold an action waits for its responder, in order with what that observes")
    mutating func isHeld() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        scenario.respond("lamp", ["toggle", "dim"], by: client) { $0.behavior = .hold }
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.cut(client)
        let id = scenario.press("touchUp")
        #expect(scenario.reportRows == ["o\(row) held lamp o1"] && scenario.actions.isEmpty)
        #expect(scenario.account(id)?.held == 1)
        scenario.post("dim", "lamp")
        scenario.press("touchUp")
        scenario.back(client)
        #expect(scenario.frames == ["touchUp{}", "dim/lamp", "touchUp{}"])
        #expect(scenario.actions == ["o1 lamp.toggle touchUp{} 1", "o1 lamp.toggle touchUp{} 3"])
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, delivered: 1))
        #expect(scenario.center.heldCount == 0 && scenario.center.heldActions.isEmpty)
    }

    @Test("K6, D7: past the limit of the responder the oldest is lost, with a gap")
    mutating func overflow() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        var registration = scenario.responder("lamp", ["toggle"]) { $0.behavior = .hold }
        var terms = registration.terms
        terms.holdLimit = 2
        registration = ObserverRegistration(
            serial: registration.serial, tokenHash: registration.tokenHash, name: nil,
            object: registration.object, selector: [], terms: terms, role: registration.role)
        scenario.apply(.addObserver(registration, client: client, since: nil))
        scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.cut(client)
        let first = scenario.press("touchUp")
        scenario.press("touchUp")
        scenario.press("touchUp")
        #expect(scenario.account(first)?.dropped == 1 && scenario.account(first)?.held == 0)
        scenario.back(client)
        #expect(scenario.actions.map { $0.suffix(1) } == ["2", "3"])
        #expect(scenario.effects.notices.count == 1)
    }

    @Test(
        "K6: what is held goes with its responder, and stays when the observer with the target goes"
    )
    mutating func goesWithResponder() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        let responder = scenario.respond("lamp", ["toggle"], by: client) { $0.behavior = .hold }
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.suspend(client)
        scenario.press("touchUp")
        scenario.remove(row, by: .broker)
        scenario.endSuspension(client)
        #expect(scenario.actions == ["o1 lamp.toggle touchUp{} 1"])
        let again = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.suspend(client)
        let id = scenario.press("touchUp")
        #expect(scenario.reportRows == ["o\(again) held lamp o1"])
        scenario.remove(responder, by: .broker)
        #expect(scenario.account(id) == Receipt(id: id, sequence: 2, matched: 1, dropped: 1))
        #expect(scenario.center.heldActions.isEmpty && scenario.center.heldCount == 0)
    }

    @Test("K6, R6, R14: an action waits for a busy responder that holds, and holds up nothing else")
    mutating func waitsForRoom() {
        let client = scenario.connect()
        let responder = scenario.respond("lamp", ["toggle", "ask"], by: client) {
            $0.behavior = .hold
            $0.concurrency = 1
        }
        scenario.observe("touchUp", by: client)
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: client)
        scenario.ask("lamp", "ask")
        scenario.press("touchUp")
        #expect(scenario.reportRows == ["o2 delivered", "o\(row) held lamp o1"])
        #expect(scenario.state(client) == .live)
        scenario.post("ask", "lamp")
        #expect(scenario.frames == ["ask/lamp"])
        scenario.answer(responder, 1, .result(bytes("1")))
        // The client was written 3 meanwhile, so it takes its number now (law 2).
        #expect(scenario.actions == ["o1 lamp.toggle touchUp{} 4"])
        #expect(scenario.center.heldActions.isEmpty)
    }

    @Test("D8, R14: nor what is delivered to a client at once that has asked for suspension")
    mutating func waitsForRoomWhileAsked() {
        let client = scenario.connect()
        scenario.respond("lamp", ["toggle", "ask"], by: client) {
            $0.behavior = .hold
            $0.concurrency = 1
        }
        scenario.observe("y", by: client, .deliverImmediately)
        scenario.wire("touchUp", nil, "lamp", "toggle", by: client)
        scenario.ask("lamp", "ask")
        scenario.suspend(client)
        scenario.press("touchUp")
        #expect(scenario.reportRows == ["o3 held lamp o1"])
        scenario.press("y")
        #expect(scenario.reportRows == ["o2 delivered"] && scenario.frames == ["y{}"])
        scenario.respond("fan", ["toggle"], by: client) { $0.behavior = .deliverImmediately }
        scenario.ask("fan", "toggle")
        #expect(scenario.shown == ["o4 fan.toggle"])
    }

    @Test("D8, R6, R14: asks that have waited pass an action that waits, in spite of suspension")
    mutating func asksPassWhatWaits() {
        let client = scenario.connect()
        scenario.respond("c", ["n", "s", "m"], by: client) {
            $0.behavior = .deliverImmediately
            $0.ifHeld = .share
            $0.concurrency = 1
        }
        scenario.suspend(client)
        scenario.wire("m", nil, "c", "m", by: client)
        scenario.ask("c", "n")
        scenario.press("m")
        #expect(scenario.reportRows == ["o2 held c o1"])
        for _ in 1...3 {
            scenario.ask("c", "s")
            #expect(scenario.shown.isEmpty)
        }
        let second = scenario.respond("c", ["s"], by: client) {
            $0.behavior = .deliverImmediately
            $0.ifHeld = .share
        }
        scenario.apply(.drain(client: client))
        #expect(scenario.shown == Array(repeating: "o\(second) c.s", count: 3))
    }

    @Test(
        "K2: what comes again comes in the order of the observers with the targets, not of the responders"
    )
    mutating func orderAgain() {
        let (wirer, client) = (scenario.connect(), scenario.connect())
        for address in ["lamp", "fan"] {
            scenario.respond(address, ["toggle"], by: client) { $0.behavior = .hold }
        }
        for address in ["fan", "lamp"] {
            scenario.wire("touchUp", nil, address, "toggle", by: wirer) { $0.acknowledges = true }
        }
        scenario.press("touchUp")
        let sent = scenario.actions
        #expect(sent == ["o2 fan.toggle touchUp{} 1?", "o1 lamp.toggle touchUp{} 1?"])
        scenario.cut(client)
        scenario.back(client)
        #expect(scenario.actions == sent.map { $0 + "*" })
    }

    @Test(
        "K6, D10: one that could not be written at once is written to a client that comes back, and still asks"
    )
    mutating func immediatelyLater() {
        let (wirer, client) = (scenario.connect(), scenario.connect())
        scenario.respond("lamp", ["toggle"], by: client) { $0.behavior = .deliverImmediately }
        scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.suspend(client)
        scenario.cut(client)
        scenario.press("touchUp")
        #expect(scenario.actions.isEmpty)
        scenario.back(client)
        #expect(scenario.actions == ["o1 lamp.toggle touchUp{} 1"])
        #expect(scenario.state(client) == .asked)
    }

    @Test("K6, D8: a responder that is delivered to immediately gets it while its client asked")
    mutating func immediately() {
        let client = scenario.connect()
        scenario.respond("lamp", ["toggle"], by: client) { $0.behavior = .deliverImmediately }
        scenario.observe("other", by: client, .hold)
        scenario.wire("touchUp", nil, "lamp", "toggle", by: client)
        scenario.suspend(client)
        scenario.post("other")
        scenario.press("touchUp")
        #expect(scenario.frames == ["other", "touchUp{}"])
        #expect(scenario.reportRows == ["o3 delivered lamp o1"])
    }

    @Test("K1, R2: of those who share an address each gets its turn")
    mutating func sharing() {
        let client = scenario.connect()
        for _ in 0..<3 {
            scenario.respond("pool", ["work"], by: client) { $0.ifHeld = .share }
        }
        scenario.wire("job", nil, "pool", "work", by: client)
        scenario.wire("job", nil, "pool", "work", by: client)
        var takers: [UInt64] = []
        for _ in 0..<3 {
            scenario.press("job")
            takers += scenario.effects.deliveries.map(\.observer)
        }
        #expect(takers == [1, 2, 3, 1, 2, 3])
    }

    @Test("the actions of one post look at so many holders, and not at one more")
    mutating func lookLimit() {
        var limits = CenterLimits()
        limits.actionLookLimit = 10
        scenario = Scenario(limits: limits)
        let client = scenario.connect()
        for _ in 0..<2 { scenario.respond("pool", ["work"], by: client) { $0.ifHeld = .share } }
        for _ in 0..<3 { scenario.wire("job", nil, "pool", "work", by: client) }
        scenario.press("job")
        #expect(
            scenario.reportRows == [
                "o3 delivered pool o1", "o4 delivered pool o2", "o5 unhandled pool responder-busy",
            ])
        scenario.press("job")
        #expect(scenario.actions.count == 2)
    }

    @Test("K7 (T246): the target may be the control's own address, whose next is rewired")
    mutating func ownAddress() {
        let client = scenario.connect()
        let panel = scenario.respond("panel", ["doIt"], by: client)
        scenario.respond("b", [], by: client) { $0.next = "panel" }
        scenario.wire("touchUp", "b", "b", "doIt", by: client)
        scenario.press("touchUp", "b")
        #expect(scenario.reportRows == ["o3 delivered b,panel o\(panel)"])
        let other = scenario.respond("other", ["doIt"], by: client)
        scenario.respond("b", [], by: client) { $0.next = "other" }
        scenario.press("touchUp", "b")
        #expect(scenario.reportRows == ["o3 delivered b,other o\(other)"])
    }

    @Test("K8: an action is matched by nobody, and the same post reaches a responder both ways")
    mutating func isNotMatchedAgain() {
        let client = scenario.connect()
        scenario.observe(nil, nil, by: client)
        scenario.observe("toggle", by: client)
        scenario.respond("lamp", ["touchUp", "toggle"], by: client)
        scenario.wire("touchUp", "lamp", "lamp", "toggle", by: client)
        scenario.press("touchUp", "lamp")
        #expect(scenario.frames == ["touchUp{}/lamp", "touchUp{}/lamp", "touchUp{}/lamp"])
        #expect(scenario.actions == ["o3 lamp.toggle touchUp{}/lamp 1"])
        #expect(scenario.center.sequence == 1)
    }

    @Test("removal by name, object, target and selector (T250)")
    mutating func removal() {
        let client = scenario.connect()
        scenario.wire("changed", "a", "lamp", "x", by: client)
        scenario.wire("changed", nil, "fan", "y", by: client)
        scenario.wire("down", nil, "lamp", "x", by: client)
        scenario.observe("changed", by: client, selector: "x")
        var twin = scenario
        #expect(twin.remove(name: "changed", of: client) == .removed(3))
        twin = scenario
        #expect(twin.remove(target: "lamp", of: client) == .removed(2))
        twin = scenario
        #expect(twin.remove(selector: "x", of: client) == .removed(3))
        twin = scenario
        #expect(
            twin.remove(name: "changed", target: "lamp", selector: "x", of: client) == .removed(1))
        #expect(scenario.remove(target: "nobody", of: client) == .removed(0))
        #expect(scenario.remove(of: client) == .removed(0))
        var query = ObserverQuery()
        query.target = bytes("lamp")
        let rows = scenario.center.observers(matching: query, visible: { _, _ in true }).rows
        #expect(rows.map(\.serial) == [1, 3])
    }

    @Test("an observer with a target gets nothing of the replay ring, nor does its responder")
    mutating func isNotReplayed() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        scenario.respond("lamp", ["toggle"], by: client) { $0.behavior = .hold }
        scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer)
        scenario.observe("touchUp", by: wirer, .hold)
        scenario.press("touchUp")
        for client in [wirer, client] {
            scenario.cut(client)
            scenario.back(client, after: 0)
            #expect(scenario.frames == (client == wirer ? ["touchUp{}*"] : []))
        }
    }

    @Test("explain tells what a receipt would tell, and changes nothing")
    mutating func explanation() {
        let client = scenario.connect()
        scenario.respond("lamp", ["toggle"], by: client) { $0.behavior = .hold }
        scenario.wire("touchUp", nil, "lamp", "toggle", by: client)
        scenario.wire("touchUp", nil, "lamp", "toggle", by: client) { $0.acknowledges = true }
        scenario.wire("touchUp", nil, "fan", "spin", by: client)
        func reports() -> [ReportRow] { scenario.explain("touchUp").observers.map(\.report) }
        let lamp = ActionRoute(path: [bytes("lamp")], responder: 1)
        #expect(
            reports() == [
                ReportRow(observer: 2, outcome: .delivered, route: lamp),
                ReportRow(observer: 3, outcome: .pending, route: lamp),
                ReportRow(
                    observer: 4, outcome: .unhandled(.noResponder),
                    route: ActionRoute(path: [bytes("fan")], responder: nil)),
            ])
        scenario.cut(client)
        #expect(reports().map(\.outcome) == [.held, .held, .unhandled(.noResponder)])
        // A mailbox without a reader holds all that comes.
        _ = scenario.connect([scenario.responder("fan", ["spin"])], transport: .mailbox)
        #expect(reports().map(\.outcome) == [.held, .held, .held])
        #expect(scenario.center.sequence == 0 && scenario.center.heldActions.isEmpty)
    }

    @Test(
        "K11: a target that nobody held for long enough is a leak; a mailbox that stays empty is not"
    )
    mutating func leaks() {
        let after = scenario.center.limits.orphanAfter.wholeNanoseconds / 1_000_000
        let client = scenario.connect()
        _ = scenario.connect(
            [scenario.wiring("touchUp", nil, "lamp", "toggle")], transport: .mailbox)
        _ = scenario.connect(
            [scenario.responder("alias", []) { $0.next = "lamp" }], transport: .mailbox)
        func leaks() -> [String] {
            scenario.center.leaks(limit: 100, at: scenario.time, visible: { _, _ in true })
                .map { "o\($0.observer.serial) \($0.reason)" }
        }
        scenario.milliseconds += after - 1
        #expect(leaks() == [])
        scenario.milliseconds += 1
        #expect(leaks() == ["o1 noTarget"])
        let responder = scenario.respond("lamp", ["toggle"], by: client)
        #expect(leaks() == [])
        scenario.remove(responder, by: .broker)
        scenario.milliseconds += after - 1
        #expect(leaks() == [])
        scenario.milliseconds += 1
        #expect(leaks() == ["o1 noTarget"])
    }
}
