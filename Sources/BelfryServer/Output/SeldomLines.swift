import BelfrySystem

/// Lines of the log that clients cause: one a second of each kind is written.
struct SeldomLines {
    enum Kind: Int, CaseIterable {
        case tooSlow
        case slowest
    }

    private var lines = [SeldomLine](
        repeating: SeldomLine(interval: .seconds(1)), count: Kind.allCases.count)

    /// Decides whether a line is written.
    ///
    /// - Returns: how many of its kind were suppressed before; nil when it is suppressed, too.
    mutating func admit(_ kind: Kind, at now: MonotonicTime) -> Int? {
        lines[kind.rawValue].admit(at: now)
    }
}
