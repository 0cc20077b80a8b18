import BelfrySystem

/// Where a loop stands on its way to the end.
struct StopSequence {
    /// Whether it has begun to stop.
    var isStopping = false
    /// Other loops whose centers have stopped.
    var settledCount = 0
    /// Whether the loop ends with this turn.
    var isOver = false
    /// When the last connection must be gone.
    var deadline = MonotonicTime.distantFuture
    /// Clients that were told to go, and are closed one group after another.
    var waiting: [Int] = []
    /// How many are closed at a time.
    var groupCount = 1

    /// The time between two groups.
    static let interval: Duration = .milliseconds(50)
    /// Few clients need no spreading: up to so many are closed in each interval.
    static let quickGroupCount = 10
    /// How long a client should wait before it comes back, at most.
    static let reconnectSpread: Duration = .seconds(5)
}
