/// The place in the past at which an observer begins.
///
/// A sequence number is the `since` of a registration; these are the others.
public enum PastBeginning: Sendable, Equatable {
    /// All from a time on, in milliseconds since 1970.
    case from(Int64)
    /// All that is kept.
    case oldest
    /// The newest so many that match.
    case last(Int)
    /// The newest so many of each name and object that match.
    case lastEach(Int)

    /// Whether it is a place, behind which each loss is a gap (rule A11).
    var isPlace: Bool { if case .from = self { true } else { false } }
}
