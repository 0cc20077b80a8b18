internal import CBelfrySystem

/// A CRC-32C (Castagnoli, RFC 3720 §12.1) over all added bytes.
public struct Checksum: Equatable, Sendable {
    private var state: UInt32 = .max

    /// The checksum of nothing.
    public init() {}

    /// The checksum of all that was added.
    public var value: UInt32 { ~state }

    /// Adds the eight bytes of a word, the least of them first.
    public mutating func add(_ word: UInt64) {
        state = belfry_crc32c_word(state, word)
    }

    /// Adds some bytes.
    @unsafe public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        // SAFETY: the call reads as many bytes as the buffer has.
        state = unsafe belfry_crc32c(state, bytes.baseAddress, bytes.count)
    }
}
