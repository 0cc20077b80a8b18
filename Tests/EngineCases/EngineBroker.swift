import BelfryCenter
import BelfryCluster
import BelfrySystem

/// A broker without connections: a sequencer and its shard, on a journal of the engine.
final class EngineBroker {
    let link: EngineLink
    let sequencer: ReplicatedSequencer
    private(set) var shard: Shard
    private var effects = Effects()
    /// Whether it began with a snapshot, and how often its life has ended.
    private(set) var hasLoaded = false
    private(set) var fenceCount = 0
    /// The centers that it has made; a command that came to nothing is submitted again.
    private var wanted: [CommandID: Int] = [:]
    private var unsent: [Int] = []

    init(_ link: EngineLink, _ change: (inout ClusterOptions) -> Void = { _ in }) {
        self.link = link
        shard = Shard(limits: CenterLimits(), seed: HashSeed(1, 2))
        var options = ClusterOptions(node: Array(link.journal.settings.node.utf8))
        change(&options)
        sequencer = ReplicatedSequencer(
            options, journal: link.journal, at: MonotonicTime.now().nanoseconds,
            random: {
                var random = SystemRandom()
                return random.next()
            }, wallMilliseconds: { WallTime.now().milliseconds })
    }

    var isUp: Bool { sequencer.stage == .up }
    /// Whether all centers that it was to make are in the log.
    var isDone: Bool { wanted.isEmpty && unsent.isEmpty }

    /// Makes a center of each number.
    func makeCenters(_ numbers: Range<Int>) { unsent += numbers }

    /// One turn.
    func turn() {
        let now = MonotonicTime.now().nanoseconds
        while let happening = sequencer.next(&shard, at: now, into: &effects) {
            switch happening {
            case .loaded: hasLoaded = true
            case .step(let step): if let id = step.id { wanted[id] = nil }
            case .failed(let id, _):
                if let number = wanted.removeValue(forKey: id) { unsent.append(number) }
            case .fenced:
                fenceCount += 1
                unsent += wanted.values
                wanted = [:]
            case .began, .broker, .left: break
            case .stopped(let reason): fail("a broker has stopped: \(reason)")
            }
        }
        if isUp, let number = unsent.popLast() {
            let name = Array("\(link.journal.settings.node)-\(number)".utf8)
            let id = try? sequencer.submit(.makeCenter(name, epoch: name), at: now)
            if let id { wanted[id] = number } else { unsent.append(number) }
        }
        sequencer.endTurn(at: now)
        sequencer.tick(shard, at: now)
    }
}
