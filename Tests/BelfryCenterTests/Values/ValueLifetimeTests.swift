import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: values that end, limits and restarts (Rules.md, V15 to V17)")
struct ValueLifetimeTests {
    private var scenario = Scenario()

    @Test(
        "V16: what has a ttl is removed so long after its last setting, as a change like any other")
    mutating func timeToLive() {
        let client = scenario.connect()
        scenario.look("o", "a", by: client) { $0.old = true }
        scenario.put("o", "a", "1") { $0.ttl = 1_000 }
        scenario.pass(milliseconds: 999)
        #expect(scenario.seen.isEmpty && scenario.value("o", "a") == "1")
        // An equal setting renews it (V2).
        let renewed = scenario.put("o", "a", "1") { $0.ttl = 1_000 }
        #expect(renewed == "same")
        scenario.pass(milliseconds: 999)
        #expect(scenario.value("o", "a") == "1")
        scenario.pass(milliseconds: 1)
        #expect(scenario.seen == [#"o1 a {"kind":"removed","old":1} @2"#])
        #expect(scenario.value("o") == "{}")
    }

    @Test("V16: a write at the place or above it takes the ttl away; one below leaves it")
    mutating func belongsToItsPlace() {
        for (path, value, isKept) in [
            ("a", "2", false), ("", #"{"a":2}"#, false), ("a.b", "2", true), ("c", "2", true),
        ] {
            scenario.put("o", "a", #"{"b":1}"#) { $0.ttl = 1_000 }
            scenario.put("o", path, value)
            scenario.pass(milliseconds: 1_000)
            #expect((scenario.value("o", "a") == "none") == isKept, "\(path)")
        }
        scenario.put("o", "a", "1") { $0.ttl = 1_000 }
        scenario.patch("o", "", #"{"d":1}"#)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.value("o", "a") == "none")
        scenario.put("o", "a", "1") { $0.ttl = 1_000 }
        scenario.patch("o", "", #"{"a":2}"#)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.value("o", "a") == "2")
        #expect(scenario.center.needs.deadline == .max)
    }

    @Test(
        "V16: a patch at the place takes the ttl away, whatever it is; one above counts at its leaves"
    )
    mutating func patched() {
        for (path, patch, isKept) in [
            ("a", #"{"b":2}"#, true), ("a", "{}", true), ("a", "2", true),
            ("", #"{"a":{"b":2}}"#, false), ("", #"{"a":2}"#, true), ("a.b", "2", false),
        ] {
            scenario.put("o", "a", #"{"b":1}"#) { $0.ttl = 1_000 }
            scenario.patch("o", path, patch)
            scenario.pass(milliseconds: 1_000)
            #expect((scenario.value("o", "a") != "none") == isKept, "\(path) \(patch)")
        }
        #expect(scenario.center.needs.deadline == .max)
    }

    @Test("V16: what is missed when its time is over changes nothing")
    mutating func missed() {
        scenario.put("o", "a.b", "1") { $0.ttl = 1_000 }
        scenario.patch("o", "", #"{"a":{"b":null}}"#)
        let sequence = scenario.center.sequence
        scenario.pass(milliseconds: 2_000)
        #expect(scenario.center.sequence == sequence && scenario.value("o") == #"{"a":{}}"#)
    }

    @Test("V17 (T286): an entry ends when its client has been disconnected for its lease")
    mutating func lease() {
        let (x, y) = (scenario.connect(), scenario.connect())
        scenario.look("o", "who", by: y)
        scenario.put("o", "who.x", "1") {
            $0.client = x
            $0.lease = 200
        }
        scenario.pass(milliseconds: 10_000)
        #expect(scenario.value("o", "who") == #"{"x":1}"#)
        scenario.cut(x)
        scenario.pass(milliseconds: 199)
        #expect(scenario.value("o", "who") == #"{"x":1}"#)
        scenario.pass(milliseconds: 1)
        #expect(scenario.seen == [#"o1 who {"kind":"merge","new":{"x":null}} @2"#])
    }

    @Test("V17: resume in time keeps the entry, and one that was written before it")
    mutating func resumed() {
        let x = scenario.connect()
        scenario.observe("a", by: x, .hold)
        scenario.put("o", "x", "1") {
            $0.client = x
            $0.lease = 200
        }
        scenario.cut(x)
        scenario.pass(milliseconds: 199)
        let newcomer = scenario.connect()
        scenario.put("o", "y", "1") {
            $0.client = newcomer
            $0.lease = 200
        }
        scenario.apply(.resume(Resumption(newcomer: newcomer, client: x, after: nil)))
        scenario.pass(milliseconds: 10_000)
        #expect(scenario.value("o") == #"{"x":1,"y":1}"#)
        scenario.cut(x)
        scenario.pass(milliseconds: 200)
        #expect(scenario.value("o") == "{}")
    }

    @Test(
        "V17: an entry keeps its client, which has nothing else, as long as the longest lease runs")
    mutating func keepsItsClient() {
        let x = scenario.connect()
        for (path, lease) in [("a", 200), ("b", 100)] {
            scenario.put("o", path, "1") {
                $0.client = x
                $0.lease = Int64(lease)
            }
        }
        scenario.cut(x)
        scenario.pass(milliseconds: 99)
        #expect(scenario.state(x) == .disconnected)
        scenario.back(x)
        scenario.pass(milliseconds: 10_000)
        #expect(scenario.state(x) == .live && scenario.value("o") == #"{"a":1,"b":1}"#)
        scenario.cut(x)
        scenario.pass(milliseconds: 199)
        #expect(scenario.state(x) == .disconnected && scenario.value("o") == #"{"a":1}"#)
        scenario.pass(milliseconds: 1)
        #expect(scenario.state(x) == nil && scenario.value("o") == "{}")
        #expect(scenario.back(x) == .refused(.unknownClient))
    }

    @Test("V17: who is away goes when its last entry is written over or taken away by others")
    mutating func losesItsLastEntry() {
        for end in 0..<3 {
            let x = scenario.connect()
            scenario.put("o", "x", "1") {
                $0.client = x
                $0.lease = 60_000
            }
            scenario.cut(x)
            switch end {
            case 0: scenario.put("o", "x", "2")
            case 1: scenario.patch("o", "", #"{"x":3}"#)
            default: scenario.delete("o", "x")
            }
            #expect(scenario.state(x) == nil, "\(end)")
        }
        // Renewed, written over by itself, and away with an observer: it stays.
        let x = scenario.connect()
        scenario.observe("a", by: x, .hold)
        for lease in [60_000, 30_000, nil] as [Int64?] {
            scenario.put("o", "x", "1") {
                $0.client = x
                $0.lease = lease
            }
        }
        scenario.cut(x)
        scenario.pass(milliseconds: 60_000)
        #expect(scenario.state(x) == .disconnected && scenario.value("o") == #"{"x":1}"#)
    }

    @Test("V17: the removal of a client that is away ends its entries at once")
    mutating func removedWhileAway() {
        let (x, y) = (scenario.connect(), scenario.connect())
        scenario.look("o", "", by: y)
        scenario.put("o", "x", "1") {
            $0.client = x
            $0.lease = 60_000
        }
        scenario.cut(x)
        scenario.apply(.removeClient(client: x, by: .broker))
        #expect(scenario.seen == [#"o1  {"kind":"merge","new":{"x":null}} @2"#])
        #expect(scenario.state(x) == nil && scenario.back(x) == .refused(.unknownClient))
    }

    @Test("V17: an orderly close, the client's removal and a lease of 0 end entries at once")
    mutating func atOnce() {
        for end in 0..<3 {
            let x = scenario.connect()
            scenario.put("o", "x", "1") {
                $0.client = x
                $0.lease = end == 2 ? 0 : 60_000
            }
            switch end {
            case 0:
                scenario.apply(
                    .disconnect(
                        client: x, connection: ConnectionName(node: 1, number: x + 100),
                        end: .closed))
            case 1: scenario.apply(.removeClient(client: x, by: .broker))
            default: scenario.cut(x)
            }
            #expect(scenario.value("o") == "{}", "\(end)")
        }
    }

    @Test("V17: entries of a client whose broker leaves stay for 30 s, or for a longer lease")
    mutating func brokerLeaves() {
        for (lease, waits): (Int64, Int64) in [(0, 30_000), (30_001, 30_001)] {
            let x = scenario.connect()
            scenario.put("o", "x", "1") {
                $0.client = x
                $0.lease = lease
            }
            scenario.apply(
                .disconnect(
                    client: x, connection: ConnectionName(node: 1, number: x + 100),
                    end: .brokerLeft))
            scenario.pass(milliseconds: waits - 1)
            #expect(scenario.value("o") == #"{"x":1}"#)
            scenario.pass(milliseconds: 1)
            #expect(scenario.value("o") == "{}")
        }
    }

    @Test("limits of values: as many as may be, and one more")
    mutating func limits() {
        var limits = CenterLimits()
        limits.valueLimit = 2
        limits.valuePartLimit = 2
        limits.clientPartLimit = 3
        limits.documentByteLimit = 64
        limits.documentDepthLimit = 4
        scenario = Scenario(limits: limits)
        #expect(scenario.put("a", "k", "1") == "created")
        #expect(scenario.put("b", "k", "1") == "created")
        #expect(scenario.put("c", "k", "1") == "valuesFull(limit: 2)")
        #expect(scenario.patch("c", "", #"{"k":1}"#) == "valuesFull(limit: 2)")
        #expect(scenario.put("a", "k", "2") == "changed" && scenario.delete("b", "") == "changed")
        #expect(scenario.put("c", "k", "1") == "created" && scenario.center.valueCount == 2)
        let text = "\"" + String(repeating: "x", count: 56) + "\""
        #expect(scenario.put("a", "k", text) == "changed")
        let longer = "\"" + String(repeating: "x", count: 57) + "\""
        #expect(scenario.put("a", "k", longer) == "valueTooLarge(limit: 64)")
        #expect(scenario.value("a", "k") == text)
        #expect(scenario.put("a", "k", #"{"a":{"b":{}}}"#) == "changed")
        #expect(scenario.put("a", "k", #"{"a":{"b":{"c":{}}}}"#) == "valueTooDeep(limit: 4)")
        for (path, value, answer) in [
            ("p1", "1", "created"), ("p2", "1", "created"), ("p3", "1", "tooManyParts(limit: 2)"),
            ("p2", "2", "changed"),
        ] {
            let written = scenario.put("a", path, value) { $0.ttl = 1 }
            #expect(written == answer, "\(path)")
        }
        let client = scenario.connect()
        for (object, path, answer) in [
            ("c", "p1", "created"), ("c", "p2", "created"), ("a", "p1", "changed"),
            ("a", "p2", "tooManyEntries(limit: 3)"), ("c", "p2", "same"),
        ] {
            let written = scenario.put(object, path, "9") {
                $0.client = client
                $0.lease = 1
            }
            #expect(written == answer, "\(object) \(path)")
        }
    }

    @Test("the bytes of all values have a limit; shrinking and removing always work")
    mutating func byteRoom() {
        var answers: [String] = []
        for (value, room) in [("1234", 10), ("1234", 11), ("12345", 0), ("123", -5)] {
            answers.append(scenario.put("o", "a", value) { $0.byteRoom = room })
            #expect(
                scenario.center.tally[.valueBytes]
                    == (value == "123" ? 10 : answers.count > 1 ? 11 : 0))
        }
        #expect(answers == ["valueBytesFull", "created", "valueBytesFull", "changed"])
        let removed = scenario.delete("o", "") { $0.byteRoom = -5 }
        #expect(removed == "changed")
        #expect(scenario.center.tally[.valueBytes] == 0)
    }

    @Test("a value counts for whoever changed it last")
    mutating func owners() {
        let (first, second) = (Owner(number: 1), Owner(number: 2))
        scenario.put("o", "a", "1") { $0.owner = first }
        let texts = scenario.center.holdings(of: first).texts
        #expect(texts[.values].byteCount == 8 && texts[.values].cost > 8 * 8)
        #expect(texts[.queue].byteCount == 0 && texts[.timers].byteCount == 0)
        scenario.put("o", "a", "2") { $0.owner = second }
        #expect(scenario.center.holdings(of: first).isNone)
        #expect(scenario.center.holdings(of: second).texts == texts)
        scenario.delete("o", "")
        #expect(scenario.center.holdings(of: second).isNone)
    }
}
