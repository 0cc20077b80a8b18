import BelfryCenter

/// The effects of the log, as the first broker that applied an entry saw them.
struct ClusterTruth {
    struct Dispatch {
        let id: NotificationID
        let name: [UInt8]
    }

    /// The notifications of each center by their numbers, which begin with 1.
    var dispatched: [[UInt8]: [Dispatch]] = [:]
    var accounts: [UInt64: ClusterAccount] = [:]
    /// The index up to which the log is known, and the digest after each entry.
    var index: UInt64 = 0
    /// How many steps of the last entry are known.
    var stepCount = 0
    var chains: [UInt64: UInt64] = [:]
    /// The index up to which the log's time was judged, and its greatest lead, in nanoseconds.
    var timedIndex: UInt64 = 0
    var believedAhead: Int64 = 100_000_000
    var digests: [UInt64: UInt64] = [:]
}
