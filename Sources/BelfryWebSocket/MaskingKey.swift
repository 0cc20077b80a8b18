/// The four bytes that a client's payload is XORed with (RFC 6455 §5.3).
///
/// Each frame needs a new one from an unpredictable generator (§10.3).
public struct MaskingKey: Equatable, Sendable {
    /// The key, its first byte lowest.
    private(set) var bits: UInt32

    /// Makes a key of these bytes, in their order on the wire.
    public init(_ bytes: [4 of UInt8]) {
        bits = 0
        for index in bytes.indices.reversed() {
            bits = bits << 8 | UInt32(bytes[index])
        }
    }

    /// A key made by a generator.
    public init(using generator: inout some RandomNumberGenerator) {
        bits = UInt32.random(in: .min ... .max, using: &generator)
    }

    init(bits: UInt32) {
        self.bits = bits
    }

    /// The key byte for the payload byte at `offset`.
    func byte(at offset: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: bits >> (UInt32(truncatingIfNeeded: offset & 3) &* 8))
    }

    /// Appends `payload` XORed with the key, and turns the key to the byte that comes next.
    ///
    /// The plain loop takes two thirds of the instructions of one that is unrolled by hand.
    mutating func append(_ payload: Span<UInt8>, to output: inout [UInt8]) {
        let start = output.count
        let count = payload.count
        output.append(contentsOf: repeatElement(0, count: count))
        var target = output.mutableSpan
        for index in payload.indices {
            target[start &+ index] = payload[index] ^ byte(at: index)
        }
        let turn = UInt32(truncatingIfNeeded: count & 3) &* 8
        bits = turn == 0 ? bits : bits >> turn | bits << (32 &- turn)
    }
}
