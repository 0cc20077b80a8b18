import BelfryCenter
import BelfryHistory

/// The effects of the log, as the first broker that applied an entry saw them.
struct ClusterTruth {
    struct Dispatch {
        let id: NotificationID
        let content: HistoryContent
    }

    /// The notifications of each center by their numbers, which begin with 1.
    var dispatched: [[UInt8]: [Dispatch]] = [:]
    var accounts: [UInt64: ClusterAccount] = [:]
    /// The index up to which the log is known.
    var index: UInt64 = 0
    /// How many steps of the last entry are known.
    var stepCount = 0
    /// The digests of the past after each entry, and of the state after some.
    var chains: [UInt64: UInt64] = [:]
    var digests: [UInt64: UInt64] = [:]
    /// The index up to which the log's time was judged, and its greatest lead, in nanoseconds.
    var timedIndex: UInt64 = 0
    var believedAhead: Int64 = 100_000_000
}
