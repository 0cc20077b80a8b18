import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what comes again out of the replay ring (decision 61)")
struct ReplayingTests {
    /// Limits with which a flush writes one notification at a step.
    private static var stepwise: CenterLimits {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        return limits
    }

    /// Lets a flush go on until its end, and tells what it writes.
    private func rest(
        of scenario: inout Scenario, _ client: UInt64
    ) -> (frames: [String], losses: [String]) {
        var frames: [String] = []
        var losses: [String] = []
        for _ in 0..<20 {
            scenario.apply(.drain(client: client))
            frames += scenario.frames
            losses += scenario.losses
            if !scenario.flushGoesOn { break }
        }
        return (frames, losses)
    }

    // MARK: Limits

    @Test("what is replayed counts for no holdLimit: what comes live meanwhile has all of it")
    func replayedAndLive() {
        var scenario = Scenario(limits: Self.stepwise)
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold) { $0.holdLimit = 2 }
        for number in 1...5 { scenario.say("a\(number)") }
        scenario.cut(client)
        scenario.back(client, after: 0)
        #expect(scenario.frames == ["a1*"] && scenario.flushGoesOn)
        for number in 6...8 {
            scenario.say("a\(number)")
            #expect(scenario.effects.receipts[0].held == 1)
        }
        #expect(scenario.center.observer(serial)?.held == 6)
        let rest = rest(of: &scenario, client)
        #expect(rest.frames == ["a2*", "a3*", "a4*", "a5*", "a7", "a8"])
        #expect(rest.losses == ["overflow 1"])
        #expect(scenario.center.observer(serial)?.held == 0)
    }

    @Test("what is replayed and not acknowledged counts for no holdLimit when it is held again")
    func replayedAndOwed() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client) { $0.holdLimit = 1 }
        for number: UInt64 in 1...3 {
            scenario.say("a\(number)")
            scenario.acknowledge(serial, number)
        }
        scenario.cut(client)
        scenario.back(client, after: 0)
        #expect(scenario.frames == ["a1*", "a2*", "a3*"])
        scenario.cut(client)
        scenario.say("a4")
        scenario.say("a5")
        #expect(scenario.center.observer(serial)?.held == 4)
        scenario.back(client)
        #expect(scenario.frames == ["a1*", "a2*", "a3*", "a5"])
        #expect(scenario.losses == ["overflow 1"])
        for number: UInt64 in [1, 2, 3, 5] { scenario.acknowledge(serial, number) }
        scenario.cut(client)
        scenario.say("a6")
        scenario.say("a7")
        #expect(scenario.center.observer(serial)?.held == 1)
    }

    @Test("a client is replayed the newest that it has room for; the rest is told as overflow")
    func room() {
        var limits = CenterLimits()
        limits.clientHeldCountLimit = 4
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        for _ in 1...2 { scenario.observe("a", by: client, .hold) }
        scenario.observe("b", by: client, .hold)
        for text in ["a1", "a2", "a3"] { scenario.say(text) }
        scenario.cut(client)
        scenario.say("b4")
        scenario.back(client, after: 0)
        // b4 was held and stays so; of six others there is room for three.
        #expect(scenario.frames == ["a2*", "a3*", "a3*", "b4"])
        #expect(scenario.lossRanges == ["overflow 2 1...2", "overflow 1 1...1"])
        #expect(scenario.center.observer(1)?.tally.dropped == 2)
    }

    @Test("a client that holds more than it may, since what it owed came back, is replayed nothing")
    func noRoom() {
        var limits = CenterLimits()
        limits.clientHeldCountLimit = 2
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("b", by: client, .hold)
        scenario.observeAcknowledging("a", by: client)
        for text in ["b1", "a2", "a3", "a4", "a5"] { scenario.say(text) }
        scenario.cut(client)
        #expect(scenario.center.client(client)?.held == 4)
        scenario.back(client, after: 0)
        #expect(scenario.lossRanges == ["overflow 1 1...1"])
        #expect(scenario.frames == ["a2*", "a3*"])
    }

    @Test(
        "a new observer is replayed as many bytes as its client has room for, and not one more",
        arguments: [(6, ["a1*", "a2*", "a3*"], []), (5, ["a2*", "a3*"], ["overflow 1"])]
            as [(Int, [String], [String])])
    func roomInBytes(limit: Int, frames: [String], losses: [String]) {
        var limits = CenterLimits()
        limits.clientHeldByteLimit = limit
        var scenario = Scenario(limits: limits)
        for text in ["a1", "a2", "a3"] { scenario.say(text) }
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold, since: 0)
        #expect(scenario.frames == frames && scenario.losses == losses)
    }

    // MARK: The number that was seen last

    @Test(
        "decision 62: of the last number that was seen the later observers get theirs again",
        arguments: [(1, [2, 3]), (2, [1, 2, 3]), (0, [1, 2, 3])] as [(UInt64, [UInt64])])
    func shared(after: UInt64, observers: [UInt64]) {
        var scenario = Scenario()
        let client = scenario.connect()
        for name in ["a", "a", nil] { scenario.observe(name, by: client, .hold) }
        scenario.observe("b", by: client, .hold)
        // Others get it too, and observers of another client do not count.
        let other = scenario.connect()
        scenario.observe("a", by: other, .hold)
        if after == 2 { scenario.say("c") }
        scenario.say("a")
        scenario.cut(client)
        scenario.back(client, after: after)
        let expected = after == 2 ? [2, 3] : observers
        #expect(scenario.effects.deliveries.map(\.observer) == expected)
        #expect(scenario.effects.deliveries.map(\.isRedelivered) == expected.map { _ in true })
        #expect(scenario.gaps.isEmpty)
        // The client is live, and has all of it.
        scenario.say("a")
        #expect(scenario.frames(to: 103).count == 3)
    }

    @Test("decision 62: who was not written the last number does not get it again")
    func sharedByNobody() {
        var scenario = Scenario()
        let client = scenario.connect()
        let first = scenario.observe("a", by: client, .hold)
        let answering = scenario.observeAcknowledging("a", by: client)
        scenario.say("a")
        scenario.acknowledge(answering, 1)
        // One that came later asked for nothing before it.
        scenario.observe("a", by: client, .hold)
        scenario.cut(client)
        scenario.back(client, after: 1)
        #expect(scenario.frames.isEmpty && scenario.gaps.isEmpty)
        scenario.remove(first, by: .client(client))
        // A held notification is still written once.
        scenario.suspend(client)
        scenario.say("a")
        scenario.cut(client)
        scenario.endSuspension(client)
        scenario.back(client, after: 2)
        #expect(scenario.effects.deliveries.map(\.observer) == [2, 3])
    }

    @Test("decision 62: what was asked for with since comes again above after, if its line is lost")
    func sinceAgain() {
        var scenario = Scenario()
        for text in ["a1", "a2"] { scenario.say(text) }
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold, since: 0)
        scenario.observe("a", by: client, .hold)
        #expect(scenario.center.observer(1)?.since == 2)
        scenario.cut(client)
        scenario.back(client, after: 0)
        #expect(scenario.frames == ["a1*", "a2*"])
        #expect(scenario.effects.deliveries.map(\.observer) == [1, 1])
    }

    // MARK: Gaps

    /// A client with two observers that got `a1` and one that got `b2`, and an empty ring.
    private func emptied() -> (scenario: Scenario, client: UInt64) {
        var limits = CenterLimits()
        limits.replayCountLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        for name in ["a", "a", "b"] { scenario.observe(name, by: client, .hold) }
        scenario.observeAcknowledging("a", by: client)
        for text in ["a1", "b2", "c3", "c4"] { scenario.say(text) }
        scenario.acknowledge(4, 1)
        scenario.cut(client)
        scenario.say("b5")
        scenario.say("c6")
        return (scenario, client)
    }

    @Test(
        "law 3, decision 62: a gap is unknown as far as something was written, and no farther",
        arguments: [
            (0, ["unknown ? 1...1", "unknown ? 1...1", "unknown ? 1...2"]),
            // The frame of another observer may be missing for the last number that was seen.
            (1, ["unknown ? 1...1", "unknown ? 1...2"]),
            (2, []), (3, []), (4, []),
        ] as [(UInt64, [String])])
    func unknown(after: UInt64, losses: [String]) {
        var (scenario, client) = emptied()
        scenario.back(client, after: after)
        #expect(scenario.frames == ["b5"])
        #expect(scenario.lossRanges == losses)
    }
}
