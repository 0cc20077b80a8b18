import BelfryCluster
import BelfrySystem

/// What has become of a broker's part in a log, until its loop acts on it.
struct LogPart {
    /// Whether it has begun once.
    var hasBegun = false
    /// Why it cannot go on with its options: the sentence says what to do.
    var conflict: String?
    /// Whether all clients must go: the broker does not take part any more.
    var clientsMustGo = false
    /// Whether the broker has left in order, or cannot go on.
    var isOver = false
    /// Whether an entry of this broker was just applied, so that all is here that was answered before.
    var isSure = false
    /// At how many centers the broker has looked for farewells that go soon, and when it looks again.
    var lookedCenterCount = 0
    var nextLookAtFarewells = MonotonicTime(nanoseconds: 0)
    /// The revision of the limits that hold, as the log of the broker has told it.
    var toldRevision: UInt64 = 0
    /// Why no command is taken, as the other loops were told.
    var told: Unavailability?
}
