/// The secret under which a store, or a log that brokers share, makes the tags of values (rule
/// V14).
///
/// Who does not know it can compute no tag of a guess.
public struct TagKey: Sendable, Equatable {
    /// Half of it.
    public let high: UInt64
    /// The other half.
    public let low: UInt64

    /// Joins both halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The key that is no secret: that of a log below level 4, and of a center that nobody has
    /// given another.
    public static let known = TagKey(high: 0x6265_6c66_7279_2e76, low: 0x616c_7565_2e65_7461)
}
