/// What an observer lost for one reason, and was not told yet.
public struct GapRecord: Sendable, Equatable {
    /// Why.
    public let reason: Gap.Reason
    /// How many; nil when nobody can know.
    public var count: Int?
    /// The first sequence number that is missing.
    public var first: UInt64
    /// The last sequence number that is missing.
    public var last: UInt64

    /// Joins the parts.
    public init(reason: Gap.Reason, count: Int?, first: UInt64, last: UInt64) {
        self.reason = reason
        self.count = count
        self.first = first
        self.last = last
    }

    /// The end of a loss of which nobody knows yet how far it reaches: it is that of the life that
    /// ends it.
    public static let openEnd = UInt64(Int64.max)

    /// Takes in another loss for the same reason.
    mutating func add(_ other: GapRecord) {
        first = min(first, other.first)
        last = max(last, other.last)
        if let more = other.count { count? += more } else { count = nil }
    }
}

/// A loss that an observer was told.
public struct ToldGap: Sendable, Equatable {
    /// What it was.
    public let gap: GapRecord
    /// When it was told, in milliseconds since 1970.
    public let toldAt: Int64

    /// As many of them an observer remembers.
    static let limit = 5
}

extension ToldGap: Blockless {}
