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
        #expect(scenario.center.observer(row)?.tally.delivered == 1)
        #expect(scenario.center.observer(responder)?.tally.delivered == 1)
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
        "K4 (T244): where nobody takes it, the row is unhandled and counts as dropped, with no gap"
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
        #expect(scenario.center.observer(row)?.tally.dropped == 2)
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
        #expect(scenario.center.sequence == 0 && scenario.center.backlog.heldActions.isEmpty)
    }

    @Test(
        "K11: a target that nobody held long enough is a leak; a mailbox that stays empty is not"
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
