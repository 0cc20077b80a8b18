import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: the replay for a client that resumes (rule D14, decisions 24 and 28)")
struct ResumedReplayTests {
    @Test("decision 24: after gives what the ring has and is not held, in order, as redelivered")
    func replay() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        for text in ["a1", "b1", "a2"] { scenario.say(text) }
        scenario.cut(client)
        scenario.say("a3")
        scenario.back(client, after: 1)
        #expect(scenario.frames == ["a2*", "a3"] && scenario.gaps.isEmpty)
    }

    @Test("decision 24: losses that the ring makes good are not told as gaps")
    func makesGood() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("d", by: client, .drop)
        scenario.observe("c", by: client, .coalesce)
        scenario.say("d1")
        scenario.cut(client)
        for text in ["d2", "c1", "c2", "d3"] { scenario.say(text) }
        scenario.back(client, after: 1)
        #expect(scenario.frames == ["d2*", "c1*", "c2", "d3*"])
        #expect(scenario.gaps.isEmpty)
    }

    @Test("decision 24: what the ring no longer has is told as it was lost")
    func partOfTheRing() {
        var limits = CenterLimits()
        limits.replayCountLimit = 2
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("d", by: client, .drop)
        scenario.cut(client)
        for number in 1...4 { scenario.say("d\(number)") }
        scenario.back(client, after: 0)
        #expect(scenario.frames == ["d3*", "d4*"])
        #expect(scenario.lossRanges == ["dropped 2 1...2"])
    }

    /// A client that asked for suspension, lost `a2` and `a4`, got `a3`, and was cut.
    private func holedGap(
        replayCount: Int = 1_000, ttl: Int64? = nil
    ) -> (scenario: Scenario, client: UInt64) {
        var limits = CenterLimits()
        limits.replayCountLimit = replayCount
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("a", by: client, .drop)
        scenario.say("a1")
        scenario.suspend(client)
        scenario.say("a2")
        scenario.say("a3", isImmediate: true)
        #expect(scenario.frames == ["a3"] && scenario.gaps.isEmpty)
        scenario.say("a4", ttl: ttl)
        scenario.say("b5")
        scenario.cut(client)
        return (scenario, client)
    }

    @Test(
        "D14, decision 28: a gap is forgotten if all of it comes again, else it becomes vague",
        arguments: [
            // A repeated one may have been delivered before: the loss of a2 is not made good.
            (1, ["a2*", "a3*", "a4*"], []),
            (2, ["a3*", "a4*"], ["dropped ? 2...2"]),
            (3, ["a4*"], ["dropped ? 2...3"]),
            // Nothing of it comes again: it stays as it was.
            (4, [], ["dropped 2 2...4"]),
        ] as [(UInt64, [String], [String])])
    func holedGapAfter(after: UInt64, frames: [String], losses: [String]) {
        var (scenario, client) = holedGap()
        scenario.back(client, after: after)
        #expect(scenario.frames.isEmpty && scenario.gaps.isEmpty)
        scenario.endSuspension(client)
        #expect(scenario.frames == frames)
        #expect(scenario.lossRanges == losses)
    }

    @Test(
        "D14, decision 28: a gap that begins before the ring does is kept",
        arguments: [
            (4, ["a2*", "a3*", "a4*"], []),
            (3, ["a3*", "a4*"], ["dropped ? 2...2", "unknown ? 2...2"]),
            (1, [], ["dropped 2 2...4", "unknown ? 2...3"]),
            (0, [], ["dropped 2 2...4", "unknown ? 2...3"]),
        ] as [(Int, [String], [String])])
    func holedGapBeforeRing(replayCount: Int, frames: [String], losses: [String]) {
        var (scenario, client) = holedGap(replayCount: replayCount)
        scenario.back(client, after: 1)
        scenario.endSuspension(client)
        #expect(scenario.frames == frames)
        #expect(scenario.lossRanges == losses)
    }

    @Test("D14, decision 28: a gap of which something is too old to come again is kept")
    func holedGapExpired() {
        var (scenario, client) = holedGap(ttl: 1_000_000_000)
        scenario.milliseconds += 999
        var twin = scenario
        twin.back(client, after: 1)
        twin.endSuspension(client)
        #expect(twin.frames == ["a2*", "a3*", "a4*"] && twin.gaps.isEmpty)
        scenario.milliseconds += 1
        scenario.back(client, after: 1)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a2*", "a3*"])
        #expect(scenario.lossRanges == ["dropped ? 2...4"])
    }

    @Test("D14, decision 28: of a gap without holes what is left is counted exactly")
    func gapWithoutHoles() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .drop)
        scenario.cut(client)
        for number in 1...5 { scenario.say("a\(number)") }
        scenario.back(client, after: 2)
        #expect(scenario.frames == ["a3*", "a4*", "a5*"])
        #expect(scenario.lossRanges == ["dropped 2 1...2"])
    }

    @Test("D14, decision 28: what is left of a gap is what the store has of it")
    func storedGap() {
        var limits = CenterLimits()
        limits.isDurable = true
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold) { $0.holdLimit = 1 }
        scenario.suspend(client)
        for number in 1...4 { scenario.say("a\(number)") }
        scenario.cut(client)
        func gaps(_ after: UInt64) -> [Change] {
            var twin = scenario
            twin.back(client, after: after)
            return twin.effects.changes.filter { if case .gap = $0 { true } else { false } }
        }
        func gap(_ count: Int, _ last: UInt64) -> Change {
            let first: UInt64 = 1
            return .gap(
                observer: serial,
                GapRecord(reason: .overflow, count: count, first: first, last: last))
        }
        #expect(gaps(3).isEmpty)
        #expect(gaps(1) == [gap(1, 1)])
        #expect(gaps(0) == [gap(0, 3)])
    }

    @Test("decision 24: nobody gets what was posted before it registered, or what is too old")
    func notBefore() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.say("a1")
        scenario.observe("a", by: client, .drop)
        scenario.observe(nil, by: client, .drop)
        scenario.cut(client)
        scenario.say("a2")
        scenario.say("a3", ttl: 1_000_000_000)
        scenario.milliseconds += 1_000
        scenario.back(client, after: 0)
        #expect(scenario.frames == ["a2*", "a2*"])
        #expect(scenario.losses == ["dropped 1", "dropped 1"])
    }

    @Test("decision 24: the replay of one client finds the same as a post, whatever its filters")
    func replayMatches() {
        var scenario = Scenario()
        let client = scenario.connect()
        let filters: [(String?, String?)] = [
            ("a", nil), (nil, nil), ("a", "o"), (nil, "o"), ("b", "p"), ("a", "p"),
        ]
        for filter in filters { scenario.observe(filter.0, filter.1, by: client, .drop) }
        let posts: [(String, String?)] = [
            ("a", nil), ("a", "o"), ("b", "o"), ("b", "p"), ("c", "x"), ("c", nil),
        ]
        let live = posts.map { scenario.post($0.0, $0.1) }
        scenario.cut(client)
        scenario.back(client, after: 0)
        #expect(scenario.effects.deliveries.map(\.observer) == Array(live.joined()))
    }

    @Test("a client that asks for since while it is suspended gets it when it is live")
    func sinceWhileSuspended() {
        var scenario = Scenario()
        scenario.say("a1")
        let client = scenario.connect()
        scenario.suspend(client)
        scenario.observe("a", by: client, .drop, since: 0)
        #expect(scenario.frames.isEmpty)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a1*"])
    }
}
