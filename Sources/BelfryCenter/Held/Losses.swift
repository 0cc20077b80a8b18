/// The numbers of notifications that observers have lost since the center was made, by reason.
///
/// A notification that several observers lose counts once for each. A gap of unknown size counts as
/// one. A loss that a replay later repairs stays counted.
public struct Losses: Sendable, Equatable {
    private var dropped: UInt64 = 0
    private var coalesced: UInt64 = 0
    private var overflow: UInt64 = 0
    private var expired: UInt64 = 0
    private var unknown: UInt64 = 0
    /// The losses of all reasons: one number to compare for callers that look for new ones.
    public private(set) var total: UInt64 = 0

    /// Makes counts of no losses.
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

    /// Counts a loss of an observer.
    mutating func add(_ gap: GapRecord) {
        self[gap.reason] &+= UInt64(gap.count ?? 1)
    }

    /// Adds the growth of other losses since an earlier state of them.
    public mutating func add(_ now: Losses, since known: Losses) {
        for reason in Gap.Reason.allCases { self[reason] &+= now[reason] &- known[reason] }
    }
}
