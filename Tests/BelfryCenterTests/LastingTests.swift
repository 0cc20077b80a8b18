import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what must last, and what a restart begins with (DESIGN section 2)")
struct LastingTests {
    /// A center that has a store, and what its store has.
    private struct Bench {
        var scenario: Scenario
        var stored = StoredCenter()
        var limits: CenterLimits

        init(_ change: (inout CenterLimits) -> Void = { _ in }) {
            limits = CenterLimits()
            limits.isDurable = true
            change(&limits)
            scenario = Scenario(limits: limits)
        }

        /// Does something of one command, and stores what must last of it.
        @discardableResult
        mutating func run<Result>(_ body: (inout Scenario) -> Result) -> Result {
            let result = body(&scenario)
            stored.apply(scenario.effects.changes)
            return result
        }

        /// The center ends, in order or not, and begins again.
        mutating func restart(isComplete: Bool = true) {
            if isComplete { run { $0.apply(.terminate) } }
            scenario.center = stored.restored(
                limits: limits, isComplete: isComplete, time: scenario.time)
            run { [limits] in $0.apply(.configure(limits)) }
        }

        var changes: [Change] { scenario.effects.changes }
    }

    private func details(_ text: String) -> PostTerms.Details {
        PostTerms.Details(
            scope: .everything,
            key: IdempotencyKey(
                principal: bytes("p"), text: bytes(text),
                requestHash: SecretHash(high: 0, low: 1), form: 2))
    }

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
        var bench = Bench()
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
        var bench = Bench()
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
        var bench = Bench()
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
        var bench = Bench()
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
        var bench = Bench()
        let client = bench.run { $0.connect() }
        let serial = bench.run { $0.observeAcknowledging("a", by: client) }
        bench.run { $0.say("a1") }
        #expect(bench.stored.image.held.count == 1)
        bench.run { $0.acknowledge(serial, 1) }
        #expect(bench.stored.image.held.isEmpty && bench.stored.image.notifications.isEmpty)
    }

    @Test("D10: what is immediate and held is written after a restart, to a client that asked too")
    func immediateHeld() {
        var bench = Bench()
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
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .deliverImmediately) }
        bench.run { $0.suspend(client) }
        bench.run { $0.say("a1") }
        #expect(bench.scenario.frames == ["a1"] && bench.changes.isEmpty)
    }

    @Test("law 3: what was shown and dropped is told after a restart, if it is asked for again")
    func forgottenByMailbox() {
        var bench = Bench()
        let serial = bench.run { $0.mailbox("a") { $0.holdLimit = 1 } }
        bench.run {
            $0.apply(
                .attachReader(
                    observer: serial, ConnectionName(node: 1, number: 9),
                    isStream: true))
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
        // Who goes on after what was shown has lost nothing.
        bench.restart()
        bench.run { $0.apply(.readMailbox(observer: serial, through: 2)) }
        #expect(bench.scenario.center.mailbox(of: serial, after: 2, limit: 9)?.gaps.isEmpty == true)
    }

    @Test("what comes out of the replay ring and waits is stored")
    func replayed() {
        var bench = Bench()
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
        var bench = Bench()
        bench.run { $0.say("a1", style: .idle, maxDelay: 9_000_000_000) }
        bench.run { $0.say("a2", style: .asap, keepsLatest: true, modes: ["modal"]) }
        #expect(bench.stored.image.queue.count == 1)
        let record = bench.stored.image.queue.first
        #expect(record?.style == .asap && record?.mergedCount == 1)
        #expect(record?.content.text == "a2" && record?.modes.count == 2)
        bench.run { $0.apply(.endTurn) }
        #expect(bench.stored.image.queue.isEmpty)
    }

    @Test("decision 8: a new block of numbers is reserved before the old one is used up")
    func reservation() {
        var bench = Bench()
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

    @Test("decision 12: what would have to be stored is refused before anything has changed")
    func cannotStore() {
        var bench = Bench()
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
        #expect(outcome("live", details: details("k")) == .refused(.cannotStore))
    }

    @Test("decision 12: a batch with one that must be stored is refused as a whole")
    func cannotStoreBatch() {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observeAcknowledging("ack", by: client) }
        bench.run { $0.sayAll(["a1", "ack1"]) { $0.canStore = false } }
        #expect(bench.scenario.effects.outcome == .refused(.cannotStore))
        #expect(bench.scenario.center.sequence == 0)
    }

    @Test("decision 12: a repeated request is answered though nothing can be stored")
    func replayWithoutStore() {
        var bench = Bench()
        bench.run { $0.say("a1") { $0.details = details("k") } }
        bench.run {
            $0.say("a1") { terms in
                terms.details = details("k")
                terms.canStore = false
            }
        }
        #expect(bench.scenario.effects.outcome == .replayed(form: 2))
    }

    // MARK: Restart

    @Test("a restart has the same observers, held notifications, queue, gaps and keys")
    func restart() {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        let hold = bench.run {
            $0.observe("h", "o", by: client, .hold, since: nil) { $0.holdLimit = 1 }
        }
        bench.run { $0.observe("h", by: client) }
        let gone = bench.run { $0.observe("g", by: client, .hold) }
        bench.run { $0.remove(gone, by: .broker) }
        bench.run { $0.suspend(client) }
        bench.run { $0.say("h1/o") }
        bench.run { $0.say("h2/o") }
        bench.run { $0.say("i1", style: .idle) }
        let key = bench.run { $0.say("k1") { $0.details = details("k") } }
        bench.run { $0.cut(client) }
        let row = bench.scenario.center.observer(hold)
        let sequence = bench.scenario.center.sequence
        bench.restart()
        let restored = bench.scenario.center
        #expect(restored.sequence == sequence && restored.epoch == bytes("k1"))
        #expect(restored.observerCount == 1 && restored.clientCount == 1)
        #expect(restored.observer(hold)?.terms == row?.terms)
        #expect(restored.observer(hold)?.held == 1)
        #expect(restored.observer(hold)?.state == .disconnected)
        #expect(restored.tombstone(gone)?.reason == .removed)
        #expect(bench.scenario.queueTexts == ["i1 idle"])
        bench.run { $0.say("k1") { $0.details = details("k") } }
        #expect(bench.scenario.effects.outcome == .replayed(form: 2))
        #expect(bench.scenario.effects.receipts.map(\.id) == [key])
        bench.run { $0.back(client) }
        bench.run { $0.endSuspension(client) }
        #expect(bench.scenario.frames == ["h2/o*"] && bench.scenario.losses == ["overflow 1"])
        #expect(bench.stored.image.held.isEmpty && bench.stored.image.gaps.isEmpty)
        bench.run { $0.apply(.idle) }
        #expect(bench.scenario.effects.notifications.map(\.content.text) == ["i1"])
    }

    @Test("a restored queue entry is delivered as redelivered")
    func restoredEntry() {
        var bench = Bench()
        bench.run { $0.say("i1", style: .idle) }
        bench.restart()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("i", by: client) }
        bench.run { $0.apply(.idle) }
        #expect(bench.scenario.frames == ["i1*"])
    }

    @Test(
        "law 4: numbers never repeat, whether the end was in order or not",
        arguments: [true, false])
    func numbersNeverRepeat(isComplete: Bool) {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .hold) }
        var seen: Set<UInt64> = []
        for _ in 1...4 {
            for _ in 1...5 {
                bench.run { $0.say("b1") }
                seen.insert(bench.scenario.center.sequence)
            }
            bench.restart(isComplete: isComplete)
        }
        #expect(seen.count == 20)
    }

    @Test("decision 13: after an unclean end who drops is told an unknown gap, once and joined")
    func uncleanEnd() {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("d", by: client, .drop) }
        bench.run { $0.observe("h", by: client, .hold) }
        bench.run { $0.cut(client) }
        bench.run { $0.say("d1") }
        bench.restart(isComplete: false)
        bench.restart(isComplete: true)
        bench.restart(isComplete: false)
        bench.run { $0.back(client) }
        #expect(bench.scenario.losses == ["unknown ?"])
        #expect(bench.scenario.gaps.first?.observer == 1)
        #expect(bench.scenario.gaps.first?.firstSequence == 1)
    }

    @Test("after an end in order the losses of those that drop are exact")
    func cleanEnd() {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("d", by: client, .drop) }
        bench.run { $0.cut(client) }
        bench.run { $0.say("d1") }
        bench.run { $0.say("d2") }
        bench.restart()
        bench.run { $0.say("d3") }
        bench.run { $0.back(client) }
        #expect(bench.scenario.losses == ["dropped 3"])
    }

    @Test("O7: what is left of a lease goes on after a restart")
    func leases() {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .hold) { $0.lease = 100_000_000_000 } }
        bench.run { $0.cut(client) }
        bench.run { $0.pass(milliseconds: 60_000) }
        bench.restart()
        bench.run { $0.pass(milliseconds: 39_999) }
        #expect(bench.scenario.center.observerCount == 1)
        bench.run { $0.pass(milliseconds: 1) }
        #expect(bench.scenario.center.observerCount == 0 && bench.stored.image.observers.isEmpty)
        #expect(bench.stored.image.clients.isEmpty)
    }

    @Test("O7: a mailbox that was just made has its whole lease after a crash, however late it is")
    func newMailbox() {
        var bench = Bench()
        bench.scenario.milliseconds += 100_000_000
        bench.run { $0.mailbox("a") { $0.lease = 100_000_000_000 } }
        #expect(bench.stored.image.clients.map(\.disconnectedFor) == [0])
        bench.restart(isComplete: false)
        bench.run { $0.pass(milliseconds: 99_999) }
        #expect(bench.scenario.center.observerCount == 1)
        bench.run { $0.pass(milliseconds: 1) }
        #expect(bench.scenario.center.observerCount == 0)
    }

    @Test(
        "O7: a look at a mailbox begins its lease anew, also after a crash",
        arguments: [false, true])
    func lookedAt(isPoll: Bool) {
        var bench = Bench()
        let serial = bench.run { $0.mailbox("a") { $0.lease = 600_000_000_000 } }
        for _ in 0..<590 { bench.run { $0.pass(milliseconds: 1_000) } }
        #expect(bench.stored.image.clients.map(\.disconnectedFor) == [540_000_000_000])
        bench.run {
            if isPoll {
                $0.apply(
                    .attachReader(
                        observer: serial, ConnectionName(node: 0, number: 9), isStream: false))
            } else {
                $0.apply(.readMailbox(observer: serial, through: nil))
            }
        }
        #expect(bench.stored.image.clients.map(\.disconnectedFor) == [0])
        bench.restart(isComplete: false)
        bench.run { $0.pass(milliseconds: 599_999) }
        #expect(bench.scenario.center.observerCount == 1)
        bench.run { $0.pass(milliseconds: 1) }
        #expect(bench.scenario.center.observerCount == 0)
    }

    @Test("ttl: what is left of a time to live goes on after a restart")
    func timesToLive() {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("a", by: client, .hold) }
        bench.run { $0.cut(client) }
        bench.run { $0.say("a1", ttl: 5_000_000_000) }
        bench.restart()
        bench.run { $0.pass(milliseconds: 4_999) }
        #expect(bench.scenario.center.heldCount == 1)
        bench.run { $0.pass(milliseconds: 1) }
        #expect(bench.scenario.center.heldCount == 0 && bench.stored.image.held.isEmpty)
    }

    @Test("a key that is over and begins again is the youngest, in the store too")
    func keyBegunAgain() {
        var bench = Bench { $0.keyLifetime = .seconds(1) }
        for text in ["k", "l"] { bench.run { $0.say("a1") { $0.details = details(text) } } }
        bench.scenario.milliseconds += 1_000
        bench.run { $0.say("a1") { $0.details = details("l") } }
        bench.run { $0.say("a1") { $0.details = details("k") } }
        let texts = bench.stored.image.keys.map(\.key.text)
        #expect(texts == [bytes("l"), bytes("k")])
        #expect(bench.changes.count == 1)
    }

    @Test("a mailbox goes on after a restart with what was not acknowledged")
    func mailbox() {
        var bench = Bench()
        let serial = bench.run { $0.mailbox("a") }
        for number in 1...3 { bench.run { $0.say("a\(number)") } }
        bench.run { $0.apply(.readMailbox(observer: serial, through: 1)) }
        bench.restart()
        #expect(bench.scenario.mailTexts(serial, after: 1) == ["a2*", "a3*"])
        bench.run { $0.apply(.readMailbox(observer: serial, through: 3)) }
        #expect(bench.stored.image.held.isEmpty)
    }

    @Test("law 3: what is restored keeps to its order with what comes")
    func orderAfterRestart() {
        var bench = Bench()
        let client = bench.run { $0.connect() }
        bench.run { $0.observeAcknowledging("a", by: client) }
        bench.run { $0.observe("b", by: client, .coalesce) }
        for text in ["a1", "a2"] { bench.run { $0.say(text) } }
        bench.run { $0.cut(client) }
        for text in ["b1", "b2"] { bench.run { $0.say(text) } }
        bench.restart(isComplete: false)
        bench.run { $0.say("b3") }
        bench.run { $0.say("a3") }
        bench.run { $0.back(client) }
        #expect(bench.scenario.frames == ["a1*", "a2*", "b3", "a3"])
    }

    @Test(
        "all that is told of a random history restores a center that says the same",
        arguments: 1...6)
    func randomHistory(seed: UInt64) {
        var bench = Bench { limits in
            limits.queueEntryLimit = 20
            limits.clientHeldCountLimit = 15
            limits.clientHeldByteLimit = 400
            limits.unacknowledgedLimit = 3
            limits.flushByteLimit = 500
            limits.keyLimit = 10
            limits.replayCountLimit = 20
        }
        var source = CommandSource(seed: seed)
        for round in 1...5 {
            for _ in 1...300 {
                let command = source.next()
                bench.scenario.milliseconds = command.time.wallMilliseconds
                bench.run { $0.apply(command.action) }
            }
            checkImage(bench.stored.image, bench.scenario.center)
            // Commands of the source go on naming what there was: some of them are refused now.
            bench.restart(isComplete: round.isMultiple(of: 2))
            checkImage(bench.stored.image, bench.scenario.center)
        }
    }

    private func checkImage(_ image: CenterImage, _ center: NotificationCenter) {
        var query = ObserverQuery()
        query.limit = 10_000
        let rows = center.observers(matching: query) { _, _ in true }.rows
        let lasting = rows.filter { !$0.terms.endsWithConnection }
        check(lasting.map(\.serial) == image.observers.map(\.serial))
        check(Set(lasting.map(\.client)) == Set(image.clients.map(\.id)))
        var held: [(UInt64, UInt64)] = []
        for row in lasting {
            guard let slot = center.observers.slot(of: row.serial) else { continue }
            for entry in center.held.slots(of: center.observers[slot].entries, in: .observer) {
                held.append((center.held.sequence(of: entry), row.serial))
            }
            let gaps = center.observers[slot].gaps.filter {
                $0.reason != .dropped && $0.count != nil
            }
            let stored = image.gaps.filter { $0.observer == row.serial }.map(\.gap)
            for gap in gaps { check(stored.contains(gap)) }
        }
        held.sort { $0 < $1 }
        check(held.map(\.0) == image.held.map(\.sequence))
        check(held.map(\.1) == image.held.map(\.observer))
        check(Set(image.notifications.map(\.notification.sequence)) == Set(held.map(\.0)))
        let queue = center.queue(after: 0, limit: 10_000) { _, _ in true }.rows
        check(Set(queue.map(\.id)) == Set(image.queue.map(\.id)))
        check(center.keys.count == image.keys.count)
        check(center.sequence <= image.sequence)
    }
}
