@testable import BelfryCenter

/// A log that brokers write, and one shard that applies it.
struct LogScenario {
    private(set) var shard: Shard
    private(set) var entries: [Entry] = []
    /// The digests behind the entries, by their indexes.
    private var chains: [UInt64] = [0]
    /// How far each broker has written, by its name.
    private var writers: [String: (life: UInt64, number: UInt64, counter: UInt64)] = [:]
    var effects = Effects()

    init(limits: CenterLimits = CenterLimits()) {
        shard = Shard(limits: limits, seed: HashSeed(1, 2))
    }

    /// How an entry has ended.
    struct Outcome {
        var skip: Shard.Skip?
        var steps: [Shard.Step] = []
        /// The effects of each step, as text.
        var effects: [String] = []

        var results: [Shard.Result] { steps.filter { $0.id != nil }.map(\.result) }
    }

    /// The next entry of a broker, which has applied all of the log, or up to an index.
    mutating func entry(
        of node: String, elapsed: UInt64 = 0, applied: UInt64? = nil,
        _ actions: ShardCommand.Action...
    ) -> Entry {
        entry(of: node, elapsed: elapsed, applied: applied, actions)
    }

    mutating func entry(
        of node: String, elapsed: UInt64 = 0, applied: UInt64? = nil,
        _ actions: [ShardCommand.Action]
    ) -> Entry {
        let applied = applied ?? shard.logIndex
        var writer = writers[node] ?? (life: 1, number: 0, counter: 0)
        writer.number += 1
        let commands = actions.map { action in
            writer.counter += 1
            return Entry.Numbered(counter: writer.counter, action: action)
        }
        writers[node] = writer
        return Entry(
            node: bytes(node), life: writer.life, number: writer.number,
            appliedIndex: applied, chain: chains[Int(applied)], elapsed: elapsed,
            wallMilliseconds: 1_700_000_000_000 + Int64(entries.count), commands: commands)
    }

    /// A broker begins another life.
    mutating func restart(_ node: String, life: UInt64) {
        writers[node] = (life: life, number: 0, counter: 0)
    }

    /// The shard is restored from its own snapshot.
    mutating func restore() throws {
        shard = try Shard(snapshot: shard.snapshot(), seed: HashSeed(shard.chain, 6))
    }

    /// Lets the shard apply an entry.
    @discardableResult
    mutating func apply(_ entry: Entry) throws -> Outcome {
        entries.append(entry)
        defer { if chains.count == shard.logIndex { chains.append(shard.chain) } }
        return try Self.apply(entry, to: &shard, &effects)
    }

    /// Lets the shard apply an entry, and shows what each step brings about.
    mutating func apply(
        _ entry: Entry, _ visit: (Shard.Step, Effects) -> Void
    ) throws -> Shard.Skip? {
        entries.append(entry)
        defer { if chains.count == shard.logIndex { chains.append(shard.chain) } }
        let skip = try shard.begin(entry)
        while let step = shard.step(into: &effects) { visit(step, effects) }
        return skip
    }

    static func apply(
        _ entry: Entry, to shard: inout Shard, _ effects: inout Effects
    ) throws -> Outcome {
        var outcome = Outcome(skip: try shard.begin(entry))
        while let step = shard.step(into: &effects) {
            outcome.steps.append(step)
            outcome.effects.append("\(step) \(effects)")
        }
        return outcome
    }

    /// Writes and applies an entry.
    @discardableResult
    mutating func write(
        _ node: String, elapsed: UInt64 = 0, _ actions: ShardCommand.Action...
    ) throws -> Outcome {
        try apply(entry(of: node, elapsed: elapsed, actions))
    }
}
