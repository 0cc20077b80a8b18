import BelfrySystem

/// The limits that are reached now: each is logged when that begins, and once more when it is over.
///
/// It is over when the limit was not reached for a while: refusals show it, so no limit needs to be
/// watched.
struct ReachedLimits {
    /// The time without a refusal after which a limit is no longer reached.
    static let quietTime: Duration = .seconds(10)

    private struct State {
        var count = 0
        var lastTime = MonotonicTime.distantFuture
    }

    private var states = [State](repeating: State(), count: ReachableLimit.allCases.count)

    /// Records that a limit is reached.
    ///
    /// - Returns: whether that begins now, and must be logged.
    mutating func meet(_ limit: ReachableLimit, at now: MonotonicTime) -> Bool {
        states[limit.rawValue].count += 1
        states[limit.rawValue].lastTime = now
        return states[limit.rawValue].count == 1
    }

    /// Removes the limits that are over, and returns how often each was reached.
    mutating func takeEnded(at now: MonotonicTime) -> [(limit: ReachableLimit, count: Int)] {
        var ended: [(limit: ReachableLimit, count: Int)] = []
        for limit in ReachableLimit.allCases {
            let state = states[limit.rawValue]
            guard state.count > 0, state.lastTime + Self.quietTime <= now else { continue }
            ended.append((limit, state.count))
            states[limit.rawValue] = State()
        }
        return ended
    }

    /// The next time at which a limit may be over; nil when none is reached.
    var nextEnd: MonotonicTime? {
        states.lazy.filter { $0.count > 0 }.map { $0.lastTime + Self.quietTime }.min()
    }
}
