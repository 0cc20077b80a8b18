import BelfryCluster

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
