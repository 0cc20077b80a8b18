import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: observers of values under suspension (Rules.md, V7 to V10)")
struct ValueSuspensionTests {
    private var scenario = Scenario()

    @Test("V7: what a client wrote itself is not undone by what was held for it before")
    mutating func ownBehindHeld() {
        let x = scenario.connect()
        scenario.look("o", "v", by: x) {
            $0.own = false
            $0.behavior = .hold
        }
        scenario.suspend(x)
        scenario.put("o", "v", "1")
        scenario.put("o", "v", "2")
        scenario.put("o", "v", "3") { $0.client = x }
        scenario.endSuspension(x)
        #expect(scenario.seen == [#"o1 v {"kind":"set","initial":true,"new":3} @2"#])
    }

    @Test("V7: nor when another observer of the client, told at once, lets go what is held")
    mutating func ownBehindHeldAndAFlush() {
        let x = scenario.connect()
        scenario.look("o", "", by: x) { $0.behavior = .deliverImmediately }
        scenario.look("o", "v", by: x) {
            $0.own = false
            $0.behavior = .hold
        }
        scenario.suspend(x)
        scenario.put("o", "v", "1")
        scenario.put("o", "v", "2") { $0.client = x }
        #expect(
            scenario.seen == [
                #"o2 v {"kind":"set","initial":true,"new":2} @1"#,
                #"o1  {"kind":"merge","new":{"v":2}} @2"#,
            ])
    }

    @Test(
        "V8 (T273): who coalesces is marked, and has the present value at the place of the last change"
    )
    mutating func marks() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client)
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        scenario.put("o", "v", "1")
        scenario.say("a1")
        scenario.put("o", "v", "2")
        scenario.put("o", "v", "3")
        scenario.say("a2")
        scenario.endSuspension(client)
        #expect(
            scenario.effects.deliveries.map {
                scenario.effects.notifications[Int($0.notification)].sequence
            } == [2, 4, 5])
        #expect(scenario.seen == [#"o1 v {"kind":"set","initial":true,"new":3} @4"#])
        #expect(scenario.lossRanges == ["coalesced 2 1...3"])
    }

    @Test("V8: one change under suspension is no loss; a mark holds no content")
    mutating func oneMark() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client)
        scenario.suspend(client)
        let text = "\"" + String(repeating: "x", count: 10_000) + "\""
        for _ in 0..<3 {
            scenario.put("o", "v", text)
            scenario.put("o", "v", "1")
        }
        #expect(scenario.center.heldByteCount < 100 && scenario.center.heldCount == 1)
        scenario.endSuspension(client)
        scenario.suspend(client)
        scenario.put("o", "v", "2")
        scenario.endSuspension(client)
        #expect(scenario.seen == [#"o1 v {"kind":"set","initial":true,"new":2} @7"#])
        #expect(scenario.gaps.isEmpty && scenario.center.heldCount == 0)
    }

    @Test("V8: minInterval marks without a gap")
    mutating func interval() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client) { $0.minInterval = 1_000 }
        scenario.put("o", "v", "1")
        #expect(scenario.seen == [#"o1 v {"kind":"set","new":1} @1"#])
        scenario.put("o", "v", "2")
        scenario.put("o", "v", "3")
        #expect(scenario.seen.isEmpty)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.seen == [#"o1 v {"kind":"set","initial":true,"new":3} @3"#])
        #expect(scenario.gaps.isEmpty)
    }

    @Test(
        "V9 (T275): who holds has each change, up to its limit; past it all of it becomes one mark")
    mutating func holds() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client) {
            $0.behavior = .hold
            $0.holdLimit = 3
        }
        scenario.suspend(client)
        for value in 1...3 { scenario.put("o", "v", "\(value)") }
        scenario.endSuspension(client)
        #expect(
            scenario.seen == (1...3).map { #"o1 v {"kind":"set","new":\#($0)} @\#($0)"# })
        scenario.suspend(client)
        for value in 4...8 { scenario.put("o", "v", "\(value)") }
        scenario.endSuspension(client)
        #expect(scenario.seen == [#"o1 v {"kind":"set","initial":true,"new":8} @8"#])
        #expect(scenario.lossRanges == ["overflow 4 4...7"])
    }

    @Test("V9: who drops is told a gap, and nothing until the next change")
    mutating func drops() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client) { $0.behavior = .drop }
        scenario.suspend(client)
        scenario.put("o", "v", "1")
        scenario.endSuspension(client)
        #expect(scenario.seen.isEmpty && scenario.lossRanges == ["dropped 1 1...1"])
        scenario.put("o", "v", "2")
        #expect(scenario.seen == [#"o1 v {"kind":"set","new":2} @2"#])
    }

    @Test("V9: who is delivered to immediately has it, behind what was held for its client")
    mutating func immediately() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client) { $0.behavior = .deliverImmediately }
        scenario.look("o", "w", by: client)
        scenario.suspend(client)
        scenario.put("o", "w", "1")
        scenario.put("o", "v", "2")
        #expect(
            scenario.seen == [
                #"o2 w {"kind":"set","initial":true,"new":1} @1"#,
                #"o1 v {"kind":"set","new":2} @2"#,
            ])
    }

    @Test(
        "V9: when all centers hold too much, what is held of an observer becomes a mark, and marks stay"
    )
    mutating func trimmed() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client) { $0.behavior = .hold }
        scenario.look("o", "w", by: client)
        scenario.suspend(client)
        scenario.put("o", "w", "1")
        for value in 1...3 { scenario.put("o", "v", "\(value)") }
        scenario.apply(.trimHeld(byteCount: 0))
        scenario.endSuspension(client)
        #expect(
            scenario.seen == [
                #"o2 w {"kind":"set","initial":true,"new":1} @1"#,
                #"o1 v {"kind":"set","initial":true,"new":3} @4"#,
            ])
        #expect(scenario.lossRanges == ["overflow 2 2...3"])
    }

    @Test(
        "V10: on resume, who may have missed a change has the present value; who has not gets nothing"
    )
    mutating func resumes() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client)
        scenario.look("o", "w", by: client)
        scenario.put("o", "v", "1")
        scenario.put("o", "w", "2")
        scenario.cut(client)
        scenario.back(client, after: 1)
        #expect(scenario.seen == [#"o2 w {"kind":"set","initial":true,"new":2} @2"#])
        scenario.cut(client)
        scenario.back(client, after: 2)
        #expect(scenario.seen.isEmpty)
        scenario.cut(client)
        scenario.put("o", "v", "3")
        scenario.back(client, after: 2)
        #expect(scenario.seen == [#"o1 v {"kind":"set","initial":true,"new":3} @3"#])
        #expect(scenario.gaps.isEmpty)
    }

    @Test("V10: what was held is no patch of a state that the client has not")
    mutating func resumesWithHeld() {
        let client = scenario.connect()
        scenario.look("o", "", by: client) { $0.behavior = .hold }
        scenario.put("o", "", #"{"a":1}"#)
        scenario.put("o", "a", "2")
        scenario.cut(client)
        scenario.put("o", "b", "3")
        scenario.put("o", "c", "4")
        scenario.back(client, after: 1)
        #expect(
            scenario.seen == [
                #"o1  {"kind":"set","initial":true,"new":{"a":2,"b":3,"c":4}} @4"#
            ])
    }

    @Test(
        "V10: a stream that comes back has the present value if it may have changed above its position"
    )
    mutating func streams() {
        scenario.put("o", "v", "1")
        var registration = scenario.observer(of: "o", "v") { $0.endsWithConnection = true }
        let first = scenario.connect([registration], since: 1, transport: .events)
        scenario.apply(.drain(client: first))
        #expect(scenario.seen.isEmpty)
        scenario.put("o", "v", "2")
        registration = scenario.observer(of: "o", "v") { $0.endsWithConnection = true }
        let second = scenario.connect([registration], since: 1, transport: .events)
        scenario.apply(.drain(client: second))
        #expect(scenario.seen == [#"o2 v {"kind":"set","initial":true,"new":2} @2"#])
    }

    @Test("a mailbox has each change until it is acknowledged, and one mark where it coalesces")
    mutating func mailboxes() {
        scenario.put("o", "v", "1")
        let holding = scenario.lookingMailbox("o", "v") {
            $0.behavior = .hold
            $0.initial = true
        }
        let coalescing = scenario.lookingMailbox("o", "v") { $0.initial = true }
        for value in ["2", "3"] { scenario.put("o", "v", value) }
        #expect(
            scenario.mail(holding) == [
                #"v {"kind":"set","initial":true,"new":1} @1"#,
                #"v {"kind":"set","new":2} @2"#, #"v {"kind":"set","new":3} @3"#,
            ])
        #expect(scenario.mail(coalescing) == [#"v {"kind":"set","initial":true,"new":3} @3"#])
        for it in [holding, coalescing] { scenario.apply(.readMailbox(observer: it, through: nil)) }
        scenario.apply(.readMailbox(observer: holding, through: 2))
        #expect(scenario.mail(holding, after: 2) == [#"v {"kind":"set","new":3} @3"#])
        scenario.apply(.readMailbox(observer: coalescing, through: 3))
        #expect(scenario.mail(coalescing).isEmpty)
    }
}
