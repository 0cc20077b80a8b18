import Testing

@testable import BelfryCenter

@Suite("Shards that apply a whole log (decision 100)")
struct WholeLogTests {
    /// The same command, with an index that its broker had applied where it needs one.
    private static func withIndex(_ action: Command.Action, _ index: Int) -> Command.Action {
        switch action {
        case .disconnect(let client, let connection, let end, _, _):
            .disconnect(
                client: client, connection: connection, end: end,
                appliedIndex: UInt64(index))
        case .resume(let resumption):
            .resume(
                Resumption(
                    newcomer: resumption.newcomer, client: resumption.client,
                    after: resumption.after, appliedIndex: UInt64(index)))
        default: action
        }
    }

    @Test(
        "equal logs give equal shards, also where one is restored between two entries",
        arguments: 1...6)
    func wholeLogs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var sources = [CommandSource(seed: seed), CommandSource(seed: seed &+ 1_000)]
        var log = LogScenario(limits: ReplayInTwoProcessesTests.limits)
        var life: UInt64 = 1
        for node in 1...3 { try log.write("n\(node)", .nodeUp(level: 1)) }
        var restored = log.shard
        var effects = Effects()
        for _ in 0..<300 {
            let node = "n\(1 + generator.below(3))"
            var actions: [ShardCommand.Action] = []
            for _ in 0..<generator.below(5) {
                let center = generator.below(2)
                let name = bytes(["a", "b"][center])
                switch generator.below(40) {
                case 0: actions.append(.endCenter(name))
                case 1, 2: actions.append(.makeCenter(name, epoch: bytes("e\(seed)")))
                default:
                    let action = Self.withIndex(
                        sources[center].next().action,
                        generator.below(Int(log.shard.logIndex) + 1))
                    actions.append(.tell(center: name, action))
                }
            }
            if generator.below(12) == 0 {
                life += 1
                log.restart(node, life: life)
                actions.insert(.nodeUp(level: 1), at: 0)
            }
            var entry = log.entry(
                of: node, elapsed: UInt64(generator.below(200)), actions)
            entry = try Entry(code: entry.code)
            let outcome = try log.apply(entry)
            let other = try LogScenario.apply(entry, to: &restored, &effects)
            #expect(outcome.skip == other.skip)
            let isEqual = outcome.effects == other.effects
            try #require(isEqual, "entry \(log.entries.count)")
            try #require(log.shard.chain == restored.chain)
            if generator.below(10) == 0 {
                let snapshot = log.shard.snapshot()
                #expect(restored.snapshot() == snapshot)
                restored = try Shard(
                    snapshot: snapshot, seed: HashSeed(generator.next(), seed))
                #expect(restored.digest() == log.shard.digest())
            }
        }
        #expect(restored.snapshot() == log.shard.snapshot())
        #expect(log.shard.count > 0)
    }
}
