import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: idempotency keys (Protocol.md section 1, decision 26)")
struct KeyRuleTests {
    private func details(
        _ text: String, request: UInt64 = 1, principal: String = "p", form: UInt8 = 2
    ) -> PostTerms.Details {
        PostTerms.Details(
            scope: .everything,
            key: IdempotencyKey(
                principal: bytes(principal), text: bytes(text),
                requestHash: SecretHash(high: 0, low: request), form: form))
    }

    @Test("a repeated request has the first one's answer, and no effect of its own")
    func replayed() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        let id = scenario.say("a1") {
            $0.details = details("k")
            $0.reportsObservers = true
        }
        let first = (scenario.effects.receipts, scenario.effects.reports)
        scenario.say("a1") { $0.details = details("k") }
        #expect(scenario.effects.outcome == .replayed(form: 2))
        #expect(scenario.effects.receipts == first.0 && scenario.effects.reports == first.1)
        #expect(scenario.effects.receipts[0].id == id)
        #expect(scenario.frames.isEmpty && scenario.center.sequence == 1)
    }

    @Test("the same key for another request is refused, and another principal's is another key")
    func mismatch() {
        var scenario = Scenario()
        scenario.say("a1") { $0.details = details("k") }
        scenario.say("a2") { $0.details = details("k", request: 2) }
        #expect(scenario.effects.outcome == .refused(.keyReused))
        scenario.say("a3") { $0.details = details("k", principal: "q") }
        #expect(scenario.effects.outcome == .done && scenario.center.sequence == 2)
    }

    @Test("a request that repeats one that waits is answered with it")
    func pending() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observeAcknowledging("a", by: client)
        scenario.say("a1") {
            $0.details = details("k")
            $0.wait = 1_000_000_000
        }
        let first = scenario.center.appliedIndex
        scenario.say("a1") { $0.details = details("k", form: 7) }
        #expect(scenario.effects.outcome == .waiting && scenario.frames.isEmpty)
        scenario.acknowledge(serial, 1)
        let completions = scenario.effects.completions
        #expect(completions.map(\.command.counter) == [first, first + 1])
        #expect(completions.map(\.replayedForm) == [nil, 2])
        #expect(completions[0].receipts == completions[1].receipts)
        scenario.say("a1") { $0.details = details("k") }
        #expect(scenario.effects.outcome == .replayed(form: 2))
        #expect(scenario.effects.receipts[0].acknowledged == 1)
    }

    @Test("a request that was refused leaves its key free")
    func refused() {
        var scenario = Scenario()
        scenario.say("a1", style: .now, modes: ["modal"]) { $0.details = details("k") }
        #expect(
            scenario.effects.outcome
                == .refused(.modeNotCurrent(current: Mode.default, post: 0)))
        scenario.say("a1", style: .now) { $0.details = details("k") }
        #expect(scenario.effects.outcome == .done)
    }

    @Test("a key is forgotten after its time, and not before", arguments: [299_999, 300_000])
    func expiry(milliseconds: Int64) {
        var scenario = Scenario()
        scenario.say("a1") { $0.details = details("k") }
        #expect(scenario.center.nextDeadline == 301_000_000_000)
        scenario.pass(milliseconds: milliseconds)
        scenario.say("a1") { $0.details = details("k") }
        let isKnown = milliseconds < 300_000
        #expect(scenario.effects.outcome == (isKnown ? .replayed(form: 2) : .done))
    }

    @Test("a queued post under a key is answered as queued again")
    func queued() {
        var scenario = Scenario()
        let id = scenario.say("a1", style: .asap) { $0.details = details("k") }
        scenario.apply(.endTurn(workLimit: .max))
        scenario.say("a1", style: .asap) { $0.details = details("k") }
        #expect(scenario.effects.receipts.map(\.id) == [id])
        #expect(scenario.effects.receipts.map(\.state) == [.queued])
        #expect(scenario.center.queueCount == 0)
    }

    @Test("as many keys as the limit are remembered, and one more forgets the oldest")
    func limit() {
        var limits = CenterLimits()
        limits.keyLimit = 2
        var scenario = Scenario(limits: limits)
        for text in ["k", "l", "m"] { scenario.say("a1") { $0.details = details(text) } }
        scenario.say("a1") { $0.details = details("l") }
        #expect(scenario.effects.outcome == .replayed(form: 2))
        scenario.say("a1") { $0.details = details("k") }
        #expect(scenario.effects.outcome == .done)
    }
}
