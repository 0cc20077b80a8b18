import BelfrySystem

/// A line of the log that clients cause, and that is told once in a while.
struct SeldomLine: Sendable {
    /// For how long it is not told again.
    let interval: Duration
    private var nextTime = MonotonicTime(nanoseconds: .min)
    private var untoldCount = 0

    init(interval: Duration) {
        self.interval = interval
    }

    /// Decides whether the line is told.
    ///
    /// - Returns: how many were not told before it; nil when it is not told either.
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
