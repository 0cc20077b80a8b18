import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("The account of a center is whole (decision 124)")
struct AccountTests {
    /// Parts of the same size in each center: a center counts with them as a whole.
    private static func isFixed(_ label: String, _ type: Any.Type) -> Bool {
        let types: [Any.Type] = [
            Bool.self, Int.self, UInt64.self, Int64.self, CenterLimits.self, CenterNeeds.self,
            CenterTally.self, Losses.self, KeptMemory.self,
        ]
        return types.contains { $0 == type } || ["name", "epoch"].contains(label)
    }

    /// Tables that are empty between commands: they count with the effects.
    private static let ofOneCommand = ["dispatching"]

    /// The parts of a center, whose tables are looked at one by one.
    private static let parts: [Any.Type] = [
        ObserverRegistry.self, History.self, Backlog.self, Schedule.self, Asks.self,
        CenterMemory.self,
    ]

    /// The footprint of each stored table of a center, by its part and name.
    private static func footprints(_ center: NotificationCenter) -> [String: Int] {
        var footprints = ["matched": center.dispatching.matched.slots.footprint]
        add(Mirror(reflecting: center), in: "", to: &footprints)
        return footprints
    }

    private static func add(
        _ mirror: Mirror, in part: String, to footprints: inout [String: Int]
    ) {
        for (label, value) in mirror.children {
            let label = label ?? ""
            let name = part + label
            if isFixed(label, type(of: value)) || ofOneCommand.contains(label) { continue }
            if parts.contains(where: { $0 == type(of: value) }) {
                add(Mirror(reflecting: value), in: name + ".", to: &footprints)
            } else if let table = value as? any Footprinted {
                footprints[name] = table.footprint
            } else if type(of: value) is any Footprinted.Type {
                footprints[name] = 0
            } else {
                Issue.record("\(name) has no footprint: its memory is in no account")
            }
        }
    }

    @Test("each table of a center is in its account, with what it tells")
    func tables() {
        var scenario = Self.filled()
        let memory = scenario.keptMemory()
        let told = Self.footprints(scenario.center)
        let kept = KeptKind.allCases.reduce(0) { $0 + memory[$1] }
        #expect(told.values.reduce(0, +) == kept)
        // A field that was never filled could be missing unseen.
        let empty = Self.footprints(Scenario().center)
        for (label, footprint) in told {
            #expect(footprint > empty[label] ?? 0, "the test must fill \(label)")
        }
    }

    @Test("what is gone costs nothing any more")
    func gone() {
        var scenario = Scenario()
        let client = scenario.connect()
        for number in 0..<200 {
            scenario.look("v\(number % 3)", "a.b\(number).c.d", by: client)
            scenario.put("v\(number % 3)", "a.b\(number).e", #"{"f":{"g":1}}"#) {
                $0.ttl = 60_000
            }
        }
        let full = scenario.kept(.queue)
        for number in 0..<3 { scenario.delete("v\(number)", "") }
        scenario.apply(.removeClient(client: client, by: .broker))
        let left = scenario.kept(.queue)
        // The objects that are gone are known, and empty tables have room.
        #expect(full > 200_000 && left < 16_384, "\(full), then \(left)")
    }

    @Test("a node of key paths costs its key and itself, however deep it is")
    func depth() {
        func cost(keyCount: Int) -> Int {
            var scenario = Scenario()
            let client = scenario.connect()
            let before = scenario.kept(.queue)
            for number in 0..<100 {
                let keys = ["k\(number)"] + (1..<keyCount).map { "key\($0)" }
                scenario.look("v", keys.joined(separator: "."), by: client)
            }
            return (scenario.kept(.queue) - before) / 100
        }
        let each = (cost(keyCount: 16) - cost(keyCount: 8)) / 8
        #expect((150...350).contains(each), "\(each) bytes a key")
    }

    @Test("members of documents count by their number, at any depth")
    func documents() throws {
        func cost(_ text: String) -> Int {
            var scenario = Scenario()
            let before = scenario.kept(.queue)
            scenario.put("v", "", text)
            return scenario.kept(.queue) - before
        }
        let flat = cost(#"{"a":"\#(String(repeating: "x", count: 3_000))"}"#)
        let members = (0..<300).map { #""m\#($0)":{"a":1}"# }
        let nested = cost("{\(members.joined(separator: ","))}")
        #expect(flat > 3_000 && flat < 5_000)
        #expect(nested > 300 * 2 * 110 && nested < 300 * 2 * 170)
    }

    @Test("a whole state keeps no other account than the center that it was written of")
    func restored() throws {
        var scenario = Scenario()
        let client = scenario.connect(owner: Owner(number: 7))
        for number in 0..<100 {
            scenario.look("v\(number % 3)", "a.b\(number).c", by: client)
            scenario.put("v\(number % 3)", "a.b\(number).e", "1") {
                $0.ttl = 60_000
                $0.owner = Owner(number: 7)
            }
        }
        let ours = scenario.kept(.queue)
        var other = Scenario()
        other.center = try NotificationCenter(
            snapshot: scenario.center.snapshot(), seed: HashSeed(1, 2))
        // Arrays that were read have no room in them.
        #expect(abs(other.kept(.queue) - ours) < ours / 10)
        // Nothing is left of it, in any account.
        for number in 0..<3 { other.delete("v\(number)", "") }
        other.apply(.removeClient(client: client, by: .broker))
        #expect(other.center.holdings(of: Owner(number: 7)).isNone)
    }

    @Test("an owner has what its observers of values cost, and a place that ends for the value")
    func owners() {
        var scenario = Scenario()
        let owner = Owner(number: 7)
        let client = scenario.connect(owner: owner)
        func holdings() -> Holdings { scenario.center.holdings(of: owner) }
        #expect(holdings().memory[.queue] == 0)
        let serial = scenario.look("v", "a.b.c.d.e.f.g.h", by: client)
        #expect(holdings().memory[.queue] > 8 * 150)
        scenario.remove(serial, by: .client(client))
        #expect(holdings().memory[.queue] == 0)
        scenario.put("v", "a.b.c.d.e.f.g.h", "1") { $0.owner = owner }
        let before = holdings().texts[.values]
        scenario.put("v", "a.b.c.d.e.f.g.h", "1") {
            $0.owner = owner
            $0.ttl = 1_000
        }
        #expect(holdings().texts[.values].byteCount == before.byteCount)
        #expect(holdings().texts[.values].cost > before.cost + 8 * 150)
        scenario.pass(milliseconds: 1_001)
        #expect(holdings().texts[.values].cost < before.cost)
        scenario.delete("v", "")
        #expect(holdings().texts == OwnedTexts())
    }

    @Test("V16: a place that ends needs room, also where its value is there already")
    func room() {
        var scenario = Scenario()
        scenario.put("v", "a", "1")
        scenario.put("v", "a", "1") {
            $0.ttl = 1_000
            $0.byteRoom = 0
        }
        #expect(scenario.effects.outcome == .refused(.valueBytesFull))
        scenario.put("v", "a", "1") {
            $0.ttl = 1_000
            $0.byteRoom = 1
        }
        // One that is there already is renewed.
        scenario.put("v", "a", "1") {
            $0.ttl = 1_000
            $0.byteRoom = 0
        }
        #expect(scenario.effects.outcome != .refused(.valueBytesFull))
    }

    /// A center that has something in each table.
    private static func filled() -> Scenario {
        var scenario = Scenario()
        let owner = Owner(number: 7)
        let client = scenario.connect(owner: owner)
        let away = scenario.connect()
        scenario.archive("b")
        scenario.observe("p", by: away, .hold) { $0.minInterval = 1_000_000_000 }
        scenario.say("p1")
        scenario.observe("b", "o", by: client, .coalesce)
        scenario.look("v", "x.y", by: client)
        _ = scenario.respondingMailbox("desk", ["open"])
        scenario.wire("press", "button", "desk", "open", by: client)
        scenario.observe(where: #"{"k":1}"#, by: client)
        scenario.suspend(client)
        scenario.suspend(away)
        scenario.post("b", "o", userInfo: #"{"k":1}"#)
        scenario.say("b1/o")
        scenario.put("v", "x.y", "1") { $0.ttl = 60_000 }
        scenario.later("t1", after: 60_000)
        scenario.apply(.post(scenario.newPost(text: "q1", style: .asap), PostTerms()))
        scenario.remove(scenario.observe("gone", by: client), by: .client(client))
        scenario.ask("desk", "open")
        scenario.ask("nobody", "open")
        scenario.enter("mode", 1)
        scenario.center.fillRest()
        return scenario
    }
}

extension NotificationCenter {
    /// Puts something into the tables that need a log, a store or a long way for it.
    fileprivate mutating func fillRest() {
        let gap = GapRecord(reason: .dropped, count: 1, first: 1, last: 1)
        history.marks = DispatchMarks(all: 1)
        dispatching.matched.slots = [1]
        reports = [.queueOverflowed(count: 1)]
        registry.lastWritten[0] = LastWritten(sequence: 1, isShared: false)
        backlog.toldGaps[1] = [ToldGap(gap: gap, toldAt: 1)]
        backlog.doubts[0, default: []].append(Doubt(observer: 1, gap: gap, kind: .lost))
        backlog.heldActions[0] = HeldAction(row: 1, selector: [], acknowledges: false, path: [[1]])
        registry.watch.add(watching: [1])
        _ = backlog.waiting.add(
            CommandID(node: 1, incarnation: 1, counter: 1),
            receipts: [Receipt(id: NotificationID(high: 1, low: 1), sequence: 1)], reports: [],
            remainingCount: 1, key: nil, at: [])
        _ = history.keys.begin(
            IdempotencyKey(
                principal: [1], text: [2], requestHash: SecretHash(high: 1, low: 1), form: 0,
                owner: .none), waitingFor: nil, receipts: [], reports: [], at: 0, limits: limits)
    }
}

extension Scenario {
    /// The memory of a kind that the center keeps now.
    fileprivate mutating func kept(_ kind: KeptKind) -> Int {
        keptMemory()[kind]
    }
}
