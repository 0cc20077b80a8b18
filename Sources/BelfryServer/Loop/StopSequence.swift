import BelfryLoop
import BelfrySystem

/// Where a loop stands on its way to the end.
struct StopSequence {
    /// Other loops that have nothing more.
    var settledCount = 0
    /// Whether the centers were told of the end for the last time.
    var hasTerminated = false
    /// The loops whose centers take none, as the first one knows.
    var sealedCount = 0
    /// Whether another process may have the data.
    var isReleased = false
    /// Other loops that know so, and have no answer any more for connections of this one.
    var answeredCount = 0
    /// Until when what was begun holds up the seal.
    var sealDeadline = MonotonicTime.distantFuture
    /// The timer of the next step.
    var timer: TimerID?
    /// When the last connection must be gone.
    var deadline = MonotonicTime.distantFuture
    /// Clients that were told to go, and are closed one group after another.
    var waiting: [Int] = []
    /// How many are closed at a time.
    var groupCount = 1

    /// The time between two groups, and between two looks at what was begun.
    static let interval: Duration = .milliseconds(50)
    /// Few clients need no spreading: up to so many are closed in each interval.
    static let quickGroupCount = 10
    /// How long a client should wait before it comes back, at most.
    static let reconnectSpread: Duration = .seconds(5)
    /// How long clients wait for the release of a store of which nothing can be expected.
    static let patienceWithNothing: Duration = .milliseconds(750)
    /// How long requests that were begun, and posts that wait for observers, hold up the seal at most.
    static let patience: Duration = .seconds(5)
}
