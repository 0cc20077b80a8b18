public import BelfryJSON

/// The strong entity tag of a value: equal values have equal ones, on every path, node and day (rule V14).
///
/// It is made of the canonical bytes alone, by SipHash-1-3 under two keys that never change: 128 bits keep two values
/// apart that differ by chance. Who knows the keys could look for two that collide, and would mislead himself.
public struct ValueTag: Hashable, Sendable {
    /// The hash under the first key.
    public let high: UInt64
    /// The hash under the second key.
    public let low: UInt64

    /// Joins both halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The tag of a value.
    ///
    /// - Complexity: the canonical bytes, twice.
    public init(of value: Document) {
        let bytes = value.bytes
        high = sipHash(bytes.span, seed: Self.firstSeed)
        low = sipHash(bytes.span, seed: Self.secondSeed)
    }

    private static let firstSeed = HashSeed(0x6265_6c66_7279_2e76, 0x616c_7565_2e65_7461)
    private static let secondSeed = HashSeed(0x672e_6869_6768_2e31, 0x672e_6c6f_772e_3031)
}
