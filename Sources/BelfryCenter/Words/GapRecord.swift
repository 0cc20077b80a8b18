/// A loss of an observer for one reason that it was not told yet.
public struct GapRecord: Sendable, Equatable {
    /// The reason of the loss.
    public let reason: Gap.Reason
    /// How many notifications; nil when the number is unknown.
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

    /// The loss of a notification whose conditions were past the limit of work.
    static func unread(_ sequence: UInt64) -> GapRecord {
        GapRecord(reason: .overflow, count: nil, first: sequence, last: sequence)
    }

    /// The end of a loss that is still open; the life of the broker that ends it replaces this.
    public static let openEnd = UInt64(Int64.max)

    /// Adds another loss for the same reason.
    mutating func add(_ other: GapRecord) {
        first = min(first, other.first)
        last = max(last, other.last)
        if let more = other.count { count? += more } else { count = nil }
    }
}

/// A loss that an observer was told.
public struct ToldGap: Sendable, Equatable {
    /// The loss.
    public let gap: GapRecord
    /// The time of that, in milliseconds since 1970.
    public let toldAt: Int64

    /// How many told gaps are kept for each observer.
    static let limit = 5
}

extension ToldGap: Blockless {}
