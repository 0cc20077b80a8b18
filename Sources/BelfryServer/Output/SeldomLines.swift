import BelfrySystem

/// Lines that clients cause: of each kind one a second is told.
struct SeldomLines {
    enum Kind: Int, CaseIterable {
        case tooSlow
        case slowest
    }

    private struct State {
        var nextTime = MonotonicTime(nanoseconds: .min)
        var untoldCount = 0
    }

    private var states = [State](repeating: State(), count: Kind.allCases.count)

    /// Decides whether a line is told.
    ///
    /// - Returns: how many of its kind were not told before it; nil when it is not told either.
    mutating func admit(_ kind: Kind, at now: MonotonicTime) -> Int? {
        guard now >= states[kind.rawValue].nextTime else {
            states[kind.rawValue].untoldCount += 1
            return nil
        }
        defer { states[kind.rawValue] = State(nextTime: now + .seconds(1)) }
        return states[kind.rawValue].untoldCount
    }
}
