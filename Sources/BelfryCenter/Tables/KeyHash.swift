import BelfryBytes

/// The secret hash key of a process, so that no client can choose colliding names.
///
/// It differs in each process and never shows: no table that it orders is ever iterated.
public struct HashSeed: Sendable {
    let first: UInt64
    let second: UInt64

    /// Makes a seed of 128 random bits.
    public init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }
}

/// SipHash-1-3 of some bytes (Aumasson and Bernstein, 2012), the function of Swift's `Hasher`.
func sipHash(_ bytes: Span<UInt8>, seed: HashSeed) -> UInt64 {
    var state = SipState(seed)
    let wholeByteCount = bytes.count & ~7
    var index = 0
    while index < wholeByteCount {  // Bound: bytes
        state.absorb(bytes.word(at: index))
        index += 8
    }
    var last = UInt64(truncatingIfNeeded: bytes.count) << 56
    let restByteCount = bytes.count & 7
    if index > 0 {
        // The last eight bytes, whose higher ones are the rest.
        let overlap = bytes.word(at: bytes.count - 8)
        if restByteCount > 0 { last |= overlap >> UInt64(64 - restByteCount * 8) }
    } else {
        while index < bytes.count {  // Bound: bytes
            last |= UInt64(bytes[index]) << UInt64(index * 8)
            index += 1
        }
    }
    state.absorb(last)
    return state.finish()
}

/// The inner state of SipHash-1-3.
struct SipState: Sendable {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ seed: HashSeed) {
        v0 = seed.first ^ 0x736f_6d65_7073_6575
        v1 = seed.second ^ 0x646f_7261_6e64_6f6d
        v2 = seed.first ^ 0x6c79_6765_6e65_7261
        v3 = seed.second ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        v0 ^= word
    }

    mutating func finish() -> UInt64 {
        v2 ^= 0xff
        round()
        round()
        round()
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
