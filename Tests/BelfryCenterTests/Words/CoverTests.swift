import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what of others a command may take away (Rules.md, R1 and V19)")
struct CoverTests {
    private var scenario = Scenario()

    /// Covers some selectors of the address `w`.
    private static func covering(_ selectors: [String], principal: String? = nil) -> Cover {
        var cover = Cover()
        cover.selectors = .some([
            PostScope.Pattern(
                names: selectors.map { .exact(bytes($0)) }, objects: [.exact(bytes("w"))])
        ])
        cover.principal = principal.map { bytes($0) }
        return cover
    }

    private mutating func replace(within cover: Cover, by client: UInt64) -> Outcome {
        let registration = scenario.responder("w", ["a"])
        return scenario.apply(
            .within(cover, .addObserver(registration, client: client, since: nil)))
    }

    @Test("R1: a replacement covers each selector of each holder, or changes nothing")
    mutating func selectors() {
        let client = scenario.connect()
        for selectors in [["a", "b"], ["c"]] {
            scenario.respond("w", selectors, by: client) { $0.ifHeld = .share }
        }
        let holders = scenario.center.responders(at: bytes("w")).map(\.observer.serial)
        for covered in [["a"], ["a", "b"], ["a", "c"]] {
            #expect(
                replace(within: Self.covering(covered), by: client) == .refused(.alreadyHeld))
        }
        #expect(scenario.center.responders(at: bytes("w")).map(\.observer.serial) == holders)
        guard case .registered = replace(within: Self.covering(["a", "b", "c"]), by: client) else {
            Issue.record("all is covered")
            return
        }
        #expect(scenario.center.responders(at: bytes("w")).count == 1)
    }

    @Test("R1: one's own responders go whatever they implement; an alias needs all names")
    mutating func principal() {
        let client = scenario.connect()
        let own = scenario.center.client(client)?.principal ?? []
        scenario.respond("w", ["z"], by: client)
        let principal = String(decoding: own, as: UTF8.self)
        #expect(
            replace(within: Self.covering(["a"], principal: principal + "x"), by: client)
                == .refused(.alreadyHeld))
        guard
            case .registered = replace(
                within: Self.covering(["a"], principal: principal), by: client)
        else {
            Issue.record("it is the same principal")
            return
        }
        scenario.respond("w", [], by: client) { $0.next = "v" }
        #expect(replace(within: Self.covering(["a"]), by: client) == .refused(.alreadyHeld))
        var all = Self.covering([])
        guard case .registered = replace(within: all, by: client) else {
            Issue.record("no names are all names")
            return
        }
        all.selectors = .some([])
        #expect(replace(within: all, by: client) == .refused(.alreadyHeld))
    }

    @Test("R1: so many selectors are looked at, and no more", arguments: [0, 1])
    mutating func limit(over: Int) {
        let client = scenario.connect()
        let count = Cover.selectorLimit / 64
        for holder in 0..<count + over {
            let width = holder == count ? 1 : 64
            scenario.respond("w", (0..<width).map { "s\($0)" }, by: client) { $0.ifHeld = .share }
        }
        let outcome = replace(within: Self.covering((0..<64).map { "s\($0)" }), by: client)
        if over == 0 {
            guard case .registered = outcome else {
                Issue.record("as many are looked at")
                return
            }
        } else {
            #expect(outcome == .refused(.alreadyHeld))
        }
    }

    @Test("R1: the observers that a client begins with are covered, too")
    mutating func connecting() {
        let client = scenario.connect()
        scenario.respond("w", ["z"], by: client)
        let registration = ClientRegistration(
            id: 99, transport: .webSocket, connection: ConnectionName(node: 0, number: 99),
            sessionHash: SecretHash(high: 9, low: 9), principal: bytes("other"))
        let action = Command.Action.connect(
            registration, observers: [scenario.responder("w", ["a"])], since: nil)
        #expect(
            scenario.apply(.within(Self.covering(["a"]), action)) == .refused(.alreadyHeld))
        #expect(scenario.center.client(99) == nil)
    }

    private mutating func write(_ path: String, keeping depths: [Int]) -> Outcome {
        var cover = Cover()
        cover.keptDepths = depths
        let write = ValueWrite(
            id: scenario.newPost("w").id, object: bytes("o"), path: scenario.keyPath(path))
        let value = scenario.document("1")
        return scenario.apply(.within(cover, .setValue(write, value, ValueLifetime())))
    }

    @Test("V19: what is no object on the way goes only where it is covered; objects stay anyway")
    mutating func leaves() {
        scenario.put("o", "a.b", "7")
        #expect(write("a.b.c", keeping: [1, 2]) == .refused(.leafNotCovered(path: bytes("a.b"))))
        #expect(write("a.b.c.d.e", keeping: [2]) == .refused(.leafNotCovered(path: bytes("a.b"))))
        #expect(scenario.value("o") == #"{"a":{"b":7}}"#)
        guard case .written = write("a.x", keeping: [1]) else {
            Issue.record("an object is on the way")
            return
        }
        guard case .written = write("a.b.c", keeping: [1]) else {
            Issue.record("the leaf is covered")
            return
        }
        #expect(scenario.value("o") == #"{"a":{"b":{"c":1},"x":1}}"#)
        guard case .written = write("z.y.x", keeping: [1, 2]) else {
            Issue.record("nothing is on the way")
            return
        }
    }

    @Test("V19: a patch is a write as well")
    mutating func patches() {
        scenario.put("o", "a", "7")
        var cover = Cover()
        cover.keptDepths = [1]
        let write = ValueWrite(
            id: scenario.newPost("w").id, object: bytes("o"), path: scenario.keyPath("a.b"))
        let patch = scenario.document(#"{"c":1}"#, isPatch: true)
        #expect(
            scenario.apply(.within(cover, .mergeValue(write, patch: patch)))
                == .refused(.leafNotCovered(path: bytes("a"))))
    }
}
