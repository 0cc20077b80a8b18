import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: the queue (rules Q8 to Q25)")
struct QueueRuleTests {
    /// A center whose only observer gets everything.
    func scenario(limits: CenterLimits = CenterLimits()) -> Scenario {
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.observe(nil, by: client, .hold)
        return scenario
    }

    func enter(
        _ scenario: inout Scenario, _ mode: String, serial: UInt64 = 1, client: UInt64? = nil,
        lease: Int64? = 60_000_000_000
    ) {
        scenario.apply(
            .enterMode(
                ModeEntry(
                    serial: serial, tokenHash: SecretHash(high: serial, low: 1),
                    mode: bytes(mode), client: client, lease: lease)))
    }

    @Test("Q2, Q25: enqueueing answers at once, and a number is given at the end of the turn")
    func enqueue() {
        var scenario = scenario()
        let id = scenario.say("a1", style: .asap)
        #expect(scenario.effects.receipts == [queued(id)] && scenario.frames.isEmpty)
        #expect(scenario.center.sequence == 0 && scenario.center.needsTurnEnd)
        #expect(scenario.account(id)?.state == .queued)
        scenario.say("b1")
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["a1"] && scenario.center.sequence == 2)
        #expect(scenario.account(id) == Receipt(id: id, sequence: 2, matched: 1, delivered: 1))
        #expect(!scenario.center.needsTurnEnd && scenario.center.queueCount == 0)
    }

    func queued(_ id: NotificationID) -> Receipt {
        var receipt = Receipt(id: id, sequence: 0)
        receipt.state = .queued
        return receipt
    }

    @Test("Q8 (T70): three now posts are three deliveries")
    func threeNow() {
        var scenario = scenario()
        var frames: [String] = []
        for number in 1...3 {
            scenario.say("s\(number)", style: .now)
            frames += scenario.frames
        }
        #expect(frames == ["s1", "s2", "s3"])
    }

    @Test("Q8: now takes similar entries of both styles out, and stands for them")
    func nowTakesOut() {
        var scenario = scenario()
        let first = scenario.say("s1", style: .asap, coalesce: .none)
        let second = scenario.say("s2", style: .idle, coalesce: .none)
        scenario.say("t1", style: .asap)
        let id = scenario.say("s3", style: .now)
        #expect(scenario.frames == ["s3"] && scenario.effects.receipts[0].dequeued == 2)
        #expect(scenario.account(first)?.state == .coalesced(into: id))
        #expect(scenario.account(second)?.state == .coalesced(into: id))
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["t1"])
    }

    @Test("Q8 (T71): a batch of asap s/o and now s/p delivers s/p, then s/o")
    func nowOfAnotherObject() {
        var scenario = scenario()
        let first = scenario.newPost(text: "s/o", style: .asap)
        let second = scenario.newPost(text: "s/p", style: .now)
        scenario.apply(.postBatch([first, second], PostTerms()))
        #expect(scenario.frames == ["s/p"])
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["s/o"])
    }

    @Test("law 1: now takes over an immediate flag of what it stands for")
    func nowIsImmediate() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("s", by: client, .hold)
        scenario.suspend(client)
        scenario.say("s1", style: .idle, isImmediate: true)
        scenario.say("s2", style: .now)
        #expect(scenario.frames == ["s2"])
    }

    @Test("Q9: a plain post leaves the queue alone, and asks for no mode")
    func plainPost() {
        var scenario = scenario()
        scenario.say("s1", style: .asap)
        enter(&scenario, "modal")
        scenario.say("s2")
        #expect(scenario.frames == ["s2"] && scenario.center.queueCount == 1)
    }

    @Test("Q11: what is enqueued by whoever got it waits for the next turn")
    func snapshot() {
        var scenario = scenario()
        scenario.sayAll(["r1", "s1"], style: .asap)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["r1", "s1"])
        scenario.say("r2", style: .asap)
        #expect(scenario.frames.isEmpty)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["r2"])
    }

    @Test("Q13 (T78): one idle entry a moment, and asap entries come before the next")
    func idleOneAtATime() {
        var scenario = scenario()
        scenario.sayAll(["i1", "j1"], style: .idle)
        #expect(!scenario.center.needsTurnEnd && scenario.center.needsIdle)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames.isEmpty)
        scenario.apply(.idle)
        #expect(scenario.frames == ["i1"])
        scenario.say("b1", style: .asap)
        scenario.apply(.idle)
        #expect(scenario.frames.isEmpty)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["b1"])
        scenario.apply(.idle)
        #expect(scenario.frames == ["j1"] && !scenario.center.needsIdle)
        scenario.apply(.idle)
        #expect(scenario.effects.notifications.isEmpty)
    }

    @Test("Q14 (T79): an idle entry counts as asap after its maxDelay")
    func maxDelay() {
        var scenario = scenario()
        scenario.say("i1", style: .idle, maxDelay: 2_000_000_000)
        #expect(scenario.center.nextDeadline == 3_000_000_000)
        scenario.pass(milliseconds: 1_999)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames.isEmpty)
        scenario.pass(milliseconds: 1)
        #expect(scenario.center.needsTurnEnd)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["i1"])
    }

    @Test(
        "ttl: a queued entry that is too old is dropped, and its fate says so",
        arguments: [true, false])
    func timeToLive(isPassed: Bool) {
        var scenario = scenario()
        let id = scenario.say("a1", style: .asap, ttl: 1_000_000_000)
        scenario.milliseconds += 1_000
        if isPassed { scenario.apply(.passTime(workLimit: .max)) }
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames.isEmpty && scenario.center.sequence == 0)
        #expect(scenario.account(id)?.state == .expired)
    }

    @Test("ttl: the copies that are held of a queued one end at the same time")
    func timeToLiveOfCopies() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        scenario.say("a1", style: .asap, ttl: 2_000_000_000)
        scenario.pass(milliseconds: 1_000)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.center.observer(serial)?.held == 1)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.center.observer(serial)?.held == 0)
    }

    @Test("Q20 (T88 to T91): a dequeue removes what matches, and none of it is posted")
    func dequeue() {
        var scenario = scenario()
        let id = scenario.say("d/o", style: .asap)
        scenario.say("e/o", style: .idle)
        let last = scenario.say("e/p", style: .idle)
        let match = QueueMatch(
            name: bytes("x"), object: bytes("o"), mask: .onSender, scope: .everything)
        #expect(scenario.apply(.dequeue(match)) == .dequeued(2))
        #expect(scenario.queueTexts == ["e/p idle"] && scenario.account(id)?.state == .dequeued)
        let none = QueueMatch(name: nil, object: nil, mask: .none, scope: .everything)
        #expect(scenario.apply(.dequeue(none)) == .dequeued(0))
        #expect(scenario.apply(.dequeueEntry(id, scope: .everything)) == .refused(.unknownEntry))
        #expect(scenario.apply(.dequeueEntry(last, scope: .everything)) == .dequeued(1))
        scenario.apply(.endTurn(workLimit: .max))
        scenario.apply(.idle)
        #expect(scenario.effects.notifications.isEmpty)
    }

    @Test("Q22: what the caller may not post is neither merged with, taken out nor removed")
    func scope() {
        var scenario = scenario()
        let other = PostScope.some([PostScope.Pattern(names: [.exact(bytes("b"))])])
        let id = scenario.say("a/o", style: .asap)
        scenario.say("b/o", style: .asap, coalesce: .onSender) {
            $0.details = PostTerms.Details(scope: other)
        }
        #expect(scenario.queueTexts == ["a/o asap", "b/o asap"])
        scenario.say("b/o", style: .now, coalesce: .onSender) {
            $0.details = PostTerms.Details(scope: other)
        }
        #expect(scenario.effects.receipts[0].dequeued == 1)
        #expect(scenario.apply(.dequeueEntry(id, scope: other)) == .refused(.unknownEntry))
        let match = QueueMatch(name: bytes("a"), object: nil, mask: .onName, scope: other)
        #expect(scenario.apply(.dequeue(match)) == .dequeued(0))
        #expect(scenario.queueTexts == ["a/o asap"])
    }

    @Test("Q24: a full queue refuses, one that merges needs no room, and a batch is all or nothing")
    func full() {
        var limits = CenterLimits()
        limits.queueEntryLimit = 2
        var scenario = scenario(limits: limits)
        scenario.sayAll(["a1", "b1"], style: .asap)
        #expect(scenario.effects.outcome == .done)
        scenario.say("c1", style: .asap)
        #expect(scenario.effects.outcome == .refused(.queueFull(limit: 2)))
        scenario.say("a2", style: .asap)
        #expect(scenario.effects.outcome == .done)
        scenario.apply(.endTurn(workLimit: .max))
        let plain = scenario.newPost(text: "p1")
        let entries = ["a1", "b1", "c1"].map { scenario.newPost(text: $0, style: .asap) }
        let before = scenario.center.sequence
        #expect(
            scenario.apply(.postBatch([plain] + entries, PostTerms()))
                == .refused(.queueFull(limit: 2)))
        #expect(scenario.center.sequence == before && scenario.center.queueCount == 0)
    }

    @Test(
        "Q24: a batch with a plain post in front is all or nothing also when modes fill the queue")
    func fullOfModes() {
        var limits = CenterLimits()
        limits.queueEntryLimit = 1
        var scenario = scenario(limits: limits)
        let modes = (0...NotificationQueue.furtherModeLimit).map { "m\($0)" }
        scenario.say("a1", style: .asap, modes: modes)
        #expect(scenario.effects.outcome == .done)
        // It merges, and adds the mode `default` to the entry.
        let posts = [scenario.newPost(text: "p1"), scenario.newPost(text: "a2", style: .asap)]
        #expect(scenario.apply(.postBatch(posts, PostTerms())) == .refused(.queueFull(limit: 1)))
        #expect(scenario.center.sequence == 0 && scenario.queueTexts == ["a1 asap"])
    }

    @Test("Q24: bytes of all queues are bounded to the byte")
    func bytesFull() {
        var scenario = scenario()
        scenario.say("a12", style: .asap) { $0.queueByteRoom = 2 }
        #expect(scenario.effects.outcome == .refused(.queueBytesFull))
        scenario.say("a12", style: .asap) { $0.queueByteRoom = 3 }
        #expect(scenario.effects.outcome == .done && scenario.center.queueByteCount == 3)
        scenario.sayAll(["b1", "c1"], style: .asap) { $0.queueByteRoom = 3 }
        #expect(scenario.effects.outcome == .refused(.queueBytesFull))
        scenario.sayAll(["b1", "c1"], style: .asap) { $0.queueByteRoom = 4 }
        #expect(scenario.effects.outcome == .done && scenario.center.queueByteCount == 7)
    }

    @Test(
        "Q25 (T140): who is removed before the queue posts gets nothing, who comes before it does")
    func matchedLate() {
        var scenario = Scenario()
        let client = scenario.connect()
        let gone = scenario.observe("a", by: client, .hold)
        enter(&scenario, "held")
        scenario.say("a1", style: .asap)
        scenario.remove(gone, by: .client(client))
        scenario.apply(.leaveMode(serial: 1))
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.effects.deliveries.isEmpty)
        scenario.say("a2", style: .asap)
        let late = scenario.observe("a", by: client, .hold)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.effects.deliveries.map(\.observer) == [late])
    }

    @Test("Q23 (T81): the end posts asap of the current mode, and leaves the rest")
    func terminate() {
        var scenario = scenario()
        scenario.say("a1", style: .asap)
        scenario.say("i1", style: .idle)
        scenario.say("m1", style: .asap, modes: ["modal"])
        scenario.apply(.terminate)
        #expect(scenario.frames == ["a1"] && scenario.queueTexts == ["m1 asap", "i1 idle"])
    }

    @Test("law 3 (T76): who coalesces is told into what, and a survivor's fate becomes its account")
    func fates() {
        var scenario = scenario()
        let first = scenario.say("s1", style: .asap)
        let second = scenario.say("s2", style: .asap, keepsLatest: true)
        #expect(scenario.effects.receipts[0].state == .coalesced(into: first))
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["s2"])
        #expect(scenario.account(first)?.delivered == 1)
        #expect(scenario.account(second)?.state == .coalesced(into: first))
    }

    @Test("a batch that waits is answered for its asap post as queued (C13, Q2)")
    func waitingBatch() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        let other = scenario.connect()
        scenario.observe("b", by: other, .hold) { $0.holdLimit = 0 }
        scenario.suspend(other)
        let posts = [scenario.newPost(text: "a1"), scenario.newPost(text: "b1", style: .asap)]
        var terms = PostTerms()
        terms.wait = 1_000_000_000
        scenario.apply(.postBatch(posts, terms))
        scenario.apply(.endTurn(workLimit: .max))
        scenario.acknowledge(serial, 1)
        #expect(scenario.effects.completions.first?.receipts.last?.state == .queued)
        #expect(scenario.effects.completions.first?.receipts.first?.acknowledged == 1)
    }
}
