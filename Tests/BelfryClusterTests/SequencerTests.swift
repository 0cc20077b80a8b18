import BelfryCenter
import Testing

@testable import BelfryCluster

@Suite("A broker and the log that it shares (decision 101)")
struct SequencerTests {
    private static let a = [UInt8]("a".utf8)
    /// A command of so many bytes, about.
    private static func command(byteCount: Int) -> ShardCommand.Action {
        .makeCenter(a, epoch: [UInt8](repeating: 1, count: byteCount))
    }

    // MARK: The begin of a life

    @Test("it loads, catches up, and begins a life; before that it takes no command")
    func begin() {
        let scenario = SequencerScenario()
        #expect(scenario.journal.loadCount == 1)
        #expect(scenario.submit() == .failure(.catchingUp))
        scenario.receive(.snapshot(nil))
        #expect(scenario.journal.readAfter == [0])
        scenario.log(scenario.entry(of: "n2", .nodeUp(level: 1)))
        #expect(scenario.sequencer.stage == .catchingUp)
        scenario.receive(.end(lastIndex: 1))
        #expect(scenario.sequencer.stage == .comingUp)
        #expect(scenario.submit() == .failure(.catchingUp))
        scenario.log()
        #expect(scenario.sequencer.stage == .up)
        #expect(scenario.told.suffix(2) == ["step 1 began(seat: 2)", "began(seat: 2)"])
        #expect(
            scenario.submit()
                == .success(CommandID(node: 2, incarnation: scenario.sequencer.life, counter: 2)))
    }

    @Test("it goes on from a snapshot, and one that was made by a newer program stops it")
    func snapshot() throws {
        let first = SequencerScenario.up()
        first.write(.makeCenter(Self.a, epoch: Self.a))
        first.log()
        let state = first.shard.snapshot()
        let second = SequencerScenario("n2")
        second.receive(.snapshot(JournalSnapshot(index: 2, state: state)))
        #expect(second.told == ["loaded"])
        #expect(second.journal.readAfter == [1])
        #expect(second.shard.digest() == first.shard.digest())
        let third = SequencerScenario("n3")
        third.receive(.snapshot(JournalSnapshot(index: 2, state: [99] + state.dropFirst())))
        #expect(third.sequencer.stage == .stopped(.tooOld(index: 2)))
        let fourth = SequencerScenario("n4")
        fourth.receive(.snapshot(JournalSnapshot(index: 2, state: state.dropLast())))
        #expect(fourth.sequencer.stage == .stopped(.brokenSnapshot(index: 2)))
    }

    @Test("a log that begins behind the snapshot cannot be read")
    func noSnapshot() {
        let scenario = SequencerScenario()
        for _ in 0..<3 {
            #expect(scenario.sequencer.stage != .stopped(.noSnapshot(firstIndex: 9)))
            scenario.receive(.snapshot(nil), .trimmed(firstIndex: 9))
        }
        scenario.receive(.snapshot(nil))
        #expect(scenario.sequencer.stage == .stopped(.noSnapshot(firstIndex: 9)))
    }

    @Test("a log that is empty begins with the rules of the first program, and no other log does")
    func firstLevel() {
        let first = SequencerScenario(level: 3)
        first.receive(.snapshot(nil), .end(lastIndex: 0))
        first.log()
        #expect(first.shard.level == 3)
        let second = SequencerScenario(level: 3)
        second.receive(.snapshot(nil))
        second.log(second.entry(of: "n2", .nodeUp(level: 2), .level(2)))
        second.receive(.end(lastIndex: 1))
        second.log()
        #expect(second.sequencer.stage == .up)
        #expect(second.shard.level == 2)
    }

    @Test("a program that does not know the rules, or an entry, stops and says so")
    func tooOld() {
        let first = SequencerScenario(level: 1)
        first.receive(.snapshot(nil))
        first.log(first.entry(of: "n2", .nodeUp(level: 2), .level(2)))
        first.receive(.end(lastIndex: 1))
        first.log()
        #expect(first.sequencer.stage == .stopped(.tooOldForLevel(2)))
        let second = SequencerScenario.up()
        second.receive(.entry(index: 2, [99, 0, 0]))
        #expect(second.sequencer.stage == .stopped(.tooOld(index: 2)))
        #expect(second.submit() == .failure(.stopped(.tooOld(index: 2))))
        let third = SequencerScenario.up()
        third.receive(.entry(index: 2, [1, 200]))
        #expect(third.sequencer.stage == .stopped(.unreadable(index: 2)))
    }

    @Test("another process of its name ends its life, and it does not begin another")
    func nameIsTaken() {
        let scenario = SequencerScenario.up()
        let taken = scenario.entry(of: "n1", .nodeUp(level: 1))
        scenario.log(
            Entry(
                node: taken.node, life: scenario.sequencer.life + 1, number: 1,
                appliedIndex: taken.appliedIndex, chain: taken.chain, elapsed: 0,
                wallMilliseconds: 0, commands: taken.commands))
        #expect(scenario.sequencer.stage == .stopped(.nameIsTaken))
    }

    @Test("a snapshot that knows another past than the broker stops it")
    func otherSnapshot() {
        let first = SequencerScenario.up()
        for _ in 0..<3 {
            first.write()
            first.log()
        }
        let second = SequencerScenario.up()
        second.log(second.entry(of: "n2", .nodeUp(level: 1)))
        second.receive(
            .trimmed(firstIndex: 4),
            .snapshot(JournalSnapshot(index: 4, state: first.shard.snapshot())))
        #expect(second.sequencer.stage == .stopped(.otherPast(index: 2)))
    }

    @Test("a life that cannot begin before the log is trimmed begins anew behind the snapshot")
    func lateBeginning() throws {
        let broker = SequencerScenario()
        broker.receive(.snapshot(nil), .end(lastIndex: 0))
        let first = try #require(broker.journal.appended.last)
        // The log has that at its first place, and the broker does not hear of it.
        let other = SequencerScenario("n2")
        other.receive(.snapshot(nil))
        other.log(first.entry)
        other.log(other.entry(of: "n3", .nodeUp(level: 1)))
        broker.receive(
            .trimmed(firstIndex: 2),
            .snapshot(JournalSnapshot(index: 2, state: other.shard.snapshot())))
        broker.receive(.appended(first.name, index: 1), .end(lastIndex: 2))
        #expect(broker.sequencer.stage == .comingUp)
        let again = try #require(broker.journal.appended.last)
        #expect(again.name.life > first.name.life)
        #expect(again.name.number == 1)
        broker.receive(.entry(index: 3, again.entry.code))
        #expect(broker.sequencer.stage == .up)
    }

    // MARK: Entries

    @Test("commands of a turn are one entry, and no more than four entries are under way")
    func batches() {
        let scenario = SequencerScenario.up()
        scenario.submit()
        scenario.submit()
        #expect(scenario.names == ["1.0"])
        scenario.turn()
        #expect(scenario.names == ["1.0", "2.0"])
        #expect(scenario.journal.appended[1].entry.commands.count == 2)
        for _ in 0..<5 { scenario.write() }
        #expect(scenario.names.count == 1 + ClusterOptions.entryLimit)
        scenario.log(fromLast: 3)
        #expect(scenario.names.count == 2 + ClusterOptions.entryLimit)
        #expect(scenario.journal.appended.last?.entry.commands.count == 2)
    }

    @Test(
        "an entry has so many commands, and so many bytes, and one alone may have more, up to what the engine takes"
    )
    func entryLimits() {
        let scenario = SequencerScenario.up()
        let commandLimit = scenario.sequencer.options.commandLimit
        for _ in 0...commandLimit { scenario.submit() }
        scenario.turn()
        #expect(
            scenario.journal.appended.dropFirst().map(\.entry.commands.count)
                == [commandLimit, 1])
        let half = ClusterOptions.gatheredByteLimit / 2
        let overhead =
            Entry.Numbered(counter: 1, action: Self.command(byteCount: half)).byteCount - half
        for more in [0, 1] {
            scenario.submit(Self.command(byteCount: half - overhead))
            scenario.submit(Self.command(byteCount: half - overhead + more))
            scenario.turn()
        }
        #expect(scenario.journal.appended.dropFirst(3).map(\.entry.commands.count) == [2, 1])
        let other = SequencerScenario.up {
            $0.entryByteLimit = 2 * ClusterOptions.gatheredByteLimit
        }
        let limit = other.sequencer.options.commandByteLimit
        let smaller = limit - overhead
        #expect(
            other.submit(Self.command(byteCount: smaller + 1))
                == .failure(.tooLarge(byteLimit: limit)))
        other.write(Self.command(byteCount: smaller))
        #expect(other.journal.appended.last?.entry.commands.count == 1)
        #expect(
            (other.journal.appended.last?.entry.code.count ?? .max)
                <= other.sequencer.options.entryByteLimit)
        // Where an entry is smaller than what is gathered otherwise, less is gathered.
        let small = SequencerScenario.up { $0.entryByteLimit = 64 << 10 }
        for _ in 0..<3 { small.submit(Self.command(byteCount: 40 << 10)) }
        small.turn()
        #expect(small.journal.appended.dropFirst().map(\.entry.commands.count) == [1, 1, 1])
    }

    @Test("so many commands wait for the log, and no more; one that must happen is taken")
    func waitingLimits() {
        let scenario = SequencerScenario.up()
        for _ in 0..<ClusterOptions.waitingLimit {
            #expect((try? scenario.submit().get()) != nil)
        }
        #expect(scenario.submit() == .failure(.busy))
        let end = ShardCommand.Action.tell(
            center: Self.a,
            .disconnect(client: 1, connection: ConnectionName(node: 1, number: 1)))
        #expect((try? scenario.submit(end).get()) != nil)
        let other = SequencerScenario.up()
        for _ in 0..<128 { other.submit(Self.command(byteCount: 512 << 10)) }
        #expect(other.submit() == .failure(.busy))
    }

    @Test("an entry that came before the one in front of it is appended again behind that")
    func order() {
        let scenario = SequencerScenario.up()
        scenario.write()
        scenario.write()
        scenario.log()
        #expect(scenario.names == ["1.0", "2.0", "3.0"])
        scenario.log(fromLast: 1)
        #expect(scenario.names == ["1.0", "2.0", "3.0", "3.1"])
        scenario.log()
        #expect(
            scenario.told.filter { $0.hasPrefix("step") } == ["step 2 done", "step 3 done"])
        // The log has the first attempt twice: it counts once.
        scenario.log(fromLast: 2)
        #expect(scenario.told.filter { $0.hasPrefix("step") }.count == 2)
    }

    @Test("an entry that the log does not show is appended again under its name, ever less often")
    func retries() {
        let scenario = SequencerScenario.up()
        scenario.write()
        var count = 2
        for pause: Int64 in [400, 800, 1_500, 1_500] {
            scenario.pass(pause - 100)
            #expect(scenario.names.count == count)
            scenario.pass(100)
            count += 1
            #expect(scenario.names.count == count)
        }
        #expect(Set(scenario.names) == ["1.0", "2.0"])
    }

    @Test("after 8 s nobody knows; what was not appended in 1.5 s is not in the log")
    func outcomes() {
        let scenario = SequencerScenario.up()
        for _ in 0..<4 { scenario.write() }
        scenario.write()
        scenario.pass(1_400)
        #expect(scenario.told == [])
        scenario.pass(100)
        #expect(scenario.told == ["failed 6 unavailable(BelfryCluster.Unavailability.noQuorum)"])
        scenario.pass(6_400)
        #expect(scenario.told.count == 1)
        scenario.pass(100)
        #expect(scenario.told.dropFirst() == (2...5).map { "failed \($0) unknownOutcome" }[...])
        // The log has it after all: its submitter does not learn that, but every broker applies it.
        scenario.log(scenario.journal.appended[1].entry)
        #expect(scenario.told.last == "step 2 done")
    }

    @Test("an engine without room says so, and the number of the entry is used all the same")
    func full() throws {
        let scenario = SequencerScenario.up()
        scenario.write()
        let name = try #require(scenario.journal.appended.last?.name)
        scenario.receive(.refused(name, .isFull))
        #expect(scenario.told == ["failed 2 unavailable(BelfryCluster.Unavailability.full)"])
        scenario.pass(1_500)
        #expect(scenario.journal.appended.last?.name == name)
        #expect(scenario.journal.appended.last?.entry.commands.isEmpty == true)
        scenario.log()
        scenario.write()
        scenario.log()
        #expect(scenario.told.last == "step 3 done")
    }

    @Test(
        "an entry that was appended twice may be in the log, whatever the engine says of the second"
    )
    func fullAgain() throws {
        let scenario = SequencerScenario.up()
        scenario.write()
        scenario.pass(1_500)
        scenario.receive(.refused(try #require(scenario.journal.appended.last?.name), .isFull))
        #expect(scenario.told == ["failed 2 unknownOutcome"])
        scenario.pass(1_500)
        #expect(scenario.journal.appended.last?.entry.commands.count == 1)
    }

    @Test("it says how far it is with the entry whose effects have left")
    func handed() {
        let scenario = SequencerScenario.up()
        scenario.now = 70
        scenario.log(scenario.entry(of: "n2", .nodeUp(level: 1)))
        scenario.now = 95
        scenario.write()
        let entry = scenario.journal.appended.last?.entry
        #expect(entry?.appliedIndex == 2)
        #expect(entry?.chain == scenario.shard.chain)
        #expect(entry?.elapsed == 25)
    }

    @Test("what entries say of the past stands still while an end of a connection waits")
    func endsThatWait() {
        let scenario = SequencerScenario.up()
        let end = ShardCommand.Action.tell(
            center: Self.a,
            .disconnect(
                client: 1, connection: ConnectionName(node: 1, number: 1), appliedIndex: 1))
        let large = Self.command(byteCount: ClusterOptions.gatheredByteLimit)
        for _ in 0..<ClusterOptions.entryLimit { scenario.write(large) }
        scenario.submit(large)
        scenario.submit(end)
        func said() -> UInt64? { scenario.journal.appended.last?.entry.appliedIndex }
        // The next entry has no room for it.
        scenario.log(fromLast: ClusterOptions.entryLimit - 1)
        #expect(said() == 1)
        #expect(scenario.journal.appended.last?.entry.commands.count == 1)
        scenario.log(fromLast: ClusterOptions.entryLimit - 1)
        #expect(said() == 3)
    }
}
