/// The one source of chance of a seed: xoshiro256** (Blackman and Vigna), seeded by SplitMix64.
///
/// Everything that happens in a seed follows from its number, so a failing seed reproduces exactly.
package struct Dice {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    package init(seed: UInt64) {
        var mixer = seed
        func next() -> UInt64 {
            mixer &+= 0x9e37_79b9_7f4a_7c15
            var word = mixer
            word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
            return word ^ word >> 31
        }
        state = (next(), next(), next(), next())
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        let product = state.1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }

    /// A number from 0 on, below the limit; the slight preference for small ones does not matter.
    package mutating func below(_ limit: Int) -> Int {
        Int(next() >> 33) % max(limit, 1)
    }

    /// A number in the range.
    package mutating func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.upperBound - range.lowerBound + 1)
    }

    /// True once in so many times.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// One of them; nil when there is none.
    package mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// The place of a weight, each as probable as it is heavy.
    package mutating func weighted(_ weights: [Int], sum: Int) -> Int {
        var rest = below(sum)
        for (place, weight) in weights.enumerated() {
            rest -= weight
            if rest < 0 { return place }
        }
        return weights.count - 1
    }
}
