internal import CBelfrySystem

/// A point on the clock that never goes back, in nanoseconds since an arbitrary start.
public struct MonotonicTime: Hashable, Comparable, Sendable {
    /// The nanoseconds since the clock's start.
    public var nanoseconds: Int64

    /// Creates a time from a number of nanoseconds.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The last time that there is, for what never comes.
    public static let distantFuture = MonotonicTime(nanoseconds: .max)

    /// Reads the clock.
    public static func now() -> MonotonicTime {
        MonotonicTime(nanoseconds: belfry_monotonic_nanoseconds())
    }

    /// Tells which time comes first.
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The time a duration later; past the end of the clock it is the end.
    public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
        guard overflow else { return MonotonicTime(nanoseconds: sum) }
        return MonotonicTime(nanoseconds: time.nanoseconds < 0 ? .min : .max)
    }

    /// The time a duration earlier.
    public static func - (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        time + (.zero - duration)
    }

    /// The duration from the right time to the left one; beyond 292 years it is that long.
    public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        let (difference, overflow) =
            left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        guard overflow else { return .nanoseconds(difference) }
        return .nanoseconds(left < right ? Int64.min : Int64.max)
    }

    /// Moves the time on by a duration.
    public static func += (time: inout MonotonicTime, duration: Duration) {
        time = time + duration
    }
}

extension Duration {
    /// The whole nanoseconds of the duration, at most what an `Int64` holds (292 years).
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard overflow || carry else { return sum }
        return seconds < 0 ? .min : .max
    }
}
