import BelfryLoop
import BelfrySystem

/// The progress of a loop's stop.
struct StopSequence {
    /// The number of other loops that have no more commands.
    var settledCount = 0
    /// Whether the centers were terminated.
    var hasTerminated = false
    /// The number of sealed loops, as the first loop knows.
    var sealedCount = 0
    /// Whether another process may take the data.
    var isReleased = false
    /// The number of other loops that have no more answers for connections of this one.
    var answeredCount = 0
    /// The time until which begun requests hold up the seal.
    var sealDeadline = MonotonicTime.distantFuture
    /// The timer of the next step.
    var timer: TimerID?
    /// The time when the last connection must be gone.
    var deadline = MonotonicTime.distantFuture
    /// Clients that were told to leave, and are closed one group after another.
    var waiting: [Int] = []
    /// The number of clients in a group.
    var groupCount = 1

    /// The time between two groups, and between two checks of begun requests.
    static let interval: Duration = .milliseconds(50)
    /// The least size of a group: few clients need no spreading.
    static let quickGroupCount = 10
    /// The most time that a client should wait before it reconnects.
    static let reconnectSpread: Duration = .seconds(5)
    /// The time that clients wait for the release of a store from which no commit is expected.
    static let patienceWithNothing: Duration = .milliseconds(750)
    /// The most time for which begun requests, and posts that wait for observers, hold up the seal.
    static let patience: Duration = .seconds(5)
}
