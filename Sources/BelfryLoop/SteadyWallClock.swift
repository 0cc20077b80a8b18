internal import BelfrySystem

/// The wall clock as the monotonic one and an offset, which stays until the clock is set.
///
/// Two clocks cannot be read at one moment. With a constant offset, a timer that waited for a time
/// of one clock finds the other one as far: a timer that is due at a millisecond is not posted in
/// the one before.
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
