import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what was not lost by a kill is not told (law 3, decision 91)")
struct DispatchMarksTests {
    /// Takes down what a center dispatches, as a broker does after each command.
    private struct Witness {
        var cells = DispatchMarks(all: 0).cells
        private var through: UInt64 = 0

        /// A center begins anew: what is known of it is there.
        mutating func begin(_ center: NotificationCenter) { through = center.sequence }

        mutating func note(_ center: NotificationCenter) {
            let isKnown = center.forEachDispatched(above: through) { number, name in
                cells[0] = number
                cells[DispatchMarks.place(of: name)] = number
            }
            if !isKnown { cells = DispatchMarks(all: center.sequence).cells }
            through = center.sequence
        }

        var marks: DispatchMarks? { DispatchMarks(cells: cells) }
    }

    /// A center that says some texts to one client, and is killed.
    private struct Killed {
        var bench: StoredScenario
        var witness = Witness()
        let client: UInt64

        init(
            _ limits: (inout CenterLimits) -> Void = { _ in },
            observing: (inout Scenario, UInt64) -> Void
        ) {
            bench = StoredScenario(limits)
            let client = bench.run { $0.connect() }
            self.client = client
            bench.run { observing(&$0, client) }
        }

        mutating func say(_ texts: String...) {
            for text in texts {
                bench.run { $0.say(text) }
                witness.note(bench.scenario.center)
            }
        }

        mutating func kill() {
            bench.restart(isComplete: false, marks: witness.marks)
            witness.begin(bench.scenario.center)
        }

        /// The losses that the client is told when it comes back.
        mutating func losses(after: UInt64?) -> [String] {
            bench.run { [client] in $0.back(client, after: after) }
            return bench.scenario.lossRanges
        }
    }

    @Test(
        "who has seen the last number of its name is told nothing, and else what may be missing of it",
        arguments: [
            (3, []), (2, ["unknown ? 3...3"]), (1, ["unknown ? 2...3"]),
            // Others were told of 4 and 5.
            (5, []), (4, []),
        ] as [(UInt64, [String])])
    func ownName(after: UInt64, losses: [String]) {
        var killed = Killed { $0.observe("a", by: $1, .hold) }
        killed.say("a1", "a2", "a3", "b4", "c5")
        killed.kill()
        #expect(killed.losses(after: after) == losses)
    }

    @Test(
        "the last number that a client saw is a loss of no observer of another name",
        arguments: [("b", []), ("a", ["unknown ? 2...3"]), (nil, ["unknown ? 2...3"])]
            as [(String?, [String])])
    func severalObservers(other: String?, losses: [String]) {
        var killed = Killed { $0.observe("a", by: $1, .hold) }
        let client = killed.client
        killed.bench.run { $0.observe(other, by: client, .hold) }
        killed.say("b1", "b2", "a3")
        killed.kill()
        let told = killed.losses(after: 2)
        #expect(told == ["unknown ? 3...3"] + losses)
    }

    @Test("an observer of all names may have lost what any name had")
    func anyName() {
        var killed = Killed { $0.observe(nil, by: $1, .hold) }
        killed.say("a1", "b2")
        killed.kill()
        #expect(killed.losses(after: 1) == ["unknown ? 2...2"])
    }

    @Test(
        "who drops is told what may be missing behind its position, and nothing before it",
        arguments: [
            (2, []), (1, ["unknown ? 2...2"]), (nil, ["unknown ? 1...2"]),
        ] as [(UInt64?, [String])])
    func dropping(after: UInt64?, losses: [String]) {
        var killed = Killed { $0.observe("d", by: $1, .drop) }
        killed.say("d1", "d2", "e3")
        killed.kill()
        #expect(killed.losses(after: after) == losses)
    }

    @Test("who drops and had asked for suspension is told all that it may have lost")
    func droppingSuspended() {
        var killed = Killed { $0.observe("d", by: $1, .drop) }
        let client = killed.client
        killed.say("d1")
        killed.bench.run { $0.suspend(client) }
        killed.say("d2")
        killed.bench.run { $0.say("d3", isImmediate: true) }
        killed.witness.note(killed.bench.scenario.center)
        killed.kill()
        #expect(killed.losses(after: 3).isEmpty)
        killed.bench.run { $0.endSuspension(client) }
        #expect(killed.bench.scenario.lossRanges == ["unknown ? 1...3"])
    }

    @Test(
        "a registration with `since` is told what may be missing of its name",
        arguments: [("a", 2, []), ("a", 1, ["unknown ? 2...2"]), ("z", 0, [])]
            as [(String, UInt64, [String])])
    func since(name: String, since: UInt64, losses: [String]) {
        var killed = Killed { $0.observe("h", by: $1, .hold) }
        // It has no observer, but one that comes later may have wanted it.
        killed.say("a1", "a2", "b3")
        killed.kill()
        let newcomer = killed.bench.run { $0.connect() }
        killed.bench.run { $0.observe(name, by: newcomer, .hold, since: since) }
        #expect(killed.bench.scenario.lossRanges == losses)
    }

    @Test("what the ring has forgotten since the start is told as it is")
    func ringOfThisLife() {
        var killed = Killed {
            $0.replayCountLimit = 1
        } observing: {
            $0.observe("h", by: $1, .hold)
        }
        killed.say("a1")
        killed.kill()
        let start = killed.bench.scenario.center.sequence
        killed.say("a2", "b3")
        let newcomer = killed.bench.run { $0.connect() }
        killed.bench.run { $0.observe("a", by: newcomer, .hold, since: 1) }
        #expect(killed.bench.scenario.lossRanges == ["unknown ? 2...\(start + 1)"])
    }

    @Test("a second kill knows what the first one left")
    func twice() {
        var killed = Killed { $0.observe("a", by: $1, .hold) }
        killed.say("a1", "a2")
        killed.kill()
        #expect(killed.bench.scenario.center.earlierMarks == killed.witness.marks)
        killed.say("b3")
        killed.kill()
        #expect(killed.losses(after: 1) == ["unknown ? 2...2"])
    }

    @Test("where nobody knows, all numbers that were reserved may be missing")
    func unknown() {
        var killed = Killed { $0.observe("a", by: $1, .hold) }
        killed.say("a1")
        killed.bench.restart(isComplete: false)
        let end = killed.bench.scenario.center.sequence
        #expect(killed.bench.scenario.center.earlierMarks == DispatchMarks(all: end))
        #expect(killed.losses(after: 1) == ["unknown ? 2...\(end)"])
    }

    @Test("names that share a cell may be told of losses that are none, and never of too few")
    func sharedCell() throws {
        func place(_ name: String) -> Int { DispatchMarks.place(of: bytes(name).span) }
        let names = (0..<2_000).map { "n-\(UnicodeScalar(UInt8(97 + $0 % 26)))\($0)x" }
        let other = try #require(names.first { place($0) == place("a") })
        var killed = Killed { $0.observe("a", by: $1, .hold) }
        killed.say("a1")
        killed.bench.run { $0.post(other) }
        killed.witness.note(killed.bench.scenario.center)
        killed.kill()
        #expect(killed.losses(after: 1) == ["unknown ? 2...2"])
    }

    @Test("a command that dispatches more than the ring keeps marks all names")
    func pastTheRing() {
        var killed = Killed {
            $0.replayCountLimit = 2
        } observing: {
            $0.observe("z", by: $1, .hold)
        }
        killed.bench.run { $0.sayAll(["a1", "b2", "c3"]) }
        killed.witness.note(killed.bench.scenario.center)
        #expect(killed.witness.marks == DispatchMarks(all: 3))
    }

    @Test(
        "each name has a place behind the first, and the marks have as many cells as there are places"
    )
    func places() {
        for name in ["", "a", "Mail", String(repeating: "x", count: 255)] {
            let place = DispatchMarks.place(of: bytes(name).span)
            #expect((1..<DispatchMarks.cellCount).contains(place))
        }
        #expect(DispatchMarks(cells: [1, 2, 3]) == nil)
    }
}
