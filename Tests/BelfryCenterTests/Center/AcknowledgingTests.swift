import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: acknowledgement (rules C13, D14, Q8)")
struct AcknowledgingTests {
    private static let second: Int64 = 1_000_000_000

    /// The completions of the last command, as command numbers.
    private func completed(_ scenario: Scenario) -> [UInt64] {
        scenario.effects.completions.map(\.command.counter)
    }

    @Test("C13 (T49): a post that nobody must acknowledge is answered at once")
    func nobodyAcknowledges() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.say("a1") { $0.wait = Self.second }
        #expect(scenario.effects.outcome == .done && scenario.effects.completions.isEmpty)
        #expect(scenario.center.nextDeadline == nil)
    }

    @Test("C13: a post waits until all who got it have acknowledged")
    func waitsForAll() {
        var scenario = Scenario()
        let client = scenario.connect()
        let other = scenario.connect()
        let first = scenario.observeAcknowledging("a", by: client)
        let second = scenario.observeAcknowledging("a", by: other)
        scenario.observe("a", by: other, .hold)
        let id = scenario.say("a1") {
            $0.wait = Self.second
            $0.reportsObservers = true
        }
        let post = scenario.center.appliedIndex
        #expect(scenario.effects.outcome == .waiting)
        #expect(
            scenario.effects.receipts
                == [Receipt(id: id, sequence: 1, matched: 3, delivered: 3, pending: 2)])
        #expect(scenario.effects.deliveries.map(\.form) == [.acknowledged, .acknowledged, .shared])
        scenario.acknowledge(first, 1)
        #expect(scenario.effects.completions.isEmpty)
        scenario.acknowledge(second, 1, error: "{}")
        let receipt = Receipt(
            id: id, sequence: 1, matched: 3, delivered: 3, acknowledged: 1, refused: 1)
        let rows = [
            ReportRow(observer: first, outcome: .acknowledged),
            ReportRow(observer: second, outcome: .refused(error: bytes("{}"))),
            ReportRow(observer: 3, outcome: .delivered),
        ]
        #expect(
            scenario.effects.completions == [
                Completion(
                    command: CommandID(node: 1, incarnation: 1, counter: post),
                    receipts: [receipt], reports: [rows])
            ])
        #expect(scenario.account(id) == receipt)
        #expect(scenario.center.heldCount == 0)
    }

    @Test("C13 (T48): at the deadline the poster is told who has not answered; later answers count")
    func deadline() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        let id = scenario.say("a1") { $0.wait = Self.second }
        let post = scenario.center.appliedIndex
        #expect(scenario.center.nextDeadline == 2 * Self.second)
        scenario.pass(milliseconds: 999)
        #expect(scenario.effects.completions.isEmpty)
        scenario.pass(milliseconds: 1)
        #expect(completed(scenario) == [post])
        #expect(scenario.effects.completions.first?.receipts.first?.pending == 1)
        scenario.acknowledge(serial, 1)
        #expect(scenario.effects.completions.isEmpty)
        #expect(
            scenario.account(id)
                == Receipt(id: id, sequence: 1, matched: 1, delivered: 1, acknowledged: 1))
    }

    @Test("C13: respond-async is answered at once, and its fate goes on")
    func respondAsync() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        let id = scenario.say("a1")
        #expect(scenario.effects.outcome == .done)
        #expect(scenario.effects.receipts[0].pending == 1)
        scenario.acknowledge(serial, 1)
        #expect(scenario.account(id)?.acknowledged == 1 && scenario.account(id)?.pending == 0)
    }

    @Test("C13: after three missed deadlines in a row nobody waits, until it acknowledges again")
    func missedDeadlines() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        for _ in 1...3 {
            scenario.say("a") { $0.wait = Self.second }
            #expect(scenario.effects.outcome == .waiting)
            scenario.pass(milliseconds: 1_000)
        }
        scenario.say("a") { $0.wait = Self.second }
        #expect(scenario.effects.outcome == .done && scenario.effects.receipts[0].pending == 1)
        scenario.acknowledge(serial, 1)
        scenario.say("a") { $0.wait = Self.second }
        #expect(scenario.effects.outcome == .waiting)
    }

    @Test("C13: two missed deadlines and an answer begin a new count")
    func notInARow() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        for round in 1...6 as ClosedRange<UInt64> {
            scenario.say("a") { $0.wait = Self.second }
            #expect(scenario.effects.outcome == .waiting)
            scenario.pass(milliseconds: 1_000)
            if round.isMultiple(of: 2) { scenario.acknowledge(serial, round) }
        }
    }

    @Test("C13: a batch waits for all of its posts, and is answered once")
    func batch() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging(nil, by: client)
        scenario.sayAll(["a1", "b1"]) { $0.wait = Self.second }
        #expect(scenario.effects.outcome == .waiting)
        scenario.acknowledge(serial, 2)
        #expect(scenario.effects.completions.isEmpty)
        scenario.acknowledge(serial, 1)
        #expect(scenario.effects.completions.first?.receipts.map(\.acknowledged) == [1, 1])
    }

    @Test("C13: what is held is not waited for")
    func heldIsNotAwaited() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observeAcknowledging("a", by: client)
        scenario.suspend(client)
        scenario.say("a1") { $0.wait = Self.second }
        #expect(scenario.effects.outcome == .done && scenario.effects.receipts[0].held == 1)
    }

    @Test("C13: an answer to what nobody owes is ignored")
    func strayAnswers() {
        var scenario = Scenario()
        let client = scenario.connect()
        let other = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        let plain = scenario.observe("a", by: client, .hold)
        let id = scenario.say("a1")
        let before = scenario.account(id)
        scenario.acknowledge(serial, 2)
        scenario.acknowledge(plain, 1)
        scenario.acknowledge(99, 1)
        scenario.apply(
            .acknowledge(client: other, DeliveryName(observer: serial, sequence: 1), .result([])))
        #expect(scenario.account(id) == before)
        scenario.acknowledge(serial, 1)
        scenario.acknowledge(serial, 1, error: "{}")
        #expect(scenario.account(id)?.acknowledged == 1 && scenario.account(id)?.refused == 0)
    }

    @Test("C13: whoever goes before it answers is waited for no longer", arguments: [true, false])
    func goesAway(isRemoved: Bool) {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        let id = scenario.say("a1") {
            $0.wait = Self.second
            $0.reportsObservers = true
        }
        if isRemoved { scenario.remove(serial, by: .broker) } else { scenario.cut(client) }
        #expect(
            scenario.effects.completions.first?.reports
                == [[ReportRow(observer: serial, outcome: .disconnected)]])
        #expect(
            scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, delivered: 1))
        #expect(scenario.center.heldCount == (isRemoved ? 0 : 1))
    }

    @Test("C13: who waits is told how all of it stands when an observer goes")
    func removedWithHeld() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        scenario.sayAll(["a1", "a2"]) { $0.wait = Self.second }
        #expect(scenario.effects.receipts.map(\.held) == [0, 1])
        scenario.remove(serial, by: .broker)
        let receipts = scenario.effects.completions.first?.receipts
        #expect(receipts?.map(\.held) == [0, 0] && receipts?.map(\.dropped) == [0, 1])
    }

    @Test("D14 (T115): what was not acknowledged comes once more, and says so")
    func redelivery() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        let id = scenario.say("a1")
        scenario.say("a2")
        scenario.acknowledge(serial, 2)
        scenario.cut(client)
        scenario.say("a3")
        scenario.back(client)
        #expect(scenario.frames == ["a1*", "a3"])
        #expect(
            scenario.account(id)
                == Receipt(id: id, sequence: 1, matched: 1, delivered: 1, pending: 1))
        scenario.acknowledge(serial, 1)
        scenario.acknowledge(serial, 3)
        #expect(scenario.account(id)?.acknowledged == 1 && scenario.account(id)?.pending == 0)
        #expect(scenario.center.heldCount == 0)
        scenario.cut(client)
        scenario.back(client)
        #expect(scenario.frames.isEmpty)
    }

    @Test("D14: it comes again each time until it is acknowledged")
    func redeliveredTwice() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observeAcknowledging("a", by: client)
        scenario.say("a1")
        for _ in 1...2 {
            scenario.cut(client)
            scenario.back(client)
            #expect(scenario.frames == ["a1*"])
        }
    }

    @Test("D14: its time to live goes on while it is owed, and ends it when it is held again")
    func expiresAfterReturn() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        scenario.say("a1", ttl: Self.second)
        scenario.pass(milliseconds: 2_000)
        #expect(scenario.center.heldCount == 1)
        scenario.cut(client)
        #expect(scenario.center.observer(serial)?.held == 1)
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.center.observer(serial)?.held == 0)
        scenario.back(client)
        #expect(scenario.frames.isEmpty && scenario.losses == ["expired 1"])
    }

    @Test(
        "decision 27: an observer may owe as many as its limit, and one more makes its client slow")
    func owing() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 3
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        scenario.observe("b", by: client, .drop)
        for number in 1...3 { scenario.say("a\(number)") }
        #expect(scenario.state(client) == .live)
        scenario.say("b1")
        #expect(scenario.frames == ["b1"])
        scenario.say("a4")
        #expect(scenario.frames.isEmpty && scenario.effects.receipts[0].held == 1)
        #expect(scenario.state(client) == .slow)
        scenario.say("b2")
        #expect(scenario.effects.receipts[0].dropped == 1)
        scenario.acknowledge(serial, 2)
        #expect(scenario.frames == ["a4"] && scenario.losses == ["dropped 1"])
        #expect(scenario.state(client) == .slow)
        scenario.acknowledge(serial, 1)
        #expect(scenario.state(client) == .live)
    }

    @Test("decision 27: a client that owed too much is slow until it owes less than it may")
    func owingUntilWritten() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        for number in 1...3 { scenario.say("a\(number)") }
        let since = scenario.center.client(client)?.stateSince
        scenario.milliseconds += 10
        scenario.acknowledge(serial, 1)
        #expect(scenario.frames == ["a2"] && scenario.state(client) == .slow)
        #expect(scenario.center.client(client)?.stateSince == since)
        scenario.acknowledge(serial, 2)
        #expect(scenario.frames == ["a3"] && scenario.state(client) == .slow)
        scenario.acknowledge(serial, 3)
        #expect(scenario.state(client) == .live)
    }

    @Test("decision 27: the limit is 1,000")
    func owingDefault() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        for _ in 1...1_000 { scenario.post("a") }
        #expect(scenario.state(client) == .live)
        scenario.post("a")
        #expect(scenario.state(client) == .slow)
        scenario.acknowledge(serial, 1)
        #expect(scenario.frames == ["a"])
        scenario.acknowledge(serial, 2)
        #expect(scenario.state(client) == .live)
    }

    @Test("decision 27: all observers of a client together may owe what may be held for a client")
    func owingTogether() {
        var limits = CenterLimits()
        limits.clientHeldCountLimit = 2
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serials = (1...3).map { _ in scenario.observeAcknowledging("a", by: client) }
        scenario.say("a1")
        #expect(scenario.frames == ["a1", "a1"] && scenario.effects.receipts[0].held == 1)
        #expect(scenario.state(client) == .slow)
        scenario.acknowledge(serials[0], 1)
        #expect(scenario.frames == ["a1"] && scenario.state(client) == .slow)
        scenario.acknowledge(serials[1], 1)
        #expect(scenario.state(client) == .live)
    }

    @Test("decision 27: what a client owes is bounded in bytes too")
    func owingBytes() {
        var limits = CenterLimits()
        limits.clientHeldByteLimit = 4
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        for text in ["a1", "a2", "a3"] { scenario.say(text) }
        #expect(scenario.state(client) == .slow && scenario.center.heldCount == 3)
        scenario.acknowledge(serial, 1)
        #expect(scenario.frames == ["a3"] && scenario.state(client) == .slow)
        scenario.acknowledge(serial, 2)
        #expect(scenario.state(client) == .live)
    }

    @Test(
        "decision 27: a higher limit lets a client go that owed too much", arguments: [true, false])
    func limitRaised(isRemoved: Bool) {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        scenario.observe("b", by: client, .hold)
        for text in ["a1", "a2", "b1"] { scenario.say(text) }
        limits.unacknowledgedLimit = 5
        scenario.apply(.configure(limits))
        if isRemoved {
            scenario.remove(serial, by: .broker)
        } else {
            scenario.acknowledge(serial, 1)
        }
        #expect(scenario.frames == (isRemoved ? ["b1"] : ["a2", "b1"]))
        #expect(scenario.state(client) == .live)
    }

    @Test(
        "C12 (T51): a chain of posts out of deliveries ends at the limit, and deliveries do not wait"
    )
    func chain() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observeAcknowledging("a", by: client)
        scenario.observeAcknowledging("b", by: client)
        var cause = scenario.say("a")
        for depth in 2...32 {
            cause = scenario.say(depth.isMultiple(of: 2) ? "b" : "a", causedBy: cause)
            #expect(scenario.frames.count == 1)
        }
        scenario.say("a", causedBy: cause)
        #expect(scenario.effects.outcome == .refused(.causedByTooDeep(limit: 32, post: 0)))
        scenario.say("a")
        #expect(scenario.frames == ["a"])
    }

    @Test("C14: one that does not acknowledge keeps nobody else from getting more")
    func isolation() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 1
        var scenario = Scenario(limits: limits)
        let bad = scenario.connect()
        let good = scenario.connect()
        scenario.observeAcknowledging("a", by: bad)
        let heard = scenario.observe("a", by: good, .hold)
        for _ in 1...5 { #expect(scenario.post("a").last == heard) }
    }
}
