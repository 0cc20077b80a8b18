import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: actions that are answered, filed and stored (Rules.md, K6 and K9)")
struct AnsweredActionTests {
    private var scenario = Scenario()

    private static let second: Int64 = 1_000_000_000

    @Test("K9: an acknowledging observer makes the action a request, and its row has the result")
    mutating func isAcknowledged() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        let responder = scenario.respond("lamp", ["toggle"], by: client)
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer) {
            $0.acknowledges = true
        }
        let id = scenario.press("touchUp", wait: Self.second)
        #expect(scenario.effects.outcome == .waiting)
        #expect(scenario.actions == ["o1 lamp.toggle touchUp{} 1?"])
        // Only this name is that of the action.
        scenario.answer(responder, 1, .result(bytes("2")))
        scenario.respond(to: row + 1, 1, of: responder, .result(bytes("3")))
        #expect(scenario.effects.completions.isEmpty)
        scenario.respond(to: row, 1, of: responder, .result(bytes("4")))
        #expect(scenario.reportRows == ["o\(row) acknowledged 4 lamp o1"])
        #expect(
            scenario.account(id)
                == Receipt(id: id, sequence: 1, matched: 1, delivered: 1, acknowledged: 1))
        scenario.press("touchUp", wait: Self.second)
        scenario.respond(to: row, 2, of: responder, .refusal(bytes("{}")))
        #expect(scenario.reportRows == ["o\(row) refused {} lamp o1"])
    }

    @Test("K9 (T252): -32601 hands on to the next, which acknowledges")
    mutating func isHandedOn() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        let lamp = scenario.respond("lamp", ["toggle"], by: client) { $0.next = "hall" }
        let hall = scenario.respond("hall", ["toggle"], by: client)
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer) {
            $0.acknowledges = true
        }
        let id = scenario.press("touchUp", wait: Self.second)
        scenario.respond(to: row, 1, of: lamp, .passed([]))
        #expect(scenario.actions == ["o2 hall.toggle touchUp{} 2?"])
        #expect(scenario.effects.completions.isEmpty && scenario.account(id)?.pending == 1)
        scenario.respond(to: row, 2, of: hall, .result([]))
        #expect(scenario.reportRows == ["o\(row) acknowledged lamp,hall o2"])
        #expect(
            scenario.account(id)
                == Receipt(id: id, sequence: 1, matched: 1, delivered: 1, acknowledged: 1))
        #expect(scenario.center.heldActions.isEmpty && scenario.center.heldCount == 0)
    }

    @Test("K9: -32601 by the last leaves it unhandled, and the poster is answered")
    mutating func isHandedOnToNobody() {
        let client = scenario.connect()
        let lamp = scenario.respond("lamp", ["toggle"], by: client)
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: client) {
            $0.acknowledges = true
        }
        let id = scenario.press("touchUp", wait: Self.second)
        scenario.respond(to: row, 1, of: lamp, .passed([]))
        #expect(scenario.reportRows == ["o\(row) unhandled lamp selector-not-implemented"])
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, dropped: 1))
        #expect(scenario.center.sequence == 1)
    }

    @Test("K9: the deadline of a later post does not end the wait for what was handed on before")
    mutating func waitsForItsOwn() {
        let client = scenario.connect()
        let lamp = scenario.respond("lamp", ["toggle"], by: client) { $0.next = "hall" }
        let hall = scenario.respond("hall", ["toggle"], by: client)
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: client) {
            $0.acknowledges = true
        }
        let first = scenario.press("touchUp", wait: 2_000_000_000)
        scenario.respond(to: row, 1, of: lamp, .passed(bytes("{}")))
        let second = scenario.press("touchUp", wait: 500_000_000)
        scenario.milliseconds += 500
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.effects.completions.map { $0.receipts.map(\.id) } == [[second]])
        scenario.respond(to: row, 2, of: hall, .result(bytes("null")))
        #expect(scenario.effects.completions.map { $0.receipts.map(\.id) } == [[first]])
    }

    @Test("K9, K6: what is handed on to one that holds is held there")
    mutating func isHandedOnAndHeld() {
        let client = scenario.connect()
        let away = scenario.connect()
        let lamp = scenario.respond("lamp", ["toggle"], by: client) { $0.next = "hall" }
        let hall = scenario.respond("hall", ["toggle"], by: away) { $0.behavior = .hold }
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: client) {
            $0.acknowledges = true
        }
        scenario.cut(away)
        let id = scenario.press("touchUp", wait: Self.second)
        scenario.respond(to: row, 1, of: lamp, .passed([]))
        #expect(scenario.reportRows == ["o\(row) held lamp,hall o2"])
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, held: 1))
        scenario.back(away)
        #expect(scenario.actions == ["o2 hall.toggle touchUp{} 2?"])
        scenario.respond(to: row, 2, of: hall, .result([]))
        #expect(
            scenario.account(id)
                == Receipt(id: id, sequence: 1, matched: 1, delivered: 1, acknowledged: 1))
    }

    @Test(
        "K9: what is handed on to a mailbox is on its way where a reader waits, and held where none does",
        arguments: ["stream", "poll", "nobody"])
    func isHandedOnAndFiled(reader: String) {
        var scenario = Scenario()
        let client = scenario.connect()
        let lamp = scenario.respond("lamp", ["toggle"], by: client) { $0.next = "hall" }
        let hall = scenario.respondingMailbox("hall", ["toggle"])
        let name = ConnectionName(node: 1, number: 900)
        switch reader {
        case "stream": scenario.apply(.attachStream(observer: hall, name))
        case "poll": scenario.apply(.readMailbox(observer: hall, through: nil, wait: name))
        default: break
        }
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: client) {
            $0.acknowledges = true
        }
        let id = scenario.press("touchUp", wait: Self.second)
        scenario.respond(to: row, 1, of: lamp, .passed([]))
        #expect(scenario.actions == (reader == "stream" ? ["o2 hall.toggle touchUp{} 2?"] : []))
        let delivered = Receipt(id: id, sequence: 1, matched: 1, delivered: 1)
        let isHeld = reader == "nobody"
        #expect(scenario.reportRows == ["o\(row) \(isHeld ? "held" : "delivered") lamp,hall o2"])
        #expect(
            scenario.account(id)
                == (isHeld ? Receipt(id: id, sequence: 1, matched: 1, held: 1) : delivered))
        #expect(scenario.effects.completions.map(\.receipts.first) == [scenario.account(id)])
        scenario.apply(.readMailbox(observer: hall, through: 2))
        #expect(scenario.account(id) == delivered)
        #expect(scenario.center.heldActions.isEmpty && scenario.center.heldCount == 0)
    }

    @Test("K9: of those who share an address nobody is asked twice")
    mutating func sharingHolders() {
        let client = scenario.connect()
        let first = scenario.respond("lamp", ["toggle"], by: client) { $0.ifHeld = .share }
        let second = scenario.respond("lamp", ["toggle"], by: client) { $0.ifHeld = .share }
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: client) {
            $0.acknowledges = true
        }
        scenario.press("touchUp", wait: Self.second)
        #expect(scenario.actions == ["o1 lamp.toggle touchUp{} 1?"])
        scenario.respond(to: row, 1, of: first, .passed([]))
        #expect(scenario.actions == ["o2 lamp.toggle touchUp{} 2?"])
        scenario.respond(to: row, 2, of: second, .passed([]))
        #expect(scenario.reportRows == ["o\(row) unhandled lamp selector-not-implemented"])
    }

    @Test(
        "K9, D14: what was not answered comes again on the way back, and its row says disconnected")
    mutating func isRedelivered() {
        let wirer = scenario.connect()
        let client = scenario.connect()
        let lamp = scenario.respond("lamp", ["toggle"], by: client) { $0.behavior = .hold }
        let row = scenario.wire("touchUp", nil, "lamp", "toggle", by: wirer) {
            $0.acknowledges = true
        }
        scenario.press("touchUp", wait: Self.second)
        scenario.cut(client)
        #expect(scenario.reportRows == ["o\(row) disconnected lamp o1"])
        scenario.back(client)
        #expect(scenario.actions == ["o1 lamp.toggle touchUp{} 1?*"])
        scenario.respond(to: row, 1, of: lamp, .result([]))
        #expect(scenario.center.heldActions.isEmpty)
    }

    @Test("K9: two actions of one post at one responder are answered each by its name")
    mutating func twoOfOnePost() {
        let client = scenario.connect()
        let lamp = scenario.respond("lamp", ["on", "log"], by: client)
        let rows = ["on", "log"].map { action in
            scenario.wire("touchUp", nil, "lamp", action, by: client) { $0.acknowledges = true }
        }
        let id = scenario.press("touchUp", wait: Self.second)
        scenario.respond(to: rows[1], 1, of: lamp, .refusal(bytes("{}")))
        scenario.respond(to: rows[0], 1, of: lamp, .result([]))
        #expect(
            scenario.reportRows == [
                "o\(rows[0]) acknowledged lamp o1", "o\(rows[1]) refused {} lamp o1",
            ])
        #expect(scenario.account(id)?.acknowledged == 1 && scenario.account(id)?.refused == 1)
    }

    @Test(
        "K6, K9: in a mailbox actions stand among the posts, also several of one number on one page"
    )
    mutating func mailbox() {
        let wirer = scenario.connect()
        let lamp = scenario.respondingMailbox("lamp", ["on", "log", "touchUp"])
        for action in ["on", "log"] {
            scenario.wire("touchUp", "lamp", "lamp", action, by: wirer) { $0.acknowledges = true }
        }
        let id = scenario.press("touchUp", "lamp", wait: Self.second)
        #expect(scenario.effects.outcome == .done)
        #expect(scenario.reportRows == ["o1 held", "o2 held lamp o1", "o3 held lamp o1"])
        scenario.press("touchUp", "lamp")
        let page = scenario.center.mailbox(of: lamp, after: 0, limit: 1)
        let kinds = page?.elements.map(\.addressed?.kind) ?? []
        #expect(
            kinds == [
                nil, .action(selector: bytes("on"), row: 2),
                .action(selector: bytes("log"), row: 3),
            ])
        #expect(page?.next == 1)
        scenario.apply(.readMailbox(observer: lamp, through: 1))
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 3, delivered: 3))
        #expect(scenario.center.mailbox(of: lamp, after: 1, limit: 9)?.elements.count == 3)
    }

    @Test("K6: a stream of a mailbox gets each action of one post once")
    mutating func mailboxStream() {
        let wirer = scenario.connect()
        let lamp = scenario.respondingMailbox("lamp", ["on", "log"])
        let rows = ["on", "log", "on"].map { scenario.wire("touchUp", nil, "lamp", $0, by: wirer) }
        let stream = ConnectionName(node: 1, number: 900)
        scenario.apply(.attachStream(observer: lamp, stream))
        scenario.press("touchUp")
        #expect(
            scenario.actions == [
                "o1 lamp.on touchUp{} 1", "o1 lamp.log touchUp{} 1", "o1 lamp.on touchUp{} 1",
            ])
        #expect(scenario.reportRows == rows.map { "o\($0) delivered lamp o1" })
        scenario.apply(.detachReader(observer: lamp, stream))
        scenario.apply(.attachStream(observer: lamp, stream))
        #expect(scenario.actions.count == 3 && scenario.actions.allSatisfy { $0.hasSuffix("*") })
    }

    @Test(
        "K6: what is held or not answered survives a restart, in its order",
        arguments: [true, false])
    func restart(isComplete: Bool) {
        var bench = StoredScenario()
        let wirer = bench.run { $0.connect() }
        let client = bench.run { $0.connect() }
        let lamp = bench.run {
            $0.respond("lamp", ["on", "log", "dim"], by: client) { $0.behavior = .hold }
        }
        let rows = ["on", "log"].map { action in
            bench.run {
                $0.wire("touchUp", nil, "lamp", action, by: wirer) {
                    $0.acknowledges = action == "log"
                }
            }
        }
        bench.run { $0.press("touchUp") }
        #expect(bench.stored.image.actions.map(\.row) == [rows[1]])
        bench.run { $0.cut(client) }
        bench.run { $0.say("dim1/lamp") }
        bench.run { $0.press("touchUp") }
        #expect(bench.stored.image.actions.count == 3 && bench.stored.image.held.count == 1)
        bench.restart(isComplete: isComplete)
        bench.run { $0.back(client) }
        #expect(bench.scenario.effects.deliveries.count == 4)
        #expect(
            bench.scenario.actions == [
                "o\(lamp) lamp.log touchUp{} 1?*", "o\(lamp) lamp.on touchUp{} 3*",
                "o\(lamp) lamp.log touchUp{} 3?*",
            ])
        for sequence: UInt64 in [1, 3] {
            bench.run { $0.respond(to: rows[1], sequence, of: lamp, .result([])) }
        }
        #expect(bench.stored.image.actions.isEmpty && bench.stored.image.notifications.isEmpty)
        // The observers with targets are there, too.
        bench.run { $0.press("touchUp") }
        #expect(bench.scenario.reportRows.map { $0.suffix(7) } == ["lamp o1", "lamp o1"])
    }
}
