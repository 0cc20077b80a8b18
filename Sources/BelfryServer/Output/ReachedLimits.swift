import BelfrySystem

/// Which limits are reached now: each is told when it begins, and once more when it is over.
///
/// A limit is over when it was not reached for a while: what is refused is what shows it, so no limit needs an
/// eye on how much there is.
struct ReachedLimits {
    /// How long a limit is not reached before that is over.
    static let quietTime: Duration = .seconds(10)

    private struct State {
        var count = 0
        var lastTime = MonotonicTime.distantFuture
    }

    private var states = [State](repeating: State(), count: ReachableLimit.allCases.count)

    /// Notes that a limit is reached.
    ///
    /// - Returns: whether that begins now, and must be told.
    mutating func meet(_ limit: ReachableLimit, at now: MonotonicTime) -> Bool {
        states[limit.rawValue].count += 1
        states[limit.rawValue].lastTime = now
        return states[limit.rawValue].count == 1
    }

    /// Forgets the limits that are over, and tells how often each was reached.
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

    /// When the next limit may be over; nil when none is reached.
    var nextEnd: MonotonicTime? {
        states.lazy.filter { $0.count > 0 }.map { $0.lastTime + Self.quietTime }.min()
    }
}
