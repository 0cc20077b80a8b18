/// The secret key of the tags of values, of a store or of a log that brokers share (rule V14).
///
/// Without it, a client cannot compute the tag of a value that it guesses.
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

    /// The key that is not secret, for a log below level 4 and for a center without another key.
    public static let known = TagKey(high: 0x6265_6c66_7279_2e76, low: 0x616c_7565_2e65_7461)
}
