import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what must last (decision 20)")
struct LastingTests {
    // MARK: Changes

    @Test("without a store nothing is told")
    func noStore() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold)
        scenario.suspend(client)
        scenario.say("a1")
        scenario.say("b1", style: .idle)
        scenario.apply(.terminate)
        #expect(scenario.effects.changes.isEmpty)
    }

    @Test("an observer of its connection's lifetime is not stored, nor what is held for it")
    func connectionLifetime() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client) }
        bench.run { $0.suspend(client) }
        bench.run { $0.say("a1") }
        #expect(bench.changes.isEmpty)
        bench.run { $0.endSuspension(client) }
        bench.run { $0.cut(client) }
        #expect(bench.changes.isEmpty && !bench.stored.isKnown)
    }

    @Test("a plain post that holds nothing is not stored")
    func plainPost() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .hold) }
        bench.run { $0.observe("b", by: client, .drop) }
        bench.run { $0.say("a1") }
        #expect(bench.changes.isEmpty)
        bench.run { $0.suspend(client) }
        bench.run { $0.say("b1") }
        #expect(bench.changes.isEmpty)
    }

    @Test("the center is stored before the first thing that lasts, with numbers in reserve")
    func center() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.say("a1") }
        bench.run { $0.observe("a", by: client, .hold) }
        #expect(bench.changes.count == 4)
        #expect(bench.changes.first == .center(CenterRecord(epoch: bytes("k1"))))
        #expect(
            bench.changes[1] == .sequenceReserved(through: 1 + NotificationCenter.sequenceBlock))
        guard case .client(let record) = bench.changes[2] else {
            Issue.record("no client")
            return
        }
        #expect(record.id == client && !record.isAsked)
        #expect(bench.stored.image.observers.map(\.since) == [1])
    }

    @Test("a held notification is stored once, and goes with its last holder")
    func held() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .hold) }
        bench.run { $0.observe("a", by: client, .hold) }
        bench.run { $0.suspend(client) }
        #expect(bench.stored.image.clients.map(\.isAsked) == [true])
        bench.run { $0.say("a1", ttl: 5_000_000_000) }
        #expect(bench.changes.count == 3)
        #expect(bench.stored.image.notifications.map(\.timeToLive) == [5_000_000_000])
        #expect(bench.stored.image.held.map(\.observer) == [1, 2])
        bench.run { $0.endSuspension(client) }
        #expect(bench.stored.image.held.isEmpty && bench.stored.image.notifications.isEmpty)
    }

    @Test("what must be acknowledged is stored until it is")
    func acknowledged() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        let serial = bench.run { $0.observeAcknowledging("a", by: client) }
        bench.run { $0.say("a1") }
        #expect(bench.stored.image.held.count == 1)
        bench.run { $0.acknowledge(serial, 1) }
        #expect(bench.stored.image.held.isEmpty && bench.stored.image.notifications.isEmpty)
    }

    @Test("D10: what is immediate and held is written after a restart, to a client that asked too")
    func immediateHeld() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .hold) }
        bench.run { $0.suspend(client) }
        bench.run { $0.say("a1") }
        bench.run { $0.cut(client) }
        bench.run { $0.say("a2", isImmediate: true) }
        bench.run { $0.say("a3") }
        #expect(bench.stored.image.clients.map(\.immediateThrough) == [2])
        var twin = bench.scenario
        twin.back(client)
        #expect(twin.frames == ["a1", "a2"])
        for isComplete in [true, false] {
            var next = bench
            next.restart(isComplete: isComplete)
            next.run { $0.back(client) }
            #expect(next.scenario.frames == ["a1*", "a2*"])
            // It was written: what comes later waits again.
            #expect(next.stored.image.clients.map(\.immediateThrough) == [0])
            next.run { $0.endSuspension(client) }
            #expect(next.scenario.frames == ["a3*"])
        }
    }

    @Test("D8: what is immediate and goes out at once is not stored")
    func immediateWritten() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .deliverImmediately) }
        bench.run { $0.suspend(client) }
        bench.run { $0.say("a1") }
        #expect(bench.scenario.frames == ["a1"] && bench.changes.isEmpty)
    }

    @Test("law 3: what was shown and dropped is told after a restart, if it is asked for again")
    func forgottenByMailbox() {
        var bench = StoredScenario()
        let serial = bench.run { $0.mailbox("a") { $0.holdLimit = 1 } }
        bench.run {
            $0.apply(
                .attachStream(observer: serial, ConnectionName(node: 1, number: 9)))
        }
        for text in ["a1", "a2", "a3"] { bench.run { $0.say(text) } }
        #expect(bench.stored.image.observers.map(\.forgottenThrough) == [2])
        for isComplete in [true, false] {
            var next = bench
            next.restart(isComplete: isComplete)
            next.run { $0.apply(.readMailbox(observer: serial, through: nil)) }
            let page = next.scenario.center.mailbox(of: serial, after: 0, limit: 9)
            #expect(page?.gaps.map(\.reason) == [.overflow])
            #expect(page?.gaps.map(\.lastSequence) == [2])
            // It is a gap now, and stored as one.
            #expect(next.stored.image.observers.map(\.forgottenThrough) == [0])
            #expect(next.stored.image.gaps.map(\.gap.last) == [2])
        }
        // A client that continues after the shown number has lost nothing.
        bench.restart()
        bench.run { $0.apply(.readMailbox(observer: serial, through: 2)) }
        #expect(bench.scenario.center.mailbox(of: serial, after: 2, limit: 9)?.gaps.isEmpty == true)
    }

    @Test("what comes out of the replay ring and waits is stored")
    func replayed() {
        var bench = StoredScenario()
        bench.run { $0.say("a1") }
        let client = bench.run { $0.connect() }
        bench.run { $0.suspend(client) }
        bench.run { $0.observe("a", by: client, .hold, since: 0) }
        #expect(bench.stored.image.held.count == 1)
        bench.restart()
        bench.run { $0.back(client) }
        #expect(bench.scenario.state(client) == .asked)
        bench.run { $0.endSuspension(client) }
        #expect(bench.scenario.frames == ["a1*"])
    }

    @Test("queue entries are stored until they leave, as they are then")
    func queue() {
        var bench = StoredScenario()
        bench.run { $0.say("a1", style: .idle, maxDelay: 9_000_000_000) }
        bench.run { $0.say("a2", style: .asap, keepsLatest: true, modes: ["modal"]) }
        #expect(bench.stored.image.queue.count == 1)
        let record = bench.stored.image.queue.first
        #expect(record?.style == .asap && record?.mergedCount == 1)
        #expect(record?.content.text == "a2" && record?.modes.count == 2)
        bench.run { $0.apply(.endTurn(workLimit: .max)) }
        #expect(bench.stored.image.queue.isEmpty)
    }

    @Test("decision 21: a new block of numbers is reserved before the old one is used up")
    func reservation() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .hold) }
        let block = NotificationCenter.sequenceBlock
        bench.scenario.center.sequence = block / 2 - 1
        bench.run { $0.say("b1") }
        #expect(bench.changes.isEmpty)
        bench.run { $0.say("b2") }
        #expect(bench.changes == [.sequenceReserved(through: block / 2 + 1 + block)])
    }

    // MARK: A store that cannot store

    @Test("decision 22: what would have to be stored is refused before anything has changed")
    func cannotStore() {
        var bench = StoredScenario()
        let live = bench.run { $0.connect() }
        bench.run { $0.observe("live", by: live, .hold) }
        bench.run { $0.observeAcknowledging("ack", by: live) }
        let away = bench.run { $0.connect() }
        bench.run { $0.observe("held", by: away, .hold) }
        bench.run { $0.observe("drop", by: away, .drop) }
        bench.run { $0.observe("brief", by: away) }
        bench.run { $0.suspend(away) }
        let before = bench.scenario.center
        func outcome(
            _ text: String, style: PostingStyle? = nil, isImmediate: Bool = false,
            details: PostTerms.Details? = nil
        ) -> Outcome {
            var twin = bench.scenario
            twin.say(text, style: style, isImmediate: isImmediate) { terms in
                terms.canStore = false
                terms.details = details
            }
            if twin.effects.outcome == .refused(.cannotStore) {
                #expect(twin.effects.changes.isEmpty && twin.center.sequence == before.sequence)
            } else {
                #expect(twin.effects.changes.isEmpty)
            }
            return twin.effects.outcome
        }
        #expect(outcome("live") == .done)
        #expect(outcome("nobody") == .done)
        #expect(outcome("drop") == .done)
        #expect(outcome("brief") == .done)
        #expect(outcome("live", style: .now) == .done)
        #expect(outcome("ack") == .refused(.cannotStore))
        #expect(outcome("held") == .refused(.cannotStore))
        #expect(outcome("live", style: .asap) == .refused(.cannotStore))
        #expect(outcome("live", style: .idle) == .refused(.cannotStore))
        #expect(outcome("live", details: .keyed("k")) == .refused(.cannotStore))
    }

    @Test("decision 22: a batch with one that must be stored is refused as a whole")
    func cannotStoreBatch() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observeAcknowledging("ack", by: client) }
        bench.run { $0.sayAll(["a1", "ack1"]) { $0.canStore = false } }
        #expect(bench.scenario.effects.outcome == .refused(.cannotStore))
        #expect(bench.scenario.center.sequence == 0)
    }

    @Test("decision 22: a repeated request is answered though nothing can be stored")
    func replayWithoutStore() {
        var bench = StoredScenario()
        bench.run { $0.say("a1") { $0.details = .keyed("k") } }
        bench.run {
            $0.say("a1") { terms in
                terms.details = .keyed("k")
                terms.canStore = false
            }
        }
        #expect(bench.scenario.effects.outcome == .replayed(form: 2))
    }
}
