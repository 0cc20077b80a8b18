internal import BelfrySystem

/// The wall clock as the monotonic one and an offset, which stays until somebody sets the clock.
///
/// Nobody can read two clocks at one moment. With an offset that stays, what has waited for a time
/// of the one clock finds the other one as far: a timer that is told as due at a millisecond is not
/// posted in the one before.
struct SteadyWallClock {
    /// By how much two readings may disagree; past that the clock was set.
    static let toleranceNanoseconds: Int64 = 1_000_000

    private var offset: Int64

    /// Creates a clock from a reading of both.
    init(at now: MonotonicTime, reading nanoseconds: Int64) {
        offset = nanoseconds &- now.nanoseconds
    }

    /// Whether a reading of both clocks agrees with those before.
    func agrees(at now: MonotonicTime, reading nanoseconds: Int64) -> Bool {
        let difference = nanoseconds &- now.nanoseconds &- offset
        return difference.magnitude <= Self.toleranceNanoseconds.magnitude
    }

    /// The wall time at a monotonic one.
    func time(at now: MonotonicTime) -> WallTime {
        WallTime(milliseconds: (now.nanoseconds &+ offset) / 1_000_000)
    }
}
