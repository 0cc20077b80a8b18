/// How many notifications observers have lost since the center was made, by reason.
///
/// A notification that several observers lose counts once for each. Where nobody can know how many were
/// lost, the gap counts as one. What a replay makes good later stays counted.
public struct Losses: Sendable, Equatable {
    private var dropped: UInt64 = 0
    private var coalesced: UInt64 = 0
    private var overflow: UInt64 = 0
    private var expired: UInt64 = 0
    private var unknown: UInt64 = 0
    /// The losses of all reasons: who looks whether there are more compares one number.
    public private(set) var total: UInt64 = 0

    /// No loss yet.
    public init() {}

    /// The losses of one reason.
    public internal(set) subscript(reason: Gap.Reason) -> UInt64 {
        get {
            switch reason {
            case .dropped: dropped
            case .coalesced: coalesced
            case .overflow: overflow
            case .expired: expired
            case .unknown: unknown
            }
        }
        set {
            total = total &+ newValue &- self[reason]
            switch reason {
            case .dropped: dropped = newValue
            case .coalesced: coalesced = newValue
            case .overflow: overflow = newValue
            case .expired: expired = newValue
            case .unknown: unknown = newValue
            }
        }
    }

    /// Counts what an observer lost.
    mutating func add(_ gap: GapRecord) {
        self[gap.reason] &+= UInt64(gap.count ?? 1)
    }

    /// Adds what came to these losses after others were known.
    public mutating func add(_ now: Losses, since known: Losses) {
        for reason in Gap.Reason.allCases { self[reason] &+= now[reason] &- known[reason] }
    }
}
