// A beat as bytes: a version, life and applied index with the highest byte first, and the name.

extension Beat {
    /// The first byte of each.
    private static let version: UInt8 = 1
    /// How long the name may be, in bytes.
    static let nodeByteLimit = 255

    /// The bytes.
    var code: [UInt8] {
        var code = [Self.version]
        code.append(number: life)
        code.append(number: appliedIndex)
        return code + node
    }

    /// Reads the bytes; nil for bytes that are no beat of this version.
    init?(code: [UInt8]) {
        guard code.first == Self.version, 18...17 + Self.nodeByteLimit ~= code.count else {
            return nil
        }
        self.init(
            node: Array(code[17...]), life: code.number(at: 1), appliedIndex: code.number(at: 9))
    }
}

extension [UInt8] {
    /// Adds eight bytes, the highest first.
    mutating func append(number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    /// The eight bytes from a place on, which must be there.
    func number(at place: Int) -> UInt64 {
        self[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
