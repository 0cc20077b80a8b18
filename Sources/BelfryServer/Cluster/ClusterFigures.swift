import BelfryCenter
import BelfryCluster
import BelfryLoop
import Synchronization

/// The figures of a cluster for the metrics; the loop that applies the log updates them.
struct ClusterFigures: Sendable {
    /// Whether a broker of the log takes part.
    enum NodeState: String, CaseIterable {
        case up
        case down
    }

    var isReady = false
    var index: UInt64 = 0
    var lag: UInt64 = 0
    var level: UInt64 = 0
    var nodes: [NodeState: Int] = [:]
    var fences: [FenceReason: UInt64] = [:]
    var unknownOutcomeCount: UInt64 = 0
    /// Whether the limits in this broker's options differ from those of the log.
    var configurationDiffers = false
    var appends = AppendFigures()
    var holeCount: UInt64 = 0
    var logByteCount: UInt64 = 0
    /// The time for which the last snapshot is known.
    var snapshotAge = Duration.zero
}

extension ServerLoop {
    /// Updates the figures of the cluster for the metrics.
    func noteClusterFigures() {
        guard let log = host.centers.log else { return }
        let shard = host.centers.shard
        outbox.shared.cluster.withLock { figures in
            figures.isReady = log.unavailability == nil
            figures.index = shard.logIndex
            figures.lag = log.replicated.lag
            figures.level = shard.level
            let upCount = shard.brokers.count { $0.isUp }
            figures.nodes = [.up: upCount, .down: shard.brokers.count - upCount]
            figures.appends = log.appendFigures
            figures.holeCount = log.replicated.holeCount
            figures.logByteCount = engine?.journal.logByteCount ?? 0
            figures.snapshotAge = engine?.snapshotAge(at: outbox.loop.now) ?? .zero
            figures.configurationDiffers = shard.limits != outbox.configuration.centerLimits
        }
    }
}
