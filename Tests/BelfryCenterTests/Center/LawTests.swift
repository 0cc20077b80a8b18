import TestSupport
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: the laws 2 to 4")
struct LawTests {
    @Test("law 2: sequence numbers rise by one with each post, observed or not")
    func sequenceRises() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        for number in 1...20 as ClosedRange<UInt64> {
            scenario.post(number.isMultiple(of: 3) ? "a" : "b")
            #expect(scenario.effects.receipts[0].sequence == number)
            #expect(scenario.center.sequence == number)
        }
    }

    @Test("law 2: what is replayed is marked, comes in order, and is below what follows")
    func replayOrder() {
        var scenario = Scenario()
        for name in ["a", "b", "a", "c", "a"] { scenario.post(name) }
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, since: 1)
        #expect(scenario.effects.notifications.map(\.sequence) == [3, 5])
        #expect(scenario.effects.deliveries.map(\.observer) == [serial, serial])
        #expect(scenario.effects.deliveries.allSatisfy { $0.isRedelivered })
        #expect(scenario.effects.notices.isEmpty)
        scenario.post("a")
        #expect(scenario.effects.notifications.map(\.sequence) == [6])
        #expect(scenario.effects.deliveries.allSatisfy { !$0.isRedelivered })
    }

    @Test("law 2: several new observers are served by one walk, each in registration order")
    func replayToSeveral() {
        var scenario = Scenario()
        let old = scenario.connect()
        scenario.observe(nil, by: old)
        scenario.post("a", "o")
        scenario.post("b")
        scenario.post("c", "o")
        let registrations = [
            scenario.registration(nil, "o"), scenario.registration("b"),
            scenario.registration("a", "o"), scenario.registration("zzz"),
        ]
        _ = scenario.connect(registrations, since: 0, transport: .events)
        #expect(scenario.effects.notifications.map(\.sequence) == [1, 2, 3])
        #expect(scenario.effects.deliveries.map(\.notification) == [0, 0, 1, 2])
        #expect(scenario.effects.deliveries.map(\.observer) == [2, 4, 3, 2])
        #expect(scenario.effects.deliveries.allSatisfy { $0.transport == .events })
        #expect(scenario.center.observer(2)?.tally.delivered == 2)
        #expect(scenario.center.observer(1)?.tally.delivered == 3)
    }

    @Test("law 2: a position of the future or of now replays nothing", arguments: [3, 4, .max])
    func nothingToReplay(since: UInt64) {
        var scenario = Scenario()
        for _ in 1...3 { scenario.post("a") }
        let client = scenario.connect()
        scenario.observe("a", by: client, since: since)
        #expect(scenario.effects.deliveries.isEmpty && scenario.effects.notices.isEmpty)
    }

    @Test("law 3: what the ring no longer has is told as a gap, to the number")
    func gap() {
        var limits = CenterLimits()
        limits.replayCountLimit = 2
        var scenario = Scenario(limits: limits)
        for _ in 1...5 { scenario.post("a") }
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, selector: "input:", since: 1)
        let gap = Gap(
            observer: serial, selector: bytes("input:"), lostCount: nil, firstSequence: 2,
            lastSequence: 3, reason: .unknown)
        #expect(
            scenario.effects.notices == [
                .gap(connection: connection(101), transport: .webSocket, gap)
            ])
        #expect(scenario.effects.notifications.map(\.sequence) == [4, 5])
    }

    @Test("law 3: a position on the border of the ring has no gap, one before it has")
    func gapBorder() {
        var limits = CenterLimits()
        limits.replayCountLimit = 2
        var scenario = Scenario(limits: limits)
        for _ in 1...5 { scenario.post("a") }
        let client = scenario.connect()
        scenario.observe("a", by: client, since: 3)
        #expect(scenario.effects.notices.isEmpty)
        #expect(scenario.effects.notifications.map(\.sequence) == [4, 5])
        scenario.observe("a", by: client, since: 2)
        #expect(scenario.effects.notices.count == 1)
    }

    @Test("law 3: an empty ring tells everything as a gap")
    func emptyRing() {
        var limits = CenterLimits()
        limits.replayCountLimit = 0
        var scenario = Scenario(limits: limits)
        for _ in 1...3 { scenario.post("a") }
        let client = scenario.connect()
        scenario.observe("a", by: client, since: 0)
        guard case .gap(_, _, let gap) = scenario.effects.notices.first else {
            Issue.record("no gap")
            return
        }
        #expect(gap.firstSequence == 1 && gap.lastSequence == 3)
        #expect(scenario.effects.deliveries.isEmpty)
    }

    @Test("law 3: every post has a receipt that adds up, and its fate can be asked for")
    func account() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.observe(nil, by: client)
        let post = scenario.newPost("a")
        scenario.apply(.post(post, PostTerms()))
        let expected = Receipt(id: post.id, sequence: 1, matched: 2, delivered: 2)
        #expect(scenario.effects.receipts == [expected])
        #expect(scenario.center.receipt(of: post.id, at: scenario.time) == expected)
        scenario.milliseconds += 299_999
        #expect(scenario.center.receipt(of: post.id, at: scenario.time) == expected)
        scenario.milliseconds += 1
        #expect(scenario.center.receipt(of: post.id, at: scenario.time) == nil)
    }

    @Test("law 4: a removed observer leaves a tombstone, and its number never comes back")
    func tombstone() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", "o", by: client)
        scenario.milliseconds = 4_000
        scenario.remove(serial, by: .principal(bytes("root")))
        let tombstone = Tombstone(
            tokenHash: SecretHash(high: serial, low: 9), removedAt: 4_000,
            removedBy: .principal(bytes("root")), reason: .removed, name: bytes("a"),
            object: bytes("o"))
        #expect(scenario.center.tombstone(serial) == tombstone)
        let next = scenario.observe("a", "o", by: client)
        #expect(next != serial)
        #expect(scenario.center.observer(serial) == nil)
        #expect(scenario.remove(serial, by: .broker) == .refused(.observerRemoved(tombstone)))
        #expect(scenario.post("a", "o") == [next])
    }

    @Test("law 4: tombstones are kept up to their limit")
    func tombstoneLimit() {
        var limits = CenterLimits()
        limits.tombstoneLimit = 2
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        for _ in 1...3 { scenario.observe("a", by: client) }
        scenario.remove(1, by: .broker)
        scenario.remove(2, by: .broker)
        #expect(scenario.center.tombstone(1) != nil)
        scenario.remove(3, by: .broker)
        #expect(scenario.center.tombstone(1) == nil)
        #expect(scenario.remove(1, by: .broker) == .refused(.unknownObserver))
        #expect(scenario.center.tombstone(2) != nil)
    }

    @Test("a refused command changes nothing but the applied index")
    func refusalChangesNothing() {
        var limits = CenterLimits()
        limits.clientObserverLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("a", by: client)
        var twin = scenario
        twin.apply(.removeObserver(serial: 77, by: .broker))
        scenario.observe("b", by: client)
        #expect(scenario.effects.outcome == .refused(.tooManyObservers(limit: 1)))
        #expect(scenario.center.appliedIndex == twin.center.appliedIndex)
        #expect(firstDifference(scenario.center, twin.center) == nil)
    }
}
