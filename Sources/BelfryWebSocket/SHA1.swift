/// SHA-1 (RFC 3174), which the opening handshake needs (RFC 6455 §4.2.2).
///
/// It proves there that the server read the key, and keeps no secret; nothing else may use it.
enum SHA1 {
    /// The 20 bytes of the digest of `input`.
    static func digest(of input: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        let padded = padded(input)
        for start in stride(from: 0, to: padded.count, by: 64) {
            add(block: padded[start..<(start + 64)], to: &state)
        }
        return state.flatMap(bytes(of:))
    }

    /// A one bit, zeros, and the length in bits, so that whole blocks of 64 bytes result (§4).
    private static func padded(_ input: [UInt8]) -> [UInt8] {
        var padded = input + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bitCount = UInt64(input.count) * 8
        padded += bytes(of: UInt32(truncatingIfNeeded: bitCount >> 32))
        padded += bytes(of: UInt32(truncatingIfNeeded: bitCount))
        return padded
    }

    private static func bytes(of word: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }

    /// The method of §6.1.
    private static func add(block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        var words: [UInt32] = []
        words.reserveCapacity(80)
        for start in stride(from: block.startIndex, to: block.endIndex, by: 4) {
            words.append(block[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) })
        }
        for step in 16..<80 {
            words.append(
                rotated(
                    words[step - 3] ^ words[step - 8] ^ words[step - 14] ^ words[step - 16], by: 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for step in 0..<80 {
            let mixed = rotated(a, by: 5) &+ mix(b, c, d, at: step) &+ e &+ words[step]
            (a, b, c, d, e) = (mixed, a, rotated(b, by: 30), c, d)
        }
        state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
    }

    /// The functions and constants of §5.
    private static func mix(_ b: UInt32, _ c: UInt32, _ d: UInt32, at step: Int) -> UInt32 {
        switch step {
        case ..<20: ((b & c) | (~b & d)) &+ 0x5A82_7999
        case ..<40: (b ^ c ^ d) &+ 0x6ED9_EBA1
        case ..<60: ((b & c) | (b & d) | (c & d)) &+ 0x8F1B_BCDC
        default: (b ^ c ^ d) &+ 0xCA62_C1D6
        }
    }

    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}
