import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what is held, and how it is written (rules D7, D11, D15)")
struct HoldingTests {
    // MARK: Limits

    @Test("D7: an observer holds as many as its limit, and one past it the oldest goes")
    func holdLimit() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("h", by: client, .hold) { $0.holdLimit = 2 }
        scenario.suspend(client)
        let ids = ["h1", "h2"].map { scenario.say($0) }
        #expect(scenario.center.observer(serial)?.tally.dropped == 0)
        let last = scenario.say("h3")
        #expect(scenario.account(ids[0])?.dropped == 1 && scenario.account(ids[0])?.held == 0)
        #expect(scenario.account(last)?.held == 1)
        #expect(scenario.center.observer(serial)?.tally.dropped == 1)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h2", "h3"])
        #expect(
            scenario.gaps == [
                Gap(
                    observer: serial, selector: bytes("notify"), lostCount: 1, firstSequence: 1,
                    lastSequence: 1, reason: .overflow)
            ])
    }

    @Test("D7: an observer that may hold nothing is told what it lost")
    func nothingHeld() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold) { $0.holdLimit = 0 }
        scenario.suspend(client)
        let id = scenario.say("h1")
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, dropped: 1))
        scenario.endSuspension(client)
        #expect(scenario.losses == ["overflow 1"] && scenario.frames.isEmpty)
    }

    @Test("D7: a client holds as many as its limit, over all of its observers", arguments: [2, 3])
    func clientCount(limit: Int) {
        var limits = CenterLimits()
        limits.clientHeldCountLimit = limit
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.observe("b", by: client, .hold)
        scenario.suspend(client)
        for text in ["a1", "b1", "b2"] { scenario.say(text) }
        #expect(scenario.center.client(client)?.held == limit)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a1", "b1", "b2"].suffix(limit))
        #expect(scenario.losses == (limit == 2 ? ["overflow 1"] : []))
    }

    @Test("D7: a client holds as many bytes as its limit, and not one more", arguments: [5, 6])
    func clientBytes(limit: Int) {
        var limits = CenterLimits()
        limits.clientHeldByteLimit = limit
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        for text in ["a1", "a2", "a3"] { scenario.say(text) }
        scenario.endSuspension(client)
        #expect(scenario.frames == (limit == 6 ? ["a1", "a2", "a3"] : ["a2", "a3"]))
    }

    @Test("D7: one that is greater than all that may be held is lost, and nothing else stays")
    func tooLarge() {
        var limits = CenterLimits()
        limits.clientHeldByteLimit = 4
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("a", by: client, .coalesce)
        scenario.suspend(client)
        scenario.say("a1")
        let id = scenario.say("a123456")
        #expect(scenario.account(id) == Receipt(id: id, sequence: 2, matched: 1, dropped: 1))
        scenario.endSuspension(client)
        #expect(scenario.losses == ["coalesced 1", "overflow 1"] && scenario.frames.isEmpty)
        #expect(scenario.center.heldByteCount == 0)
    }

    @Test("D7: when all centers hold too much the oldest go, for all who hold them")
    func trim() {
        var scenario = Scenario()
        let clients = [scenario.connect(), scenario.connect()]
        for client in clients {
            scenario.observe("a", by: client, .hold)
            scenario.suspend(client)
        }
        let ids = ["a1", "a2", "a3"].map { scenario.say($0) }
        scenario.apply(.trimHeld(byteCount: 6))
        #expect(scenario.center.heldByteCount == 6)
        scenario.apply(.trimHeld(byteCount: 5))
        #expect(scenario.center.heldByteCount == 4)
        #expect(
            scenario.account(ids[0]) == Receipt(id: ids[0], sequence: 1, matched: 2, dropped: 2))
        for client in clients {
            scenario.endSuspension(client)
            #expect(scenario.frames == ["a2", "a3"] && scenario.losses == ["overflow 1"])
        }
    }

    @Test("D7: a trim leaves what was sent and not acknowledged alone")
    func trimUnacknowledged() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        scenario.say("a1")
        scenario.apply(.trimHeld(byteCount: 0))
        #expect(scenario.center.heldByteCount == 2)
        scenario.acknowledge(serial, 1)
        #expect(scenario.center.heldByteCount == 0)
    }

    // MARK: Gaps

    @Test("law 3: one gap an observer and reason, with exact counts, told once")
    func gaps() {
        var scenario = Scenario()
        let client = scenario.connect()
        let drop = scenario.observe("d", by: client, .drop)
        let hold = scenario.observe("h", by: client, .hold) { $0.holdLimit = 1 }
        let last = scenario.observe("c", by: client, .coalesce)
        scenario.suspend(client)
        for text in ["d1", "h2", "h3", "c4", "d5", "c6", "h7", "c8"] { scenario.say(text) }
        scenario.endSuspension(client)
        let told = scenario.gaps
        #expect(told.map(\.observer) == [drop, hold, last])
        #expect(told.map(\.reason) == [.dropped, .overflow, .coalesced])
        #expect(told.map(\.lostCount) == [2, 2, 2])
        #expect(told.map(\.firstSequence) == [1, 2, 4])
        #expect(told.map(\.lastSequence) == [5, 3, 6])
        #expect(scenario.frames == ["h7", "c8"])
        scenario.suspend(client)
        scenario.endSuspension(client)
        #expect(scenario.gaps.isEmpty)
    }

    @Test("ttl: a held copy that is too old is dropped, at its time and not before")
    func timeToLive() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        let id = scenario.say("a1", ttl: 1_000_000_000)
        scenario.say("a2")
        #expect(scenario.center.nextDeadline == 2_000_000_000)
        scenario.pass(milliseconds: 999)
        #expect(scenario.center.observer(serial)?.held == 2)
        scenario.pass(milliseconds: 1)
        #expect(scenario.center.observer(serial)?.held == 1)
        #expect(scenario.account(id) == Receipt(id: id, sequence: 1, matched: 1, dropped: 1))
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a2"] && scenario.losses == ["expired 1"])
        #expect(scenario.center.nextDeadline == nil)
    }

    @Test("ttl: what is too old when it could be written is not written; one gap tells all")
    func expiredInFlush() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        for text in ["a1", "a2", "a3"] { scenario.say(text, ttl: 1_000_000_000) }
        scenario.say("a4")
        scenario.milliseconds += 1_000
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a4"] && scenario.losses == ["expired 3"])
    }

    // MARK: Steps

    @Test("decision 16: a flush writes so many bytes at a step, and new posts wait behind it")
    func steps() {
        var limits = CenterLimits()
        limits.flushByteLimit = 2 * (2 + NotificationCenter.frameByteCount)
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.observe("d", by: client, .drop)
        scenario.suspend(client)
        for number in 1...5 { scenario.say("h\(number)") }
        scenario.say("d1")
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h1", "h2"] && scenario.losses == ["dropped 1"])
        #expect(scenario.effects.notices.count == 2 && scenario.flushGoesOn)
        // No client is suspended any more: nothing is dropped, and nothing overtakes.
        scenario.say("d2")
        #expect(scenario.effects.receipts[0].held == 1)
        scenario.say("h6", isImmediate: true)
        #expect(scenario.frames.isEmpty && scenario.effects.receipts[0].held == 1)
        var frames: [String] = []
        var steps = 0
        while steps < 9 {
            scenario.apply(.drain(client: client))
            frames += scenario.frames
            steps += 1
            if !scenario.flushGoesOn { break }
        }
        #expect(frames == ["h3", "h4", "h5", "d2", "h6"] && steps == 3)
        scenario.say("h7")
        #expect(scenario.frames == ["h7"])
    }

    @Test("D6, law 5: nothing coalesces while a flush goes on, for its client is not suspended")
    func coalescingDuringFlush() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.observe("c", by: client, .coalesce)
        scenario.suspend(client)
        for text in ["h1", "h2", "c3", "c4"] { scenario.say(text) }
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h1"] && scenario.flushGoesOn)
        for text in ["c5", "c6", "c7"] {
            scenario.say(text)
            #expect(scenario.effects.receipts[0].held == 1)
        }
        var frames: [String] = []
        for _ in 1...5 {
            scenario.apply(.drain(client: client))
            frames += scenario.frames
        }
        #expect(frames == ["h2", "c4", "c5", "c6", "c7"] && !scenario.flushGoesOn)
    }

    @Test("decision 16: a client that becomes slow or asks between the steps waits again")
    func interruptedFlush() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.suspend(client)
        for number in 1...4 { scenario.say("h\(number)") }
        scenario.endSuspension(client)
        scenario.apply(.becomeSlow(client: client))
        scenario.say("h5")
        scenario.apply(.drain(client: client))
        #expect(scenario.frames == ["h2"])
        scenario.suspend(client)
        scenario.apply(.drain(client: client))
        #expect(scenario.frames.isEmpty && !scenario.flushGoesOn)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h3"])
        scenario.cut(client)
        scenario.back(client)
        #expect(scenario.frames == ["h4"])
        scenario.apply(.drain(client: client))
        #expect(scenario.frames == ["h5"] && scenario.state(client) == .live)
    }

    @Test("D8, decision 16: an immediate post during a flush of immediates begins no further step")
    func immediateDuringFlush() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe("h", by: client, .hold)
        scenario.suspend(client)
        scenario.say("h1")
        scenario.say("h2")
        scenario.say("h3", isImmediate: true)
        #expect(scenario.frames == ["h1"] && scenario.flushGoesOn)
        scenario.say("h4", isImmediate: true)
        scenario.say("h5")
        #expect(scenario.frames.isEmpty)
        for text in ["h2", "h3", "h4"] {
            scenario.apply(.drain(client: client))
            #expect(scenario.frames == [text] && scenario.flushGoesOn == (text != "h4"))
        }
        #expect(scenario.state(client) == .asked)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["h5"])
    }

    // MARK: Intervals

    @Test("minInterval: the last of a kind comes when the interval is over, others wait behind it")
    func interval() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.minInterval = 1_000_000_000 }
        scenario.observe("b", by: client, .hold)
        scenario.say("a1")
        #expect(scenario.frames == ["a1"])
        scenario.say("a2")
        #expect(scenario.frames.isEmpty && scenario.effects.receipts[0].held == 1)
        #expect(scenario.center.nextDeadline == 2_000_000_000)
        scenario.say("a3")
        #expect(scenario.effects.receipts[0].coalesced == 1)
        scenario.say("b1")
        #expect(scenario.frames.isEmpty)
        scenario.pass(milliseconds: 999)
        #expect(scenario.frames.isEmpty)
        scenario.pass(milliseconds: 1)
        #expect(scenario.frames == ["a3", "b1"] && scenario.losses == ["coalesced 1"])
        scenario.say("a4")
        #expect(scenario.frames.isEmpty)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.frames == ["a4"])
        scenario.milliseconds += 1_000
        scenario.say("a5")
        #expect(scenario.frames == ["a5"])
    }

    @Test("D6, decision 17: what waits behind an interval does not coalesce")
    func coalescingBehindInterval() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.minInterval = 1_000_000_000 }
        scenario.observe("c", by: client, .coalesce)
        for text in ["a1", "a2"] { scenario.say(text) }
        for text in ["c3", "c4"] {
            scenario.say(text)
            #expect(scenario.effects.receipts[0].held == 1)
        }
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.frames == ["a2", "c3", "c4"] && scenario.losses.isEmpty)
    }

    @Test("minInterval: another object is another kind, and a removed observer holds nobody back")
    func intervalKinds() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold) { $0.minInterval = 1_000_000_000 }
        scenario.observe("b", by: client, .hold)
        scenario.say("a1/o")
        scenario.say("a2/p")
        #expect(scenario.frames == ["a2/p"])
        scenario.say("a3/o")
        scenario.say("b1")
        #expect(scenario.frames.isEmpty)
        scenario.remove(serial, by: .client(client))
        #expect(scenario.frames == ["b1"])
    }

    @Test("minInterval: an interval starts with a delivery, not with a try")
    func intervalAndOwing() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 1
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging(nil, by: client) {
            $0.minInterval = 1_000_000_000
        }
        scenario.say("a1")
        scenario.say("b1")
        #expect(scenario.state(client) == .slow)
        scenario.acknowledge(serial, 1)
        #expect(scenario.frames == ["b1"])
    }
}
