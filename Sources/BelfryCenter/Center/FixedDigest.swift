/// A digest that is the same in every process and version: what brokers share follows from it.
///
/// It is SipHash-1-3 with a known key. Bytes are preceded by their number, so that no two different
/// lists give the same words.
struct FixedDigest {
    private var state = SipState(HashSeed(0x6265_6c66_7279_2e64, 0x6967_6573_742e_7631))

    /// The digest of everything added so far.
    func finish() -> UInt64 {
        var copy = state
        return copy.finish()
    }

    mutating func add(_ word: UInt64) { state.absorb(word) }
    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
    mutating func add(_ number: Int) { add(Int64(number)) }
    mutating func add(_ flag: Bool) { add(flag ? 1 as UInt64 : 0) }

    mutating func add(_ bytes: [UInt8]) {
        let bytes = bytes.span
        add(bytes.count)
        var word: UInt64 = 0
        var shift: UInt64 = 0
        for index in bytes.indices {  // Bound: bytes
            word |= UInt64(bytes[index]) << shift
            shift += 8
            if shift == 64 {
                add(word)
                word = 0
                shift = 0
            }
        }
        if shift > 0 { add(word) }
    }
}
