/// The hash of a secret: the first 128 bits of its SHA-256.
public struct SecretHash: Hashable, Sendable {
    /// The first 64 bits.
    public let high: UInt64
    /// The next 64 bits.
    public let low: UInt64

    /// Joins both halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Whether both hashes are equal, in a time that does not depend on where they differ.
    public func matches(_ other: SecretHash) -> Bool {
        (high ^ other.high) | (low ^ other.low) == 0
    }
}
