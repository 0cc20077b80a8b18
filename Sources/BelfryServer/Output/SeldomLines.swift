import BelfrySystem

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
