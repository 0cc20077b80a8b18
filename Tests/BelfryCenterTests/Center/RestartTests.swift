import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what a restart begins with (decision 20)")
struct RestartTests {
    @Test("a restart has the same observers, held notifications, queue, gaps and keys")
    func restart() {
        var bench = StoredScenario()
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
        let key = bench.run { $0.say("k1") { $0.details = .keyed("k") } }
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
        bench.run { $0.say("k1") { $0.details = .keyed("k") } }
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
        var bench = StoredScenario()
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
        var bench = StoredScenario()
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

    @Test("decision 20: after an unclean end who drops is told an unknown gap, once and joined")
    func uncleanEnd() {
        var bench = StoredScenario()
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

    @Test(
        "law 3: what a client was written in spite of suspension says nothing of its losses",
        arguments: [(false, 1_048_576), (true, 2_097_152)] as [(Bool, UInt64)])
    func writtenInSpiteOfSuspension(restartsAgain: Bool, last: UInt64) {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("d", by: client, .drop) }
        bench.run { $0.suspend(client) }
        bench.run { $0.say("d1") }
        bench.run { $0.say("d2", isImmediate: true) }
        #expect(bench.scenario.frames == ["d2"] && bench.scenario.losses == [])
        bench.restart(isComplete: false)
        bench.run { $0.endSuspension(client) }
        // It has not asked for suspension any more, and was not told yet.
        if restartsAgain { bench.restart(isComplete: false) }
        bench.run { $0.back(client, after: 2) }
        #expect(bench.scenario.lossRanges == ["unknown ? 1...\(last)"])
        // It was told, and knows from now on by the numbers that it sees.
        bench.restart(isComplete: false)
        bench.run { $0.back(client, after: last) }
        #expect(
            bench.scenario.lossRanges == ["unknown ? \(last + 1)...\(last + 1_048_576)"])
    }

    @Test(
        "law 3, decision 62: who has seen the last number before an end in order is told no gap",
        arguments: [
            (true, 2, []), (true, 1, ["unknown ? 2...2", "unknown ? 1...2"]),
            // Notifications that were dispatched before a crash and not stored are unknown.
            (false, 2, ["unknown ? 3...1048576", "unknown ? 2...1048576"]),
        ] as [(Bool, UInt64, [String])])
    func seenAll(isComplete: Bool, after: UInt64, losses: [String]) {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        for _ in 1...2 { bench.run { $0.observe("h", by: client, .hold) } }
        // Deliveries that it has not answered would be held.
        let answering = bench.run { $0.observeAcknowledging("h", by: client) }
        for number: UInt64 in 1...2 {
            bench.run { $0.say("h\(number)") }
            bench.run { $0.acknowledge(answering, number) }
        }
        bench.restart(isComplete: isComplete)
        bench.run { $0.say("h3") }
        bench.run { $0.back(client, after: after) }
        #expect(bench.scenario.frames == ["h3", "h3", "h3"])
        #expect(bench.scenario.lossRanges == losses)
    }

    @Test("law 3: the frame of an observer that acknowledges may be lost before it was stored")
    func unstoredCopy() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        for _ in 1...2 {
            bench.run { $0.observe("d", by: client, .drop) { $0.acknowledges = true } }
        }
        bench.scenario.say("d1")
        #expect(bench.scenario.frames == ["d1", "d1"])
        bench.restart(isComplete: false)
        // It has seen the frame of the first; that of the second may have been on its way.
        bench.run { $0.back(client, after: 1) }
        #expect(bench.scenario.frames == [])
        #expect(bench.scenario.gaps.map(\.firstSequence) == [2, 1])
    }

    @Test(
        """
        decision 62: what others were sent behind the last \
        that a client was written is no loss of its
        """,
        arguments: [
            // It has a connection at the end, or was away, and the store was told before a crash.
            (false, true, 1, []), (true, true, 1, ["unknown ? 1...1"]),
            (true, false, 1, ["unknown ? 1...1"]), (true, true, 2, []),
            (false, false, 1, ["unknown ? 2...1048576", "unknown ? 1...1048576"]),
        ] as [(Bool, Bool, UInt64, [String])])
    func seenOwn(isAway: Bool, isComplete: Bool, after: UInt64, losses: [String]) {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        for _ in 1...2 { bench.run { $0.observe("h", by: client, .hold) } }
        bench.run { $0.say("h1") }
        if isAway {
            bench.run { $0.cut(client) }
            // Each minute the store is told of those that are away.
            bench.run { $0.pass(milliseconds: 60_000) }
        }
        for _ in 1...3 { bench.run { $0.say("other") } }
        bench.restart(isComplete: isComplete)
        bench.run { $0.back(client, after: after) }
        #expect(bench.scenario.lossRanges == losses)
    }

    @Test("after an end in order the losses of those that drop are exact")
    func cleanEnd() {
        var bench = StoredScenario()
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
        var bench = StoredScenario()
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
        var bench = StoredScenario()
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
        var bench = StoredScenario()
        let serial = bench.run { $0.mailbox("a") { $0.lease = 600_000_000_000 } }
        for _ in 0..<590 { bench.run { $0.pass(milliseconds: 1_000) } }
        #expect(bench.stored.image.clients.map(\.disconnectedFor) == [540_000_000_000])
        bench.run {
            if isPoll {
                $0.apply(
                    .readMailbox(
                        observer: serial, through: nil, wait: ConnectionName(node: 0, number: 9)))
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

    @Test("O7: an observer that joins a mailbox has its whole lease after a crash")
    func joinedMailbox() {
        var bench = StoredScenario()
        let first = bench.run { $0.mailbox("a") { $0.lease = 600_000_000_000 } }
        for _ in 0..<590 { bench.run { $0.pass(milliseconds: 1_000) } }
        let client = bench.scenario.center.observer(first)?.client ?? 0
        let second = bench.run { $0.observe("b", by: client, .hold) { $0.lease = 600_000_000_000 } }
        bench.restart(isComplete: false)
        bench.run { $0.pass(milliseconds: 599_999) }
        #expect(bench.scenario.center.observer(second) != nil)
        bench.run { $0.pass(milliseconds: 1) }
        #expect(bench.scenario.center.observer(second) == nil)
    }

    @Test("ttl: what is left of a time to live goes on after a restart")
    func timesToLive() {
        var bench = StoredScenario()
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
        var bench = StoredScenario { $0.keyLifetime = .seconds(1) }
        for text in ["k", "l"] { bench.run { $0.say("a1") { $0.details = .keyed(text) } } }
        bench.scenario.milliseconds += 1_000
        bench.run { $0.say("a1") { $0.details = .keyed("l") } }
        bench.run { $0.say("a1") { $0.details = .keyed("k") } }
        let texts = bench.stored.image.keys.map(\.key.text)
        #expect(texts == [bytes("l"), bytes("k")])
        // The old one goes, and the new one comes behind all others.
        #expect(bench.changes.count == 2)
    }

    @Test("a mailbox goes on after a restart with what was not acknowledged")
    func mailbox() {
        var bench = StoredScenario()
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
        var bench = StoredScenario()
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

    @Test("rule D6: of two restored ones of a kind only the last is replaced, also when it expires")
    func lastOfAKindAfterRestart() {
        var bench = StoredScenario()
        let client = bench.run { $0.connect() }
        bench.run { $0.observe("b", by: client, .coalesce) }
        bench.run { $0.cut(client) }
        bench.run { $0.say("b1", isImmediate: true) }
        bench.run { $0.say("b2", isImmediate: true, ttl: 1_000_000_000) }
        bench.restart()
        _ = bench.turn(after: 2_000)
        bench.run { $0.say("b3") }
        #expect(bench.scenario.effects.receipts.map(\.coalesced) == [0])
        bench.run { $0.back(client) }
        #expect(bench.scenario.frames == ["b1*", "b3"])
    }

    @Test(
        "all that is told of a random history restores a center that says the same",
        arguments: 1...6)
    func randomHistory(seed: UInt64) {
        var bench = StoredScenario { limits in
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
            guard let slot = center.registry.observers.slot(of: row.serial) else { continue }
            for entry in center.backlog.held.slots(
                of: center.registry.observers[slot].entries, in: .observer)
            {
                held.append((center.backlog.held.sequence(of: entry), row.serial))
            }
            let gaps = center.registry.observers[slot].gaps.filter {
                $0.reason != .dropped && $0.count != nil
            }
            let stored = image.gaps.filter { $0.observer == row.serial }.map(\.gap)
            for gap in gaps { check(stored.contains(gap)) }
        }
        held.sort { $0 < $1 }
        check(held.map(\.0) == image.held.map(\.sequence))
        check(held.map(\.1) == image.held.map(\.observer))
        check(Set(image.notifications.map(\.notification.sequence)) == Set(held.map(\.0)))
        let queue = center.queue(matching: ObserverQuery(limit: 10_000) { $0.isWaiting = false }) {
            _, _ in true
        }.rows
        check(Set(queue.map(\.id)) == Set(image.queue.map(\.id)))
        check(center.history.keys.count == image.keys.count)
        check(center.sequence <= image.sequence)
    }
}
