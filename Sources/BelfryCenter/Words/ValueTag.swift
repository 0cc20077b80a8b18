public import BelfryJSON

/// The strong entity tag of a value (rule V14).
///
/// Equal values of one store have equal tags, on every path and at all times.
///
/// It is made of the canonical bytes by SipHash-1-3, once under the key of the store and once under
/// a key derived from it: with 128 bits, two values have equal tags only by a remote chance.
public struct ValueTag: Hashable, Sendable {
    /// The hash under the key.
    public let high: UInt64
    /// The hash under the other key.
    public let low: UInt64

    /// Joins both halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The tag of a value.
    ///
    /// - Complexity: the canonical bytes, twice.
    public init(of value: Document, key: TagKey) {
        let bytes = value.bytes
        high = sipHash(bytes.span, seed: HashSeed(key.high, key.low))
        low = sipHash(bytes.span, seed: key.second)
    }
}

extension TagKey {
    /// The key of the second half: a tag under one key reveals nothing of the other.
    fileprivate var second: HashSeed {
        if self == .known { return HashSeed(0x672e_6869_6768_2e31, 0x672e_6c6f_772e_3031) }
        return HashSeed(high ^ 0x5c5c_5c5c_5c5c_5c5c, low ^ 0x3636_3636_3636_3636)
    }
}
