internal import CBelfrySystem

/// A point in civil time, in milliseconds since 1970-01-01T00:00:00Z without leap seconds.
///
/// It is for people and for other machines; waits and expirations use `MonotonicTime`.
public struct WallTime: Hashable, Comparable, Sendable {
    /// The milliseconds since the start of 1970.
    public var milliseconds: Int64

    /// Creates a time from a number of milliseconds.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Reads the clock.
    public static func now() -> WallTime {
        WallTime(milliseconds: nowInNanoseconds() / 1_000_000)
    }

    /// Whether the clock of this machine is synchronized, as by NTP; nil where that is unknown.
    public static func isSynchronized() -> Bool? {
        let outcome = belfry_wall_is_synchronized()
        return outcome < 0 ? nil : outcome == 1
    }

    /// Reads the clock, in nanoseconds since the start of 1970.
    public static func nowInNanoseconds() -> Int64 { belfry_wall_nanoseconds() }

    /// Tells which time comes first.
    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The time a duration later, to the millisecond.
    public static func + (time: WallTime, duration: Duration) -> WallTime {
        let step = duration.nanoseconds / 1_000_000
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(step)
        guard overflow else { return WallTime(milliseconds: sum) }
        return WallTime(milliseconds: step < 0 ? .min : .max)
    }

    /// The time a duration earlier, to the millisecond.
    public static func - (time: WallTime, duration: Duration) -> WallTime {
        time + (.zero - duration)
    }

    /// The duration from the right time to the left one.
    public static func - (left: WallTime, right: WallTime) -> Duration {
        .milliseconds(left.milliseconds) - .milliseconds(right.milliseconds)
    }
}
