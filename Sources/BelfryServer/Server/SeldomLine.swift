import BelfrySystem

/// A line of the log that clients cause, and that is written once in a while.
struct SeldomLine: Sendable {
    /// The time for which it is not written again.
    let interval: Duration
    private var nextTime = MonotonicTime(nanoseconds: .min)
    private var untoldCount = 0

    init(interval: Duration) {
        self.interval = interval
    }

    /// Decides whether the line is written.
    ///
    /// - Returns: how many were suppressed before it; nil when it is suppressed, too.
    mutating func admit(at now: MonotonicTime) -> Int? {
        guard now >= nextTime else {
            untoldCount += 1
            return nil
        }
        defer {
            nextTime = now + interval
            untoldCount = 0
        }
        return untoldCount
    }
}
