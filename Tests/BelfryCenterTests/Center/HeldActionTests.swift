import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: actions that wait for their responder (Rules.md, K6)")
struct HeldActionTests {
    private var scenario = Scenario()

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
}
