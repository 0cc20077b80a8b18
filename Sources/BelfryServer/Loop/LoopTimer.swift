/// What the timers of a loop are for; the number is the payload of such a timer.
enum LoopTimer: UInt64 {
    /// A step of the stop has had its time.
    case stop
    /// Throttled connections go on.
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
    /// It is time to look for centers that were left.
    case leftCenters
    /// What too much is kept of may go on being forgotten; the end of the turn does that.
    case trims
    /// What all loops have counted is noted.
    case history
    /// How far the start has come is logged.
    case progress
    /// The log of the cluster looks at what time has brought.
    case log
}
