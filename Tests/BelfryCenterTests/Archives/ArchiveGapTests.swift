import BelfryJSON
import Testing

@testable import BelfryCenter

@Suite("Archives: losses (rule A9)")
struct ArchiveGapTests {
    @Test("A9: what is past the count and past its age is a gap, though the ring has it")
    func agedInRing() {
        var scenario = Scenario()
        scenario.archive("a") { ($0.count, $0.age) = (1, 1_000) }
        scenario.post("a")
        scenario.post("a")
        #expect(scenario.begin("a", since: 0) == PastTold(sequences: [1, 2]))
        scenario.milliseconds += 2_000
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.begin("a", since: 0) == PastTold(gaps: [1...2]))
    }

    @Test("A9: an archive of some of the channels hides by its age what the ring has of the others")
    func agedInside() {
        var scenario = Scenario()
        scenario.archive("a*") { $0.count = 1 }
        for _ in 0..<2 { scenario.post("ab") }
        scenario.archive("ab*") { $0.age = 1_000 }
        scenario.milliseconds += 2_000
        let wanted = PastTold(sequences: [2], gaps: [1...1])
        #expect(scenario.begin("ab", since: 0) == wanted)
        #expect(scenario.begin(nil, since: 0) == wanted)
        #expect(scenario.beginAt(prefix: "a") == wanted)
    }

    @Test("A9: an archive that is older than a removed one of its prefix has lost nothing with it")
    func olderInside() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("a")
        scenario.archive("a*") { $0.count = 1 }
        for _ in 0..<2 { scenario.post("ab") }
        scenario.archive("a*") { ($0.count, $0.each) = (1, .object) }
        scenario.removeArchive("a*")
        scenario.post("a")
        #expect(scenario.begin("a", since: 0) == PastTold(sequences: [3]))
    }

    @Test("A9: what a shorter prefix forgot whole is of no channel that another one keeps since")
    func forgottenBeside() {
        var scenario = Scenario(limits: .ring(0))
        scenario.post("q")
        scenario.archive("a*") { ($0.count, $0.each) = (1, .object) }
        scenario.post("q")
        scenario.archive("ab")
        for _ in 0..<2 { scenario.post("ac") }
        scenario.archive("a*") { $0.count = 1 }
        scenario.post("ab")
        #expect(scenario.begin("ab", since: 2) == PastTold(sequences: [5]))
        #expect(scenario.begin("ac", since: 2) == PastTold(sequences: [4], gaps: [3...3]))
    }

    @Test(
        "A9: a restart loses what memory had of a channel, which a shorter prefix never had",
        arguments: [("a*", "ab*", [1, 3], [1...2]), ("ab*", "a*", [1, 2, 3], [])])
    func memoryBeside(
        stored: String, inMemory: String, sequences: [UInt64], gaps: [ClosedRange<UInt64>]
    ) {
        var center = StoredScenario { $0.replayCountLimit = 0 }
        center.run { $0.archive(stored) { $0.isStored = true } }
        center.run { $0.post("ab") }
        center.run { $0.archive(inMemory) }
        center.run { $0.post("ab") }
        center.restart()
        center.run { $0.archive("ab") { $0.isStored = true } }
        center.run { $0.post("ab") }
        let told = center.run { $0.begin("ab", since: 0) }
        #expect(told == PastTold(sequences: sequences, gaps: gaps))
    }

    @Test("A9: an age inside hides nothing of the channels beside")
    func agedBeside() {
        var scenario = Scenario()
        scenario.archive("a*") { $0.count = 1 }
        scenario.archive("ab*") { $0.age = 1_000 }
        for _ in 0..<2 { scenario.post("ac") }
        scenario.milliseconds += 2_000
        #expect(scenario.begin(nil, since: 0) == PastTold(sequences: [1, 2]))
    }

    @Test("A9: what a change of kinds leaves behind is a gap for each object")
    func otherKinds() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("a") { $0.count = 1 }
        scenario.post("a", "o")
        scenario.post("a", "q")
        scenario.archive("a") { ($0.count, $0.each) = (1, .object) }
        #expect(scenario.begin("a", object: "o", since: 0) == PastTold(gaps: [1...1]))
    }

    @Test("A9: a channel that a prefix archive has not seen yet was lost before that began")
    func beforePrefix() {
        var scenario = Scenario(limits: .ring(0))
        scenario.post("a.x")
        scenario.archive("a.*")
        #expect(scenario.beginAt(prefix: "a.") == PastTold(gaps: [1...1]))
    }

    @Test("A9: a loss before a prefix archive began is told to observers of a longer prefix, too")
    func beforeShorterPrefix() {
        var scenario = Scenario(limits: .ring(0))
        scenario.post("a.x.1")
        scenario.archive("a.*")
        #expect(scenario.beginAt(prefix: "a.x") == PastTold(gaps: [1...1]))
        #expect(scenario.beginAt(prefix: "a.y") == PastTold())
    }

    @Test("A9: an archive of a prefix knows what was lost beside the channel of that very name")
    func besideExact() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("a")
        scenario.post("ab")
        scenario.archive("a*")
        #expect(scenario.begin("ab", since: 0) == PastTold(gaps: [1...1]))
    }

    @Test("A9: what was removed of other channels is no loss of an archive that begins then")
    func removedElsewhere() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("q")
        scenario.post("q")
        scenario.removeArchive("q")
        for name in ["a", "b*"] { scenario.archive(name) }
        for name in ["a", "b", "z"] {
            #expect(scenario.begin(name, since: 0) == PastTold())
        }
        scenario.archive("q")
        #expect(scenario.begin("q", since: 0) == PastTold(gaps: [1...1]))
    }

    @Test("W11: an archive of a prefix that lost nothing tells no gap to whoever has a condition")
    func underCondition() throws {
        let team = try JSONCondition(bytes(#"{"team":"eng"}"#).span)
        var scenario = Scenario(limits: .ring(1))
        scenario.archive("a.*")
        for _ in 0..<3 { scenario.post("b") }
        let told = scenario.beginAt(prefix: "a.") {
            $0.grants = [GrantCondition(alternatives: [team])]
        }
        #expect(told == PastTold())
    }

    @Test("A9: the losses of an archive that was removed are known to the one that follows")
    func heir() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("a*")
        scenario.archive("a") { $0.count = 1 }
        scenario.post("a")
        scenario.post("a")
        scenario.removeArchive("a")
        scenario.post("a")
        #expect(scenario.begin("a", since: 0) == PastTold(sequences: [3], gaps: [1...2]))
    }

    @Test("A9: what only the ring had, and forgets before a slow reader comes to it, is a gap")
    func ringForgets() {
        var limits = CenterLimits.ring(3)
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        scenario.archive("a") { $0.count = 2 }
        for _ in 0..<3 { scenario.post("a") }
        // The first is in the ring alone, and the second is written in the next step.
        #expect(scenario.begin("a", since: 0) == PastTold(sequences: [1]))
        for _ in 0..<3 { scenario.post("b") }
        scenario.post("a")
        scenario.apply(.drain(client: 1))
        #expect(scenario.told.gaps == [2...2])
    }

    @Test("A9: what the ring shows no more by an age that begins amid a replay is a gap")
    func ageBegins() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1
        var scenario = Scenario(limits: limits)
        scenario.archive("a") { $0.count = 1 }
        for _ in 0..<2 { scenario.post("a") }
        scenario.milliseconds += 2_000
        scenario.post("a")
        #expect(scenario.begin("a", since: 0) == PastTold(sequences: [1]))
        scenario.archive("a") { ($0.count, $0.age) = (1, 1_000) }
        scenario.apply(.drain(client: 1))
        #expect(scenario.told == PastTold(sequences: [3], gaps: [2...2]))
    }

    @Test("A9: an archive in memory alone begins anew with a life, whatever another one knows")
    func anew() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a*") { $0.isStored = true } }
        stored.run { $0.post("a") }
        stored.run { $0.archive("a") }
        stored.run { $0.post("a") }
        stored.restart()
        let told = stored.run { $0.begin("a", since: 1) }
        #expect(told == PastTold(gaps: [2...2]))
    }

    @Test("A9: what memory alone had is lost with a life, though a longer archive follows it")
    func lostBeforeLonger() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a*") }
        stored.run { $0.post("ab") }
        stored.run { $0.archive("ab") { $0.isStored = true } }
        for _ in 0..<2 { stored.restart() }
        let told = stored.run { $0.begin("ab", since: 0) }
        #expect(told == PastTold(gaps: [1...1]))
    }

    @Test("A9: an archive that the store keeps from now on still lacks what a life before had")
    func storedLater() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a*") }
        stored.run { $0.post("a") }
        stored.restart()
        stored.run { $0.archive("a*") { $0.isStored = true } }
        stored.restart()
        let told = stored.run { $0.begin("a", since: 0) }
        #expect(told == PastTold(gaps: [1...1]))
    }

    @Test("A9: what memory alone had of a removed archive is lost to the one that follows")
    func heirOfAnew() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a*") { $0.isStored = true } }
        stored.run { $0.archive("ab") }
        stored.run { $0.post("ab") }
        stored.restart()
        let restored = stored.scenario.center.sequence
        stored.run { $0.removeArchive("ab") }
        let told = stored.run { $0.begin("ab", since: 0) }
        #expect(told == PastTold(gaps: [1...restored]))
    }

    @Test("A9: a removed archive does not tell one in memory what that had in its last life")
    func heirThatForgot() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a*") { $0.isStored = true } }
        stored.run { $0.post("ab") }
        stored.run { $0.archive("ab") }
        stored.run { $0.post("ab") }
        stored.restart()
        let restored = stored.scenario.center.sequence
        stored.run { $0.removeArchive("a*") }
        stored.run { $0.post("ab") }
        let told = stored.run { $0.begin("ab", since: 1) }
        #expect(told == PastTold(sequences: [restored + 1], gaps: [2...restored]))
    }

    @Test("A9: what memory alone had before a longer archive was made is lost in each later life")
    func anewTwice() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a*") }
        stored.run { $0.post("ab") }
        let lost = stored.scenario.center.sequence
        stored.run { $0.archive("ab") { $0.isStored = true } }
        stored.run { $0.post("ab") }
        for _ in 0..<3 { stored.restart() }
        let told = stored.run { $0.begin("ab", since: 0) }
        #expect(told.sequences == [lost + 1])
        #expect(told.gaps.first?.contains(lost) == true)
    }

    @Test("A9: what memory alone had of one channel is no loss of others")
    func anewBesideOthers() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a") }
        for name in ["a", "b"] { stored.run { $0.post(name) } }
        stored.run { $0.archive("a*") { $0.isStored = true } }
        stored.run { $0.post("ab") }
        stored.restart()
        let told = stored.run { $0.begin("ab", since: 0) }
        #expect(told == PastTold(sequences: [3]))
    }

    @Test("A9: what goes by its age with the first command of a life is known to the next one")
    func agedAtStart() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a") { ($0.isStored, $0.age) = (true, 1_000) } }
        stored.run { $0.post("a") }
        stored.scenario.milliseconds += 2_000
        stored.beginAgain()
        stored.run { $0.apply(.passTime(workLimit: .max)) }
        stored.restart()
        let told = stored.run { $0.begin("a", since: 0) }
        #expect(told == PastTold(gaps: [1...1]))
    }

    @Test("A5: a start without archives of the configuration keeps what is posted then, too")
    func storedAfterStart() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("a") { $0.isStored = true } }
        stored.beginAgain()
        stored.run { $0.post("a") }
        let sequence = stored.scenario.center.sequence
        stored.beginAgain()
        #expect(stored.scenario.keptNumbers() == [sequence])
    }

    @Test("A9: an archive that was made behind a longer one never had its channels")
    func madeBehind() {
        var stored = StoredScenario { $0.replayCountLimit = 0 }
        stored.run { $0.archive("ab") { $0.isStored = true } }
        stored.run { $0.post("ab") }
        stored.run { $0.archive("a*") }
        stored.restart()
        stored.run { $0.archive("a*") { $0.isStored = true } }
        let told = stored.run { $0.begin("ab", since: 0) }
        #expect(told == PastTold(sequences: [1]))
    }

    @Test("A6: new terms with an age and a count end what is past both for the ring, too")
    func agedAndCounted() {
        var scenario = Scenario()
        scenario.archive("a")
        for _ in 0..<5 { scenario.post("a") }
        scenario.milliseconds += 2_000
        scenario.archive("a") { ($0.count, $0.age) = (2, 1_000) }
        scenario.archive("a")
        #expect(scenario.begin("a", since: 0) == PastTold(gaps: [1...5]))
    }
}

extension Scenario {
    /// Registers an observer of a prefix that begins at the oldest number; tells what it gets.
    fileprivate mutating func beginAt(
        prefix: String, _ change: (inout FilterTerms) -> Void = { _ in }
    ) -> PastTold {
        var filter = FilterTerms()
        filter.namePrefix = bytes(prefix)
        change(&filter)
        observe(filter, by: connect(), since: 0)
        return told
    }
}

extension StoredScenario {
    /// Stops in order, and begins again with the limits as they were.
    fileprivate mutating func beginAgain() {
        run { $0.apply(.terminate) }
        scenario.center = stored.restored(
            limits: limits, isComplete: true, time: scenario.time)
    }
}
