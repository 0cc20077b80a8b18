import Testing

@testable import BelfryCenter

@Suite("Archives: clients that come back (rules A7, A9 and A10)")
struct ArchiveResumeTests {
    @Test("A2: a receipt counts a notification that a reader gets twice once")
    func receipt() throws {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        scenario.archive("a")
        let suspended = scenario.connect()
        scenario.observeForLong("a", by: suspended)
        scenario.apply(.setSuspended(client: suspended, true))
        for _ in 0..<2 { scenario.post("a") }
        let client = scenario.connect()
        scenario.observeForLong("a", by: client, since: 0)
        #expect(scenario.told == PastTold(sequences: [1]))
        let id = NotificationID(high: 0xb, low: 3)
        for _ in 0..<2 { scenario.post("a") }
        #expect(scenario.account(id) == Receipt(id, 3, held: 2))
        for number: UInt64 in 2...3 {
            scenario.apply(.drain(client: client))
            #expect(scenario.told == PastTold(sequences: [number]))
        }
        #expect(scenario.account(id) == Receipt(id, 3, delivered: 1, held: 1))
        scenario.disconnect(client)
        scenario.resume(client, after: 2)
        #expect(scenario.told == PastTold(sequences: [3]))
        #expect(scenario.account(id) == Receipt(id, 3, delivered: 1, held: 1))
    }

    @Test("A7: what is held for an observer that reads comes once after a restart")
    func heldAndRead() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a") { $0.isStored = true } }
        let client = stored.run { $0.connect() }
        stored.run { $0.observeForLong("a", by: client) }
        stored.run { $0.apply(.setSuspended(client: client, true)) }
        stored.run { $0.post("a") }
        stored.run { $0.disconnect(client) }
        stored.resume(client, after: 0)
        stored.run { $0.apply(.setSuspended(client: client, true)) }
        stored.restart()
        stored.resume(client, after: nil)
        stored.run { $0.apply(.setSuspended(client: client, false)) }
        #expect(stored.scenario.told == PastTold(sequences: [1]))
    }

    @Test("A10: the second observer gets the named number however often its client comes back")
    func namedTwice() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("a")
        let client = scenario.connect()
        for _ in 0..<2 { scenario.observeForLong("a", by: client) }
        scenario.post("a")
        scenario.disconnect(client)
        let newcomer = scenario.resume(client, after: 1)
        #expect(scenario.told == PastTold(sequences: [1]))
        scenario.apply(
            .disconnect(client: client, connection: connection(newcomer + 100)))
        scenario.post("a")
        scenario.resume(client, after: 1)
        #expect(scenario.told == PastTold(sequences: [1, 2, 2]))
    }

    @Test("A12: who comes back amid the last of each gets those of the ring once")
    func lastEachOfRing() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        scenario.archive("a")
        for object in ["o", "p", "q"] { scenario.post("b", object) }
        let client = scenario.connect()
        var registration = scenario.registration("b", nil, ObserverTerms())
        registration.beginning = .lastEach(1)
        scenario.apply(.addObserver(registration, client: client, since: nil))
        #expect(scenario.told == PastTold(sequences: [1]))
        scenario.disconnect(client)
        scenario.resume(client, after: 1)
        #expect(scenario.told == PastTold(sequences: [2]))
        for sequences: [UInt64] in [[3], []] {
            scenario.apply(.drain(client: client))
            #expect(scenario.told == PastTold(sequences: sequences))
        }
    }

    @Test("A12: who comes back before the newest ones were found gets them")
    func lastNotFound() {
        var scenario = Scenario()
        scenario.archive("a")
        for _ in 0..<3 { scenario.post("a") }
        let client = scenario.connect()
        scenario.apply(.setSuspended(client: client, true))
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        var registration = scenario.registration("a", nil, terms)
        registration.beginning = .last(2)
        scenario.apply(.addObserver(registration, client: client, since: nil))
        scenario.disconnect(client)
        scenario.resume(client, after: 3)
        scenario.apply(.setSuspended(client: client, false))
        #expect(scenario.told == PastTold(sequences: [2, 3]))
    }

    @Test("A10: who comes back with a lower number than before gets all above that number")
    func lowerThanBefore() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("a")
        let client = scenario.connect()
        scenario.observeForLong("a", by: client)
        for _ in 0..<3 { scenario.post("a") }
        scenario.disconnect(client)
        let newcomer = scenario.resume(client, after: 2)
        #expect(scenario.told == PastTold(sequences: [3]))
        scenario.apply(
            .disconnect(client: client, connection: connection(newcomer + 100)))
        scenario.resume(client, after: 1)
        #expect(scenario.told == PastTold(sequences: [2, 3]))
    }

    @Test("A7: nothing that new terms of an archive show again comes behind what was held")
    func shownAgain() {
        var limits = CenterLimits.ring(10)
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        scenario.archive("a") { $0.age = 1_000 }
        let client = scenario.connect()
        var terms = ObserverTerms()
        terms.suspensionBehavior = .coalesce
        let registration = scenario.registration("a", nil, terms)
        scenario.apply(.addObserver(registration, client: client, since: nil))
        scenario.disconnect(client)
        for _ in 0..<2 { scenario.post("a") }
        scenario.milliseconds += 2_000
        scenario.post("a", "o")
        scenario.resume(client, after: 0)
        #expect(scenario.told.sequences == [2])
        scenario.archive("a")
        scenario.apply(.drain(client: client))
        #expect(scenario.told == PastTold(sequences: [3]))
    }

    @Test("A10: a replay that was cut goes on behind its last frame in the next life")
    func cutBeforeRestart() {
        var stored = StoredScenario { ($0.replayCountLimit, $0.flushByteLimit) = (0, 1) }
        stored.run { $0.archive("a") { $0.isStored = true } }
        for _ in 0..<4 { stored.run { $0.post("a") } }
        let client = stored.run { $0.connect() }
        stored.run { $0.observeForLong("b", by: client) }
        stored.run { $0.observeForLong("a", by: client, since: 0) }
        stored.run { $0.apply(.drain(client: client)) }
        #expect(stored.scenario.told == PastTold(sequences: [2]))
        stored.restart()
        stored.resume(client, after: 2)
        #expect(stored.scenario.told == PastTold(sequences: [3]))
    }

    @Test("A10: of a beginning that had ended, what was posted since comes again after a restart")
    func writtenBeforeRestart() {
        var stored = StoredScenario { ($0.replayCountLimit, $0.flushByteLimit) = (0, 1) }
        stored.run { $0.archive("a") { ($0.isStored, $0.count) = (true, 4) } }
        stored.run { $0.post("a") }
        let client = stored.run { $0.connect() }
        stored.run { $0.observeForLong("b", by: client) }
        stored.run { $0.apply(.setSuspended(client: client, true)) }
        stored.run { $0.observeForLong("a", by: client, since: nil, .lastEach(1)) }
        for _ in 0..<4 { stored.run { $0.post("a") } }
        stored.run { $0.apply(.setSuspended(client: client, false)) }
        #expect(stored.scenario.told == PastTold(sequences: [2]))
        stored.run { $0.apply(.drain(client: client)) }
        stored.run { $0.disconnect(client) }
        stored.resume(client, after: nil)
        #expect(stored.scenario.told == PastTold(sequences: [4]))
        // The lines of these three were lost.
        stored.restart()
        stored.resume(client, after: 1)
        #expect(stored.scenario.told.sequences == [2])
    }

    @Test("A9: what a reader had not reached before two restarts is a gap")
    func notReached() {
        var stored = StoredScenario { ($0.replayCountLimit, $0.flushByteLimit) = (0, 1) }
        stored.run { $0.archive("a") { ($0.isStored, $0.count) = (true, 1) } }
        let client = stored.run { $0.connect() }
        for _ in 0..<2 { stored.run { $0.observeForLong("a", by: client) } }
        stored.run { $0.post("a") }
        stored.run { $0.disconnect(client) }
        // The first observer gets the notification again, and the second one waits.
        stored.resume(client, after: 0)
        #expect(stored.scenario.told == PastTold(sequences: [1]))
        stored.run { $0.apply(.setSuspended(client: client, true)) }
        stored.restart()
        stored.run { $0.post("a") }
        stored.resume(client, after: 1)
        stored.run { $0.apply(.setSuspended(client: client, true)) }
        stored.restart()
        stored.resume(client, after: nil)
        stored.run { $0.apply(.setSuspended(client: client, false)) }
        let gaps = stored.scenario.effects.notices.compactMap { notice in
            if case .gap(_, _, let gap) = notice, gap.observer == 2 { gap } else { nil }
        }
        #expect(gaps.map { $0.firstSequence...$0.lastSequence } == [1...1])
    }
}

extension Scenario {
    /// Registers an observer that outlives its connection.
    fileprivate mutating func observeForLong(
        _ name: String, by client: UInt64, since: UInt64? = nil,
        _ beginning: PastBeginning? = nil
    ) {
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        var registration = registration(name, nil, terms)
        registration.beginning = beginning
        apply(.addObserver(registration, client: client, since: since))
    }

    /// Lets a new connection take over a client; tells the number of the newcomer.
    @discardableResult
    fileprivate mutating func resume(_ client: UInt64, after: UInt64?) -> UInt64 {
        let newcomer = connect()
        apply(.resume(Resumption(newcomer: newcomer, client: client, after: after)))
        return newcomer
    }
}

extension StoredScenario {
    fileprivate mutating func resume(_ client: UInt64, after: UInt64?) {
        let newcomer = run { $0.connect() }
        run { $0.apply(.resume(Resumption(newcomer: newcomer, client: client, after: after))) }
    }
}

extension Receipt {
    /// The receipt of a kept notification that two observers match.
    fileprivate init(
        _ id: NotificationID, _ sequence: UInt64, delivered: UInt32 = 0, held: UInt32
    ) {
        self.init(id: id, sequence: sequence, matched: 2, delivered: delivered, held: held)
        isKept = true
    }
}
