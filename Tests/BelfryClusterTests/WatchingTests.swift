import BelfryCenter
import Testing

@testable import BelfryCluster

@Suite("Brokers that share a log watch themselves and each other")
struct WatchingTests {
    private static let n2 = [UInt8]("n2".utf8)

    /// A broker that is up beside another one.
    private static func two(change: (inout ClusterOptions) -> Void = { _ in }) -> SequencerScenario
    {
        let scenario = SequencerScenario.up(change: change)
        scenario.log(scenario.entry(of: "n2", .nodeUp(level: 1)))
        scenario.told = []
        return scenario
    }

    /// The ends of lives that were appended, each once.
    private static func downs(_ scenario: SequencerScenario) -> [String] {
        scenario.journal.appended.enumerated().filter { place, appended in
            !scenario.journal.appended[..<place].contains { $0.name == appended.name }
        }.map(\.element).flatMap(\.entry.commands).compactMap {
            if case .nodeDown(let name, _) = $0.action {
                return String(decoding: name, as: UTF8.self)
            }
            return nil
        }
    }

    @Test(
        "a broker that hears nothing for 2 s ends its life, and what it does not know it does not tell"
    )
    func fence() {
        let scenario = Self.two()
        scenario.write()
        for _ in 0..<3 { scenario.write() }
        scenario.submit()
        scenario.pass(1_900, hearing: false)
        #expect(scenario.sequencer.stage == .up)
        scenario.pass(100, hearing: false)
        #expect(scenario.sequencer.stage == .catchingUp)
        #expect(scenario.told.last == "fenced(BelfryCluster.FenceReason.heardNothing)")
        #expect(scenario.told.contains("failed 2 unknownOutcome"))
        #expect(scenario.submit() == .failure(.fenced))
    }

    @Test("its own beats are no sign that somebody hears it")
    func ownBeat() {
        let scenario = Self.two()
        for _ in 0..<20 {
            scenario.receive(.beat(Beat(node: [UInt8]("n1".utf8), life: 1, appliedIndex: 0)))
            scenario.pass(100, hearing: false)
        }
        #expect(scenario.sequencer.stage == .catchingUp)
    }

    @Test("on another connection, what is under way is appended again at once")
    func reconnection() {
        let scenario = Self.two()
        scenario.write()
        scenario.write()
        let names = scenario.names
        scenario.receive(.reconnected)
        #expect(scenario.names == names + names.suffix(2))
    }

    @Test("a fenced broker begins another life once it hears the engine")
    func newLife() {
        let scenario = Self.two()
        let life = scenario.sequencer.life
        scenario.pass(2_000, hearing: false)
        scenario.receive(.end(lastIndex: 2))
        #expect(scenario.sequencer.stage == .comingUp)
        #expect(scenario.sequencer.life > life)
        scenario.log()
        #expect(scenario.sequencer.stage == .up)
        #expect(scenario.sequencer.seat == 3)
    }

    @Test("a broker that reads the end of its life knows what is not in the log")
    func declaredDown() {
        let scenario = Self.two()
        let life = scenario.sequencer.life
        scenario.write()
        scenario.log(scenario.entry(of: "n2", .nodeDown([UInt8]("n1".utf8), life: life)))
        #expect(
            scenario.told.suffix(3) == [
                "broker([110, 49], BelfryCluster.BrokerChange.ended(by: [110, 50]))",
                "failed 2 unavailable(BelfryCluster.Unavailability.fenced)",
                "fenced(BelfryCluster.FenceReason.declaredDown)",
            ])
    }

    @Test("a broker that is silent for 2.5 s is declared down, and by the next rank 200 ms later")
    func down() {
        let first = Self.two()
        first.pass(2_400)
        #expect(Self.downs(first) == [])
        first.pass(100)
        #expect(Self.downs(first) == ["n2"])
        // It is asked for again where the log does not show it.
        first.pass(900)
        #expect(Self.downs(first).count == 1)

        let second = SequencerScenario("n1")
        second.receive(.snapshot(nil))
        second.log(second.entry(of: "n2", .nodeUp(level: 1)))
        second.receive(.end(lastIndex: 1))
        second.log()
        second.pass(2_600)
        #expect(Self.downs(second) == [])
        second.pass(100)
        #expect(Self.downs(second) == ["n2"])
    }

    @Test("a broker that stood still itself has heard the others just now")
    func standstill() {
        let scenario = Self.two()
        scenario.now += 20_000
        scenario.receive(.beat(Beat(node: [UInt8]("n9".utf8), life: 1, appliedIndex: 0)))
        scenario.sequencer.tick(scenario.shard, at: scenario.now * 1_000_000)
        scenario.turn()
        #expect(Self.downs(scenario) == [])
        scenario.pass(2_400)
        #expect(Self.downs(scenario) == [])
        scenario.pass(100)
        #expect(Self.downs(scenario) == ["n2"])
    }

    @Test(
        "a broker that comes back, or has another connection, has heard the others just now",
        arguments: [true, false])
    func hearsAgain(isFenced: Bool) {
        let scenario = Self.two()
        scenario.pass(1_900, hearing: false)
        if isFenced {
            scenario.pass(8_000, hearing: false)
            #expect(scenario.sequencer.stage == .catchingUp)
            scenario.receive(.end(lastIndex: 2))
            scenario.log()
        } else {
            scenario.receive(.reconnected)
        }
        #expect(scenario.sequencer.stage == .up)
        scenario.pass(2_400)
        #expect(Self.downs(scenario) == [])
        scenario.pass(100)
        #expect(Self.downs(scenario) == ["n2"])
    }

    @Test("a broker that hears nobody ends no other one")
    func deafness() {
        let scenario = Self.two()
        scenario.pass(700)
        scenario.pass(1_900, hearing: false)
        #expect(scenario.sequencer.stage == .up)
        #expect(Self.downs(scenario) == [])
        scenario.pass(100)
        #expect(Self.downs(scenario) == ["n2"])
    }

    @Test("it tells which brokers come and go while it takes part, and who has ended a life")
    func others() {
        let scenario = Self.two()
        scenario.log(scenario.entry(of: "n3", .nodeUp(level: 1)))
        let end = ShardCommand.Action.nodeDown([UInt8]("n3".utf8), life: 5)
        scenario.log(scenario.entry(of: "n2", end))
        scenario.log(scenario.entry(of: "n2", end))
        scenario.log(scenario.entry(of: "n2", .nodeDown(Self.n2, life: 5)))
        #expect(
            scenario.told.filter { $0.hasPrefix("broker") } == [
                "broker([110, 51], BelfryCluster.BrokerChange.came)",
                "broker([110, 51], BelfryCluster.BrokerChange.ended(by: [110, 50]))",
                "broker([110, 50], BelfryCluster.BrokerChange.left)",
            ])
    }

    @Test("a log that stands still for 30 s ends a life although the others are heard")
    func quorum() {
        let scenario = Self.two { $0.downAfter = .max / 4 }
        scenario.write()
        scenario.pass(29_900)
        #expect(scenario.sequencer.stage == .up)
        scenario.pass(100)
        #expect(scenario.told.last == "fenced(BelfryCluster.FenceReason.noQuorum)")
    }

    @Test("it beats each half second, and asks the engine when it has heard nobody for so long")
    func beats() {
        let scenario = Self.two()
        scenario.pass(2_000)
        #expect(scenario.journal.beats.count == 4)
        let count = scenario.names.count
        scenario.pass(500, hearing: false)
        #expect(scenario.names.count == count + 1)
    }

    @Test("it tells how far it is within half a second of what others did, and once")
    func untold() {
        let scenario = Self.two()
        scenario.pass(500)
        scenario.log()
        let count = Set(scenario.names).count
        scenario.log(scenario.entry(of: "n2", .makeCenter([97], epoch: [98])))
        scenario.pass(500)
        #expect(Set(scenario.names).count == count + 1)
        #expect(scenario.journal.appended.last?.entry.appliedIndex == scenario.shard.logIndex)
        scenario.log()
        scenario.log(scenario.entry(of: "n2", .nothing))
        scenario.pass(1_000)
        #expect(Set(scenario.names).count == count + 1)
    }

    @Test(
        "a deadline that nobody brings about has an entry of the first rank, and of the next 200 ms later"
    )
    func due() {
        let lease = ShardCommand.Action.tell(
            center: [97],
            .post(
                Post(
                    id: NotificationID(high: 0x7000, low: 1),
                    content: Notification.Content(name: [110]),
                    options: PostOptions(
                        style: .asap, coalescing: [],
                        timer: TimerTerms(
                            start: .after(5_000_000_000), period: nil, lease: nil, replaces: false,
                            isFarewell: false))),
                {
                    var terms = PostTerms()
                    terms.details = PostTerms.Details(
                        scope: .everything,
                        setter: PostTerms.TimerSetter(
                            client: nil,
                            principal: TimerRecord.Principal(name: [112], hasKey: true),
                            byteRoom: 1 << 20))
                    return terms
                }()))
        let scenario = Self.two { $0.downAfter = .max / 4 }
        scenario.log(scenario.entry(of: "n2", .makeCenter([97], epoch: [98]), lease))
        scenario.pass(500)
        scenario.log()
        let count = scenario.names.count
        scenario.pass(4_400)
        #expect(scenario.names.count == count)
        scenario.pass(200)
        #expect(scenario.names.count == count + 1)
        scenario.log()
        #expect(scenario.shard.centers[0].sequence == 1)
    }

    @Test("the first rank keeps a snapshot, and gives up the log before the one before it")
    func snapshots() {
        let scenario = Self.two {
            $0.downAfter = .max / 4
            $0.snapshotInterval = 3_000_000_000
        }
        scenario.pass(3_000)
        #expect(scenario.journal.saved.map(\.index) == [2])
        scenario.receive(.saved(index: 2))
        #expect(scenario.journal.trimmed == [])
        scenario.log(scenario.entry(of: "n2", .nothing))
        scenario.pass(3_000)
        #expect(scenario.journal.saved.map(\.index).last == scenario.shard.logIndex)
        scenario.receive(.saved(index: scenario.shard.logIndex))
        #expect(scenario.journal.trimmed == [2])
        // A late answer about an earlier one gives up nothing.
        scenario.receive(.saved(index: 2))
        #expect(scenario.journal.trimmed == [2])
    }

    @Test("a broker leaves behind all that it has taken, and takes nothing more")
    func leave() {
        let scenario = Self.two()
        scenario.submit(.makeCenter([97], epoch: [98]))
        scenario.sequencer.leave()
        #expect(scenario.submit() == .failure(.draining))
        let end = ShardCommand.Action.tell(
            center: [97],
            .disconnect(client: 1, connection: ConnectionName(node: 1, number: 1)))
        #expect((try? scenario.submit(end).get()) != nil)
        scenario.turn()
        #expect(Self.downs(scenario) == [])
        scenario.log()
        #expect(Self.downs(scenario) == ["n1"])
        #expect(scenario.sequencer.stage == .leaving)
        scenario.log()
        #expect(
            scenario.told == [
                "step 2 made", "step 3 told", "step 4 lifeEnded([110, 49])", "left",
            ])
        #expect(scenario.sequencer.stage == .left)
    }

    @Test("a broker that is not up leaves at once")
    func leaveEarly() {
        let scenario = SequencerScenario()
        scenario.sequencer.leave()
        scenario.turn()
        #expect(scenario.told == ["left"])
    }
}
