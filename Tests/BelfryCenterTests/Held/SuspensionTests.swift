import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: suspension (rules D3 to D19)")
struct SuspensionTests {
    @Test("D5 (T95): drop loses what comes while suspended, and tells how much")
    func drop() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe(nil, by: client, .drop)
        scenario.suspend(client)
        #expect(scenario.state(client) == .asked)
        let first = scenario.say("a1")
        scenario.say("a2")
        #expect(scenario.effects.receipts[0].dropped == 1 && scenario.frames.isEmpty)
        #expect(scenario.gaps.isEmpty)
        scenario.endSuspension(client)
        #expect(scenario.state(client) == .live)
        #expect(
            scenario.gaps == [
                Gap(
                    observer: serial, selector: bytes("notify"), lostCount: 2, firstSequence: 1,
                    lastSequence: 2, reason: .dropped)
            ])
        #expect(scenario.frames.isEmpty)
        #expect(scenario.center.observer(serial)?.tally.dropped == 2)
        #expect(scenario.account(first) == Receipt(id: first, sequence: 1, matched: 1, dropped: 1))
        scenario.say("a3")
        #expect(scenario.frames == ["a3"] && scenario.gaps.isEmpty)
    }

    @Test("D3: the default behaviour is coalesce")
    func defaultBehavior() {
        #expect(ObserverTerms().suspensionBehavior == .coalesce)
    }

    @Test("D6 (T96): coalesce keeps the last of a name and object, at its own place")
    func coalesce() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", "o", by: client, .coalesce)
        scenario.suspend(client)
        let ids = ["a1/o", "a2/o", "a3/o"].map { scenario.say($0) }
        #expect(scenario.effects.receipts[0].coalesced == 1)
        #expect(scenario.center.observer(serial)?.held == 1)
        #expect(scenario.center.observer(serial)?.tally.coalesced == 2)
        #expect(scenario.center.observer(serial)?.tally.dropped == 0)
        #expect(scenario.account(ids[0])?.dropped == 1 && scenario.account(ids[1])?.dropped == 1)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a3/o"] && scenario.losses == ["coalesced 2"])
        #expect(scenario.account(ids[2])?.delivered == 1)
        #expect(scenario.account(ids[2])?.coalesced == 0)
    }

    @Test("what becomes of earlier posts is no row of a later one, and is not kept for another")
    func rowsOfOthers() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .coalesce)
        scenario.suspend(client)
        scenario.say("a1")
        scenario.say("a2") { $0.reportsObservers = true }
        #expect(
            scenario.effects.reports == [[ReportRow(observer: serial, outcome: .coalesced)]])
        #expect(scenario.center.dispatching.recountedRows.isEmpty)
    }

    @Test("D6 (T97): an observer of an object keeps the last of each name")
    func coalesceKinds() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe(nil, "o", by: client, .coalesce)
        scenario.suspend(client)
        for text in ["a1/o", "a2/o", "b1/o", "a3/o"] { scenario.say(text) }
        scenario.endSuspension(client)
        #expect(scenario.frames == ["b1/o", "a3/o"])
    }

    @Test("D6: names and objects that only look joined alike are different kinds")
    func kindsAreExact() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe(nil, by: client, .coalesce)
        scenario.suspend(client)
        for (name, object) in [("ab", "c"), ("a", "bc"), ("abc", ""), ("abc", nil)] {
            scenario.post(name, object)
        }
        scenario.endSuspension(client)
        #expect(scenario.frames.count == 4 && scenario.gaps.isEmpty)
    }

    @Test("D6: each observer keeps a last one of its own")
    func coalesceEach() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .coalesce)
        scenario.observe(nil, by: client, .coalesce)
        scenario.suspend(client)
        scenario.say("a1")
        #expect(scenario.effects.receipts[0].held == 2)
        scenario.say("a2")
        #expect(scenario.effects.receipts[0].coalesced == 2)
        scenario.endSuspension(client)
        #expect(
            scenario.frames == ["a2", "a2"] && scenario.losses == ["coalesced 1", "coalesced 1"])
    }

    @Test("D7, D11: hold keeps all, and the end of suspension writes them at once")
    func holding() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("h", by: client, .hold)
        scenario.suspend(client)
        let ids = (1...3).map { scenario.say("h\($0)") }
        #expect(scenario.center.observer(serial)?.held == 3)
        #expect(scenario.center.client(client)?.held == 3)
        #expect(scenario.account(ids[0]) == Receipt(id: ids[0], sequence: 1, matched: 1, held: 1))
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h1", "h2", "h3"] && scenario.gaps.isEmpty)
        #expect(
            scenario.account(ids[0]) == Receipt(id: ids[0], sequence: 1, matched: 1, delivered: 1))
        #expect(scenario.center.heldCount == 0 && scenario.center.heldByteCount == 0)
    }

    @Test("D8: deliverImmediately is delivered though its client asked, after all that is held")
    func immediateObserver() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.observe("i", by: client, .deliverImmediately)
        scenario.suspend(client)
        scenario.say("h1")
        scenario.say("h2")
        scenario.say("i1")
        #expect(scenario.frames == ["h1", "h2", "i1"])
        #expect(scenario.effects.receipts[0].delivered == 1)
        #expect(scenario.state(client) == .asked)
        scenario.say("h3")
        #expect(scenario.frames.isEmpty)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h3"])
    }

    @Test("D9 (T102): an immediate post flushes what is held, and reaches those that hold")
    func immediatePost() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.suspend(client)
        let first = scenario.say("h1")
        scenario.say("h2")
        scenario.say("h3", isImmediate: true)
        #expect(scenario.frames == ["h1", "h2", "h3"])
        #expect(scenario.account(first)?.delivered == 1 && scenario.account(first)?.held == 0)
    }

    @Test("D9: an immediate post reaches an observer that drops")
    func immediatePostToDrop() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("d", by: client, .drop)
        scenario.suspend(client)
        scenario.say("d1")
        scenario.say("d2", isImmediate: true)
        #expect(scenario.frames == ["d2"] && scenario.gaps.isEmpty)
        scenario.endSuspension(client)
        #expect(scenario.losses == ["dropped 1"])
    }

    @Test(
        "D8, law 2: one post for a holding and an immediate observer of a client",
        arguments: [true, false])
    func immediateAmongOthers(isHoldFirst: Bool) {
        var scenario = Scenario()
        let client = scenario.connect()
        for isHold in [isHoldFirst, !isHoldFirst] {
            scenario.observe("a", by: client, isHold ? .hold : .deliverImmediately)
        }
        scenario.suspend(client)
        let id = scenario.say("a1")
        #expect(scenario.frames == (isHoldFirst ? ["a1", "a1"] : ["a1"]))
        let held: UInt32 = isHoldFirst ? 0 : 1
        #expect(
            scenario.account(id)
                == Receipt(id: id, sequence: 1, matched: 2, delivered: 2 - held, held: held))
        scenario.endSuspension(client)
        #expect(scenario.frames == (isHoldFirst ? [] : ["a1"]))
    }

    @Test("D10 (T109): immediate ones are held while disconnected, and come after reconnecting")
    func immediateWhileDisconnected() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("i", by: client, .deliverImmediately)
        scenario.cut(client)
        scenario.say("i1")
        #expect(scenario.frames.isEmpty && scenario.effects.receipts[0].held == 1)
        scenario.back(client)
        #expect(scenario.frames == ["i1"])
    }

    @Test("D10: an immediate one that was held back goes out with the block, though still asked")
    func immediateAfterBlock() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.suspend(client)
        scenario.apply(.becomeSlow(client: client))
        #expect(scenario.state(client) == .slow)
        scenario.say("h1")
        scenario.say("h2", isImmediate: true)
        scenario.say("h3")
        #expect(scenario.frames.isEmpty)
        scenario.apply(.drain(client: client))
        #expect(scenario.frames == ["h1", "h2"] && scenario.state(client) == .asked)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h3"])
    }

    @Test("D4 (T105): all observers of a client are suspended, and nobody else's")
    func perClient() {
        var scenario = Scenario()
        let client = scenario.connect()
        let other = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.observe(nil, by: client, .hold)
        let heard = scenario.observe("a", by: other, .hold)
        scenario.suspend(client)
        #expect(scenario.post("a") == [heard])
        #expect(scenario.effects.receipts[0].held == 2)
        #expect(scenario.rows.map(\.state) == [.asked, .asked, .live])
    }

    @Test("D5, D13 (T107): what a disconnected client dropped is told when it is back")
    func dropWhileDisconnected() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .drop)
        scenario.cut(client)
        #expect(scenario.state(client) == .disconnected)
        scenario.say("a1")
        scenario.back(client)
        #expect(scenario.losses == ["dropped 1"] && scenario.frames.isEmpty)
        guard case .gap(let connection, _, _) = scenario.effects.notices.first else {
            Issue.record("no gap")
            return
        }
        #expect(connection.number == 102)
    }

    @Test("C11 (T110): what is held for a removed observer goes with it, and is accounted for")
    func removeWhileHeld() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        let id = scenario.say("a1")
        scenario.remove(serial, by: .client(client))
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, dropped: 1))
        scenario.endSuspension(client)
        #expect(scenario.frames.isEmpty && scenario.gaps.isEmpty)
        #expect(scenario.center.heldCount == 0)
    }

    @Test("D12 (T112): a suspended client may post")
    func posting() {
        var scenario = Scenario()
        let client = scenario.connect()
        let other = scenario.connect()
        let heard = scenario.observe("a", by: other, .hold)
        scenario.suspend(client)
        #expect(scenario.post("a") == [heard])
    }

    @Test("T113: asking twice is asking once")
    func askTwice() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.suspend(client)
        scenario.suspend(client)
        scenario.endSuspension(client)
        #expect(scenario.state(client) == .live)
        scenario.endSuspension(client)
        #expect(scenario.state(client) == .live)
        #expect(
            scenario.apply(.setSuspended(client: 99, true)) == .refused(.unknownClient))
    }

    @Test("law 2 (T116): what was held comes before what is posted when suspension has ended")
    func heldFirst() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.suspend(client)
        scenario.say("h1")
        scenario.say("h2")
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h1"] && scenario.flushGoesOn)
        scenario.say("h3")
        #expect(scenario.frames.isEmpty && scenario.effects.receipts[0].held == 1)
        scenario.apply(.drain(client: client))
        #expect(scenario.frames == ["h2"])
        scenario.apply(.drain(client: client))
        #expect(scenario.frames == ["h3"] && !scenario.flushGoesOn)
        scenario.say("h4")
        #expect(scenario.frames == ["h4"])
    }

    @Test(
        "D18 (T119): the behaviour at the time of the post decides; a new one is a new registration"
    )
    func behaviorOfTheTime() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.suspend(client)
        let serial = scenario.observe("a", by: client, .hold)
        scenario.say("a1")
        scenario.remove(serial, by: .client(client))
        scenario.observe("a", by: client, .drop)
        scenario.endSuspension(client)
        #expect(scenario.frames.isEmpty && scenario.gaps.isEmpty)
    }

    @Test("D15: a slow client is suspended until its socket has room; nobody else notices")
    func slow() {
        var scenario = Scenario()
        let client = scenario.connect()
        let other = scenario.connect()
        scenario.observe("a", by: client, .hold)
        let heard = scenario.observe("a", by: other, .hold)
        scenario.apply(.becomeSlow(client: client))
        #expect(scenario.state(client) == .slow)
        #expect(scenario.post("a") == [heard])
        scenario.apply(.drain(client: client))
        #expect(scenario.frames(to: 101) == ["a"] && scenario.state(client) == .live)
    }

    @Test("law 5: the state since when is the time of the last change")
    func stateSince() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.milliseconds = 5_000
        scenario.suspend(client)
        #expect(scenario.center.client(client)?.stateSince == 5_000)
        scenario.milliseconds = 6_000
        scenario.cut(client)
        #expect(scenario.center.client(client)?.stateSince == 6_000)
        #expect(scenario.rows.map(\.stateSince) == [6_000])
    }

    @Test("D13: asking survives a disconnect")
    func askedSurvives() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        scenario.cut(client)
        scenario.say("a1")
        scenario.back(client)
        #expect(scenario.state(client) == .asked && scenario.frames.isEmpty)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a1"])
    }
}
