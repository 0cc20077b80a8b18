internal import BelfrySystem

/// Reports when a store begins to refuse promises for its backlog, and when that is over.
///
/// Under load this comes and goes many times a second; it is over when none was refused for a
/// while.
struct Backlog {
    /// How long nothing was refused when it is over.
    static let calmInterval: Duration = .seconds(5)

    private var refusalCount: UInt64 = 0
    private var countAtStart: UInt64 = 0
    private var refusalTime: MonotonicTime?

    /// Notes how many promises the backlog has refused so far.
    mutating func note(refusalCount count: UInt64, at now: MonotonicTime) -> StoreNotice? {
        let hasMore = count > refusalCount
        let earlier = refusalCount
        refusalCount = count
        if hasMore {
            defer { refusalTime = now }
            guard refusalTime == nil else { return nil }
            countAtStart = earlier
            return .behind(refusalCount: count - earlier)
        }
        guard let last = refusalTime, now >= last + Self.calmInterval else { return nil }
        refusalTime = nil
        return .caughtUp(refusalCount: count - countAtStart)
    }
}
