import BelfryCenter
import Testing

@testable import BelfryCluster

@Suite("A broker reads the log that it shares (decision 101)")
struct LogReadingTests {
    @Test("what comes too early, or was missed, is read again; what comes twice changes nothing")
    func holes() {
        let scenario = SequencerScenario.up()
        let second = scenario.entry(of: "n2", .nodeUp(level: 1))
        scenario.journal.readAfter = []
        scenario.receive(.entry(index: 3, second.code))
        #expect(scenario.journal.readAfter == [0])
        scenario.log(second)
        scenario.receive(.entry(index: 2, second.code))
        #expect(scenario.shard.logIndex == 2)
        scenario.journal.readAfter = []
        scenario.receive(.beat(Beat(node: [UInt8]("n2".utf8), life: 5, appliedIndex: 3)))
        scenario.pass(1_000)
        #expect(scenario.journal.readAfter == [1])
    }

    @Test("where the last entry that was applied is given up, nothing is missing")
    func trimmedLast() {
        let scenario = SequencerScenario.up()
        scenario.log(scenario.entry(of: "n2", .nodeUp(level: 1)))
        scenario.journal.readAfter = []
        scenario.receive(.trimmed(firstIndex: 3))
        #expect(scenario.journal.readAfter == [2])
        #expect(scenario.journal.loadCount == 1)
        scenario.receive(.trimmed(firstIndex: 4))
        #expect(scenario.journal.loadCount == 2)
        #expect(scenario.told.last == "fenced(BelfryCluster.FenceReason.tooSlow)")
    }

    @Test("a broker that leaves, and was too slow for the log, has left")
    func trimmedLeaving() {
        let scenario = SequencerScenario.up()
        scenario.sequencer.leave()
        scenario.receive(.trimmed(firstIndex: 9))
        #expect(scenario.sequencer.stage == .left)
        #expect(scenario.journal.loadCount == 1)
    }

    @Test("a broker that has stopped gives its first reason")
    func stopsOnce() {
        let scenario = SequencerScenario.up()
        scenario.receive(.entry(index: 2, [1, 200]), .entry(index: 2, [99, 0, 0]))
        #expect(scenario.told == ["stopped(BelfryCluster.StopReason.unreadable(index: 2))"])
    }

    @Test("another entry in the place of one that was applied is a loss")
    func losses() throws {
        let other = SequencerScenario.up()
        other.receive(.entry(index: 1, other.entry(of: "n2", .nodeUp(level: 1)).code))
        #expect(other.sequencer.stage == .stopped(.lostEntries(index: 1)))
        // The log is as long again, with another entry in the place of the last one.
        let replaced = SequencerScenario.up()
        replaced.log(replaced.entry(of: "n2", .nodeUp(level: 1)))
        replaced.receive(.entry(index: 2, replaced.entry(of: "n3", .nodeUp(level: 1)).code))
        #expect(replaced.sequencer.stage == .stopped(.lostEntries(index: 2)))
        let reused = SequencerScenario.up()
        reused.write()
        reused.receive(
            .appended(try #require(reused.journal.appended.last?.name), index: 1))
        #expect(reused.sequencer.stage == .stopped(.lostEntries(index: 1)))
        let past = SequencerScenario.up()
        let entry = past.entry(of: "n2", .nodeUp(level: 1))
        past.log(
            Entry(
                node: entry.node, life: 5, number: 1, appliedIndex: 1, chain: entry.chain ^ 1,
                elapsed: 0, wallMilliseconds: 0, commands: entry.commands))
        #expect(past.sequencer.stage == .stopped(.otherPast(index: 2)))
    }

    @Test("an end before what was applied may be old: the place of the next entry tells")
    func shorter() throws {
        let scenario = SequencerScenario.up()
        scenario.receive(.end(lastIndex: 0))
        #expect(scenario.sequencer.stage == .up)
        // A broker that is on its way back appends, too.
        scenario.pass(2_000, hearing: false)
        #expect(scenario.sequencer.stage == .catchingUp)
        scenario.receive(.end(lastIndex: 0))
        #expect(scenario.sequencer.stage == .comingUp)
        scenario.receive(
            .appended(try #require(scenario.journal.appended.last?.name), index: 1))
        #expect(scenario.sequencer.stage == .stopped(.lostEntries(index: 1)))
    }
}
