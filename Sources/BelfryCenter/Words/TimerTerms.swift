/// The times at which a post enters the queue (Rules.md, L).
public struct TimerTerms: Sendable, Equatable {
    /// The first due time.
    public enum Start: Sendable, Equatable {
        /// A delay in nanoseconds from the command; for a farewell from the disconnection.
        case after(Int64)
        /// A time in milliseconds since 1970; a past one is now.
        case at(Int64)
    }

    /// The first due time; nil is one period from now, and now without a period.
    public var start: Start?
    /// The nanoseconds between two firings; nil for a timer that fires once.
    public var period: Int64?
    /// Nanoseconds after which a repeating timer ends; nil is never.
    public var lease: Int64?
    /// Whether timers of the same name and object are removed first (rule L1).
    public var replaces: Bool
    /// Whether it fires when its client has been disconnected (rule L10): it is a *farewell*.
    public var isFarewell: Bool

    /// Joins the parts.
    public init(
        start: Start? = nil, period: Int64? = nil, lease: Int64? = nil, replaces: Bool = false,
        isFarewell: Bool = false
    ) {
        self.start = start
        self.period = period
        self.lease = lease
        self.replaces = replaces
        self.isFarewell = isFarewell
    }

    /// Whether it would repeat forever, which needs the grant `forever`.
    public var repeatsForever: Bool { period != nil && lease == nil }

    /// Whether a time of day was asked for.
    var isOfDay: Bool { if case .at = start { true } else { false } }

    /// The whole milliseconds until it is due first, rounded up: no timer is early (rule L2).
    func delay(from time: CommandTime) -> Int64 {
        switch start {
        case .after(let nanoseconds): Self.milliseconds(nanoseconds)
        case .at(let milliseconds): max(0, milliseconds - time.wallMilliseconds)
        case nil: Self.milliseconds(period ?? 0)
        }
    }

    /// Nanoseconds as whole milliseconds, rounded up.
    static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)
    }
}
