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

/// Lines that clients cause: of each kind one a second is told.
struct SeldomLines {
    enum Kind: Int, CaseIterable {
        case tooSlow
        case slowest
    }

    private var lines = [SeldomLine](
        repeating: SeldomLine(interval: .seconds(1)), count: Kind.allCases.count)

    /// Decides whether a line is told.
    ///
    /// - Returns: how many of its kind were not told before it; nil when it is not told either.
    mutating func admit(_ kind: Kind, at now: MonotonicTime) -> Int? {
        lines[kind.rawValue].admit(at: now)
    }
}
