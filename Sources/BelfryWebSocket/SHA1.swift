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
        let wholeCount = rest >> 2
        for index in 0..<wholeCount { words[index] = word(in: input, at: start + 4 * index) }
        var last: UInt32 = 0x80
        for index in (start + 4 * wholeCount)..<input.count {
            last = (last & ~0xFF | UInt32(input[index])) << 8 | 0x80
        }
        words[wholeCount] = last << UInt32(24 - 8 * (rest & 3))
        for index in wholeCount + 1..<16 { words[index] = 0 }
        if rest >= 56 {
            add(&words, to: &state)
            words = [16 of UInt32](repeating: 0)
        }
        let bitCount = UInt64(input.count) * 8
        words[14] = UInt32(truncatingIfNeeded: bitCount >> 32)
        words[15] = UInt32(truncatingIfNeeded: bitCount)
        add(&words, to: &state)
        return state.bytes
    }

    /// The five words of §6.1.
    private struct State {
        var a: UInt32 = 0x6745_2301
        var b: UInt32 = 0xEFCD_AB89
        var c: UInt32 = 0x98BA_DCFE
        var d: UInt32 = 0x1032_5476
        var e: UInt32 = 0xC3D2_E1F0

        var bytes: [20 of UInt8] {
            var bytes = [20 of UInt8](repeating: 0)
            let words: [5 of UInt32] = [a, b, c, d, e]
            for index in 0..<5 {
                let word = words[index].byteSwapped
                bytes[4 * index] = UInt8(truncatingIfNeeded: word)
                bytes[4 * index + 1] = UInt8(truncatingIfNeeded: word >> 8)
                bytes[4 * index + 2] = UInt8(truncatingIfNeeded: word >> 16)
                bytes[4 * index + 3] = UInt8(truncatingIfNeeded: word >> 24)
            }
            return bytes
        }
    }

    /// The functions and constants of §5.
    private enum Mix {
        case choose, parity, majority, lastParity

        @inline(__always)
        func callAsFunction(_ b: UInt32, _ c: UInt32, _ d: UInt32) -> UInt32 {
            switch self {
            case .choose: (d ^ (b & (c ^ d))) &+ 0x5A82_7999
            case .parity: (b ^ c ^ d) &+ 0x6ED9_EBA1
            case .majority: ((b & c) | (d & (b | c))) &+ 0x8F1B_BCDC
            case .lastParity: (b ^ c ^ d) &+ 0xCA62_C1D6
            }
        }
    }

    /// The method of §6.2: the 80 words of a block are made in the place of its 16.
    private static func add(_ words: inout [16 of UInt32], to state: inout State) {
        var now = state
        for first in stride(from: 0, to: 20, by: 5) { fiveSteps(&now, &words, first, .choose) }
        for first in stride(from: 20, to: 40, by: 5) { fiveSteps(&now, &words, first, .parity) }
        for first in stride(from: 40, to: 60, by: 5) { fiveSteps(&now, &words, first, .majority) }
        for first in stride(from: 60, to: 80, by: 5) {
            fiveSteps(&now, &words, first, .lastParity)
        }
        state.a &+= now.a
        state.b &+= now.b
        state.c &+= now.c
        state.d &+= now.d
        state.e &+= now.e
    }

    /// Five steps move each word through all five places, so that none is moved at all.
    @inline(__always)
    private static func fiveSteps(
        _ now: inout State, _ words: inout [16 of UInt32], _ first: Int, _ mix: Mix
    ) {
        step(now.a, &now.b, mix(now.b, now.c, now.d), &now.e, next(&words, first))
        step(now.e, &now.a, mix(now.a, now.b, now.c), &now.d, next(&words, first &+ 1))
        step(now.d, &now.e, mix(now.e, now.a, now.b), &now.c, next(&words, first &+ 2))
        step(now.c, &now.d, mix(now.d, now.e, now.a), &now.b, next(&words, first &+ 3))
        step(now.b, &now.c, mix(now.c, now.d, now.e), &now.a, next(&words, first &+ 4))
    }

    @inline(__always)
    private static func step(
        _ a: UInt32, _ b: inout UInt32, _ mixed: UInt32, _ e: inout UInt32, _ word: UInt32
    ) {
        e = e &+ mixed &+ word &+ rotated(a, by: 5)
        b = rotated(b, by: 30)
    }

    @inline(__always)
    private static func next(_ words: inout [16 of UInt32], _ step: Int) -> UInt32 {
        if step < 16 { return words[step & 15] }
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
        word &<< count | word &>> (32 &- count)
    }
}
