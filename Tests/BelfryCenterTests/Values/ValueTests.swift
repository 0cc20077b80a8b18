import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: values and their observers (Rules.md, V)")
struct ValueTests {
    private var scenario = Scenario()

    @Test(
        "V1 (T279): null members go when they are written, nulls in arrays and the bytes of leaves stay"
    )
    mutating func canonical() {
        scenario.put("o", "", #"{"b" : [null, 1.50], "a":null, "B":12345678901234567890}"#)
        #expect(scenario.value("o") == #"{"B":12345678901234567890,"b":[null,1.50]}"#)
        scenario.put("o", "x.y.z", #"{"k":null}"#)
        #expect(scenario.value("o", "x") == #"{"y":{"z":{}}}"#)
        scenario.put("o", "b.c", "5")
        #expect(scenario.value("o", "b") == #"{"c":5}"#)
        #expect(scenario.value("o", "b.c.d") == "none" && scenario.value("p") == "none")
    }

    @Test("V2: an equal write changes nothing: no number, no frame, the same tag")
    mutating func equalWrites() {
        let client = scenario.connect()
        scenario.look("o", "", by: client)
        #expect(scenario.put("o", "", #"{"a":1,"b":{"c":2}}"#) == "created")
        let tag = scenario.tag("o")
        #expect(scenario.put("o", "", #"{ "b":{"c":2}, "a":1 }"#) == "same")
        #expect(scenario.effects.deliveries.isEmpty && scenario.center.sequence == 1)
        #expect(scenario.patch("o", "b", #"{"c":2,"d":null}"#) == "same")
        #expect(scenario.put("o", "b.c", "2") == "same")
        #expect(scenario.tag("o") == tag && scenario.center.sequence == 1)
        #expect(scenario.put("o", "b.c", "2.0") == "changed")
        #expect(scenario.tag("o") != tag)
    }

    @Test("V3 (T269): a patch is one change; each observer has its own part of it")
    mutating func oneChange() {
        let (x, y) = (scenario.connect(), scenario.connect())
        scenario.put("o", "", #"{"a":0,"b":2,"c":3}"#)
        scenario.look("o", "a", by: x)
        scenario.look("o", "", by: y) { $0.old = true }
        scenario.look("o", "c", by: y)
        #expect(scenario.patch("o", "", #"{"a":1,"b":null}"#) == "changed")
        #expect(
            scenario.seen == [
                #"o1 a {"kind":"set","new":1} @2"#,
                #"o2  {"kind":"merge","new":{"a":1,"b":null},"old":{"a":0,"b":2}} @2"#,
            ])
    }

    @Test("V3: the frames of one client come in the order of registration, whatever their paths")
    mutating func orderOfRegistration() {
        let client = scenario.connect()
        for path in ["a.b", "", "a", "a.b", ""] { scenario.look("o", path, by: client) }
        scenario.put("o", "a.b", "1")
        #expect(scenario.effects.deliveries.map(\.observer) == [1, 2, 3, 4, 5])
        guard case .written(let written) = scenario.effects.outcome else { return }
        #expect(written.receipt.matched == 5 && written.receipt.delivered == 5)
    }

    @Test("V4: a write at, above or below a path is a change there; one beside it is not")
    mutating func whoIsTold() {
        let client = scenario.connect()
        scenario.look("o", "a.b", by: client)
        scenario.put("o", "a.b", "1")
        #expect(scenario.seen == [#"o1 a.b {"kind":"set","new":1} @1"#])
        scenario.put("o", "a", #"{"b":2,"c":3}"#)
        #expect(scenario.seen == [#"o1 a.b {"kind":"set","new":2} @2"#])
        scenario.put("o", "a.b.d", "4")
        #expect(scenario.seen == [#"o1 a.b {"kind":"set","new":{"d":4}} @3"#])
        scenario.put("o", "a.c", "5")
        #expect(scenario.seen.isEmpty)
        scenario.put("o", "a", #"{"b":{"d":4}}"#)
        #expect(scenario.seen.isEmpty)
        scenario.delete("o", "a")
        #expect(scenario.seen == [#"o1 a.b {"kind":"removed"} @6"#])
        scenario.delete("o", "")
        #expect(scenario.seen.isEmpty)
        scenario.put("p", "a.b", "1")
        #expect(scenario.seen.isEmpty)
    }

    @Test("V5 (T271): a frame depends on its own old and new alone")
    mutating func kinds() {
        let client = scenario.connect()
        scenario.look("o", "p", by: client) { $0.old = true }
        scenario.put("o", "p.q", "5")
        #expect(scenario.seen == [#"o1 p {"kind":"set","new":{"q":5}} @1"#])
        scenario.put("o", "p", #"{"q":5,"r":6}"#)
        #expect(
            scenario.seen == [#"o1 p {"kind":"merge","new":{"r":6},"old":{"r":null}} @2"#])
        scenario.put("o", "p", "7")
        #expect(
            scenario.seen == [#"o1 p {"kind":"set","new":7,"old":{"q":5,"r":6}} @3"#])
        scenario.put("o", "p.q", "5")
        #expect(scenario.seen == [#"o1 p {"kind":"set","new":{"q":5},"old":7} @4"#])
        scenario.delete("o", "")
        #expect(scenario.seen == [#"o1 p {"kind":"removed","old":{"q":5}} @5"#])
    }

    @Test(
        "V6 (T260): the present value comes once, behind the answer, with the number of the registration"
    )
    mutating func initial() {
        let client = scenario.connect()
        scenario.put("o", "v", "1")
        let observer = scenario.look("o", "v", by: client) { $0.initial = true }
        guard case .registered(let rows) = scenario.effects.outcome else { return }
        #expect(rows[0].since == 1 && scenario.effects.deliveries.isEmpty)
        #expect(
            scenario.effects.notices == [.flushFollows(client: client, connection: connection(101))]
        )
        // Changes meanwhile come behind it.
        scenario.put("o", "v", "2")
        #expect(scenario.seen.isEmpty)
        scenario.apply(.drain(client: client))
        #expect(
            scenario.seen == [
                #"o\#(observer) v {"kind":"set","initial":true,"new":1} @1"#,
                #"o\#(observer) v {"kind":"set","new":2} @2"#,
            ])
        scenario.put("o", "v", "3")
        #expect(scenario.seen == [#"o1 v {"kind":"set","new":3} @3"#])
        scenario.look("o", "w", by: client) { $0.initial = true }
        scenario.apply(.drain(client: client))
        #expect(scenario.seen == [#"o2 w {"kind":"removed","initial":true} @3"#])
    }

    @Test("V7: own false is about what the client writes over its own connection")
    mutating func own() {
        let (x, y) = (scenario.connect(), scenario.connect())
        scenario.look("o", "v", by: x) { $0.own = false }
        scenario.look("o", "v", by: y) { $0.own = false }
        scenario.put("o", "v", "1") { $0.client = x }
        #expect(scenario.seen == [#"o2 v {"kind":"set","new":1} @1"#])
        scenario.put("o", "v", "2")
        #expect(scenario.effects.deliveries.map(\.observer) == [1, 2])
    }

    @Test("V11: changes and notifications are in one order for each client")
    mutating func oneOrder() {
        let client = scenario.connect()
        scenario.look("o", "v", by: client) { $0.behavior = .hold }
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        scenario.put("o", "v", "1")
        scenario.say("a1")
        scenario.put("o", "v", "2")
        scenario.endSuspension(client)
        #expect(
            scenario.effects.deliveries.map {
                scenario.effects.notifications[Int($0.notification)].sequence
            } == [1, 2, 3])
    }

    @Test("V12 (T264): nobody observes: no frame, no queue, no row of a name without observers")
    mutating func unobserved() {
        let client = scenario.connect()
        for path in 0..<100 { scenario.look("o", "other\(path)", by: client) }
        for value in 0..<1_000 { scenario.put("o", "v", "\(value)") }
        #expect(scenario.effects.notifications.isEmpty && scenario.effects.deliveries.isEmpty)
        let report = scenario.center.unmatched(limit: 10) { _, _ in true }
        #expect(report.postedNeverObserved.isEmpty && scenario.center.queueCount == 0)
        #expect(scenario.center.replayCount == 0 && scenario.center.sequence == 1_000)
    }

    @Test("V13: no channel, wildcard or post meets a value")
    mutating func apart() {
        let client = scenario.connect()
        scenario.observe(nil, by: client)
        scenario.observe(nil, "o", by: client)
        let value = scenario.look("o", "v", by: client)
        scenario.put("o", "v", "1")
        #expect(scenario.effects.deliveries.map(\.observer) == [value])
        #expect(!scenario.post("v", "o").contains(value))
        #expect(!scenario.explain("v", "o").observers.contains { $0.row.serial == value })
    }

    @Test("V14: equal values have equal tags on every path; a sister does not change one")
    mutating func tags() {
        scenario.put("o", "a", #"{"x":[1,2]}"#)
        scenario.put("p", "b.c", #"{ "x" : [1,2] }"#)
        let tag = scenario.tag("o", "a")
        #expect(tag != nil && tag == scenario.tag("p", "b.c"))
        scenario.put("o", "sister", "1")
        #expect(scenario.tag("o", "a") == tag)
        let first = scenario.put("o", "a", "1") { $0.condition.matches = tag.map { .some([$0]) } }
        let second = scenario.put("o", "a", "2") { $0.condition.matches = tag.map { .some([$0]) } }
        #expect(first == "changed")
        #expect(second == "\(Refusal.preconditionFailed(current: scenario.tag("o", "a")))")
        #expect(scenario.value("o", "a") == "1")
    }

    @Test("V14 (T266): If-None-Match with * creates only; If-Match with * needs something there")
    mutating func conditions() {
        let created = scenario.put("o", "a", "1") { $0.condition.noneMatches = .any }
        let refused = "\(Refusal.preconditionFailed(current: scenario.tag("o", "a")))"
        let answers = [
            scenario.put("o", "a", "2") { $0.condition.noneMatches = .any },
            scenario.patch("o", "a", "2") { $0.condition.noneMatches = .any },
            scenario.delete("o", "a") { $0.condition.noneMatches = .any },
        ]
        #expect(created == "created" && answers == [refused, refused, refused])
        let absent = [
            scenario.put("o", "b", "2") { $0.condition.matches = .any },
            scenario.delete("o", "b") { $0.condition.matches = .any },
            scenario.delete("o", "a") { $0.condition.matches = .any },
        ]
        #expect(
            absent == [
                "\(Refusal.preconditionFailed(current: nil))", "unknownValue", "changed",
            ])
    }

    @Test("O4 (T283): an observer of a value is removed once, and by its object")
    mutating func removed() {
        let client = scenario.connect()
        let first = scenario.look("o", "v", by: client)
        let second = scenario.look("o", "", by: client)
        #expect(scenario.remove(first, by: .client(client)) == .removed(1))
        guard case .refused(.observerRemoved) = scenario.remove(first, by: .client(client)) else {
            Issue.record("\(scenario.effects.outcome)")
            return
        }
        #expect(scenario.remove(object: "o", of: client) == .removed(1))
        scenario.put("o", "v", "1")
        #expect(scenario.effects.deliveries.isEmpty && second == 2)
    }
}
