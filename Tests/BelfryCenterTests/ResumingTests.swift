import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: connections end and come back (rules O6, O7, D13, D14)")
struct ResumingTests {
    private static let hour: Int64 = 3_600_000_000_000

    // MARK: Leases

    @Test("O7 (T37): a lease runs from the disconnect, and its end leaves a tombstone")
    func lease() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold) { $0.lease = 1_000_000_000 }
        scenario.pass(milliseconds: 5_000)
        #expect(scenario.center.observer(serial) != nil)
        #expect(scenario.cut(client) == .removed(0))
        #expect(scenario.center.nextDeadline == 7_000_000_000)
        scenario.pass(milliseconds: 999)
        #expect(scenario.center.observer(serial)?.state == .disconnected)
        scenario.pass(milliseconds: 1)
        #expect(scenario.center.observer(serial) == nil)
        #expect(scenario.center.tombstone(serial)?.reason == .expired)
        #expect(scenario.center.tombstone(serial)?.removedBy == .broker)
        #expect(scenario.center.client(client) == nil)
        #expect(scenario.back(client) == .refused(.unknownClient))
    }

    @Test("O7: each observer has its own lease, and the client goes with its last")
    func leases() {
        var scenario = Scenario()
        let client = scenario.connect()
        let short = scenario.observe("a", by: client, .hold) { $0.lease = 1_000_000_000 }
        let long = scenario.observe("a", by: client, .hold) { $0.lease = 3_000_000_000 }
        scenario.cut(client)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.rows.map(\.serial) == [long])
        #expect(scenario.center.tombstone(short) != nil)
        scenario.pass(milliseconds: 2_000)
        #expect(scenario.center.clientCount == 0)
    }

    @Test("O7: a null lease never ends")
    func endless() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = nil }
        scenario.cut(client)
        #expect(scenario.center.nextDeadline == nil)
        scenario.pass(milliseconds: 1_000_000_000)
        #expect(scenario.rows.count == 1)
    }

    @Test("O7: who comes back in time keeps its observers, and the lease starts anew")
    func inTime() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = 1_000_000_000 }
        scenario.cut(client)
        scenario.pass(milliseconds: 900)
        scenario.back(client)
        scenario.pass(milliseconds: 10_000)
        #expect(scenario.rows.count == 1)
        scenario.cut(client)
        scenario.pass(milliseconds: 999)
        #expect(scenario.rows.count == 1)
        scenario.pass(milliseconds: 1)
        #expect(scenario.rows.isEmpty)
    }

    @Test("O7: observers of the connection's lifetime die with it, the others stay")
    func connectionLifetime() {
        var scenario = Scenario()
        let client = scenario.connect()
        let gone = scenario.observe("a", by: client)
        let kept = scenario.observe("a", by: client, .hold)
        #expect(scenario.cut(client) == .removed(1))
        #expect(scenario.rows.map(\.serial) == [kept])
        #expect(scenario.center.tombstone(gone)?.reason == .connectionClosed)
        scenario.say("a1")
        #expect(scenario.effects.receipts[0].matched == 1)
    }

    @Test("O7: a client without an observer that lasts goes with its connection")
    func nothingLasts() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.cut(client)
        #expect(scenario.center.client(client) == nil)
        #expect(scenario.back(client) == .refused(.unknownClient))
    }

    @Test("O7: the end of a connection that was taken over from changes nothing")
    func staleDisconnect() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.back(client)
        scenario.disconnect(client)
        #expect(scenario.state(client) == .live)
        scenario.say("a1")
        #expect(scenario.effects.deliveries.map(\.connection.number) == [102])
    }

    // MARK: Leaks

    @Test("O6, O7 (T36): a disconnected observer is a leak after orphanAfter, and not before")
    func orphans() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = nil }
        scenario.cut(client)
        func leaks() -> [Leak.Reason] {
            scenario.center.leaks(limit: 9, at: scenario.time) { _, _ in true }.map(\.reason)
        }
        scenario.milliseconds += 3_599_999
        #expect(leaks().isEmpty)
        scenario.milliseconds += 1
        #expect(leaks() == [.disconnected])
        scenario.back(client)
        #expect(leaks().isEmpty)
    }

    @Test("O7: a mailbox that nobody looks into is a leak")
    func neverLooked() {
        var scenario = Scenario()
        let serial = scenario.mailbox("a")
        func leaks() -> [Leak.Reason] {
            scenario.center.leaks(limit: 9, at: scenario.time) { _, _ in true }.map(\.reason)
        }
        scenario.milliseconds += 3_600_000
        #expect(leaks() == [.neverLooked])
        scenario.apply(.readMailbox(observer: serial, through: nil))
        #expect(leaks().isEmpty)
    }

    @Test("C19: an observer's row counts what was delivered, held, coalesced and dropped")
    func counters() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .coalesce) { $0.holdLimit = 1 }
        scenario.say("a1")
        scenario.suspend(client)
        for text in ["a2", "a3", "a4/o"] { scenario.say(text) }
        let row = scenario.center.observer(serial)
        #expect(row?.delivered == 1 && row?.held == 1 && row?.coalesced == 1 && row?.dropped == 1)
        scenario.endSuspension(client)
        #expect(scenario.center.observer(serial)?.delivered == 2)
        #expect(scenario.center.observer(serial)?.held == 0)
    }

    // MARK: Resume

    @Test("D13: resume answers the client with its observers, and the newcomer disappears")
    func resume() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.observe("b", by: client, .hold)
        scenario.cut(client)
        scenario.say("a1")
        scenario.say("a2")
        guard case .resumed(let resumed) = scenario.back(client) else {
            Issue.record("refused")
            return
        }
        #expect(resumed.row.id == client && resumed.heldCount == 2)
        #expect(resumed.row.connection == ConnectionName(node: 1, number: 102))
        #expect(resumed.observers.map(\.serial) == [1, 2])
        #expect(scenario.effects.deliveries.map(\.connection.number) == [102, 102])
        #expect(scenario.center.client(2) == nil && scenario.center.clientCount == 1)
    }

    @Test(
        "D13 (T118): a second connection takes over, the first is told, nothing is lost or doubled")
    func takeOver() {
        var scenario = Scenario()
        let client = scenario.connect()
        let owed = scenario.observeAcknowledging("a", by: client)
        scenario.observe("b", by: client, .hold)
        scenario.say("a1")
        scenario.apply(.becomeSlow(client: client))
        scenario.say("b1")
        scenario.back(client)
        #expect(
            scenario.effects.notices == [
                .takenOver(connection: connection(101), transport: .webSocket)
            ])
        #expect(scenario.frames == ["a1*", "b1"])
        #expect(scenario.effects.deliveries.allSatisfy { $0.connection.number == 102 })
        scenario.acknowledge(owed, 1)
        #expect(scenario.center.heldCount == 0 && scenario.state(client) == .live)
    }

    @Test("resume comes before any registration, and needs a client of a WebSocket")
    func refusals() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        let late = scenario.connect()
        scenario.observe("a", by: late, .hold)
        let mailbox = scenario.mailbox("a")
        let fresh = scenario.connect()
        let before = scenario.center
        func resume(_ newcomer: UInt64, _ client: UInt64) -> Outcome {
            var twin = scenario
            return twin.apply(
                .resume(Resumption(newcomer: newcomer, client: client, after: nil)))
        }
        #expect(resume(late, client) == .refused(.resumeTooLate))
        #expect(resume(fresh, fresh) == .refused(.resumeTooLate))
        #expect(resume(99, client) == .refused(.unknownClient))
        #expect(resume(fresh, 99) == .refused(.unknownClient))
        let mailboxClient = scenario.center.observer(mailbox)?.client ?? 0
        #expect(resume(fresh, mailboxClient) == .refused(.noMailbox))
        #expect(scenario.center.digest() == before.digest())
    }

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
