/// The purposes of a loop's timers; the number is the payload of such a timer.
enum LoopTimer: UInt64 {
    /// The time of a step of the stop is over.
    case stop
    /// Throttled connections may continue.
    case throttle
    /// A deadline of some center may have come.
    case centers
    /// The time of a request that waits at a mailbox is over.
    case polls
    /// The time of a request that waits for the end of an ask is over.
    case fates
    /// The time of a request that waits for a value is over.
    case values
    /// The time of an answer that waits for the store is over.
    case promises
    /// The drain delay is over.
    case drainDelay
    /// A limit may not be reached any more.
    case limits
    /// Unused centers are searched for.
    case leftCenters
    /// Trimming may continue, at the end of the turn.
    case trims
    /// The counters of all loops are recorded.
    case history
    /// The progress of the start is logged.
    case progress
    /// The log of the cluster checks its deadlines.
    case log
}
