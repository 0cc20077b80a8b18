/// SHA-1 (RFC 3174), which the opening handshake needs (RFC 6455 §4.2.2).
///
/// It proves there that the server read the key, and keeps no secret; nothing else may use it.
enum SHA1 {
    /// The 20 bytes of the digest of `input`.
    static func digest(of input: Span<UInt8>) -> [20 of UInt8] {
        var state = State()
        var words = [16 of UInt32](repeating: 0)
        var start = 0
        while input.count - start >= 64 {
            for index in 0..<16 { words[index] = word(in: input, at: start + 4 * index) }
            add(&words, to: &state)
            start += 64
        }
        // A one bit, zeros, and the length in bits, so that whole blocks of 64 bytes result (§4).
        let rest = input.count - start
        for index in 0..<16 { words[index] = 0 }
        for index in start...input.count {
            let byte = index < input.count ? UInt32(input[index]) : 0x80
            let place = index - start
            words[place >> 2] |= byte << UInt32(24 - 8 * (place & 3))
        }
        if rest >= 56 {
            add(&words, to: &state)
            for index in 0..<16 { words[index] = 0 }
        }
        let bitCount = UInt64(input.count) * 8
        words[14] = UInt32(truncatingIfNeeded: bitCount >> 32)
        words[15] = UInt32(truncatingIfNeeded: bitCount)
        add(&words, to: &state)
        return state.bytes
    }

    private struct State {
        var a: UInt32 = 0x6745_2301
        var b: UInt32 = 0xEFCD_AB89
        var c: UInt32 = 0x98BA_DCFE
        var d: UInt32 = 0x1032_5476
        var e: UInt32 = 0xC3D2_E1F0

        var bytes: [20 of UInt8] {
            var bytes = [20 of UInt8](repeating: 0)
            let words: [5 of UInt32] = [a, b, c, d, e]
            for index in 0..<20 {
                bytes[index] = UInt8(
                    truncatingIfNeeded: words[index >> 2] >> UInt32(24 - 8 * (index & 3)))
            }
            return bytes
        }

        /// One step of §6.1, with its function and its constant of §5 in `mixed`.
        @inline(__always)
        mutating func step(_ mixed: UInt32, _ word: UInt32) {
            let next = SHA1.rotated(a, by: 5) &+ mixed &+ e &+ word
            e = d
            d = c
            c = SHA1.rotated(b, by: 30)
            b = a
            a = next
        }
    }

    /// The method of §6.2: the 80 words of a block are made in the place of its 16.
    private static func add(_ words: inout [16 of UInt32], to state: inout State) {
        var now = state
        for step in 0..<16 {
            now.step(((now.b & now.c) | (~now.b & now.d)) &+ 0x5A82_7999, words[step])
        }
        for step in 16..<20 {
            let word = next(&words, step)
            now.step(((now.b & now.c) | (~now.b & now.d)) &+ 0x5A82_7999, word)
        }
        for step in 20..<40 {
            let word = next(&words, step)
            now.step((now.b ^ now.c ^ now.d) &+ 0x6ED9_EBA1, word)
        }
        for step in 40..<60 {
            let word = next(&words, step)
            now.step(
                ((now.b & now.c) | (now.b & now.d) | (now.c & now.d)) &+ 0x8F1B_BCDC, word)
        }
        for step in 60..<80 {
            let word = next(&words, step)
            now.step((now.b ^ now.c ^ now.d) &+ 0xCA62_C1D6, word)
        }
        state.a &+= now.a
        state.b &+= now.b
        state.c &+= now.c
        state.d &+= now.d
        state.e &+= now.e
    }

    @inline(__always)
    private static func next(_ words: inout [16 of UInt32], _ step: Int) -> UInt32 {
        let word = rotated(
            words[(step &- 3) & 15] ^ words[(step &- 8) & 15] ^ words[(step &- 14) & 15]
                ^ words[step & 15], by: 1)
        words[step & 15] = word
        return word
    }

    @inline(__always)
    private static func word(in bytes: Span<UInt8>, at index: Int) -> UInt32 {
        UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16
            | UInt32(bytes[index + 2]) << 8 | UInt32(bytes[index + 3])
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 {
        word << count | word >> (32 &- count)
    }
}
