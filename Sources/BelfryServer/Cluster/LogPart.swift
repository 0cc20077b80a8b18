import BelfryCluster
import BelfrySystem

/// The state of a broker's part in a log, until its loop acts on it.
struct LogPart {
    /// Whether the part has begun once.
    var hasBegun = false
    /// The reason why it cannot continue with its options: a sentence that says what to do.
    var conflict: String?
    /// Whether all clients must go, since the broker no longer takes part.
    var clientsMustGo = false
    /// Whether the broker has left in order, or cannot continue.
    var isOver = false
    /// Whether an entry of this broker was just applied, and so all answered before it are.
    var isSure = false
    /// The number of centers that were checked for farewells, and the time of the next check.
    var lookedCenterCount = 0
    var nextLookAtFarewells = MonotonicTime(nanoseconds: 0)
    /// The revision of the limits that was logged last.
    var toldRevision: UInt64 = 0
    /// The unavailability that the other loops know.
    var told: Unavailability?
}
