/// Reads fields out of untrusted bytes; a count that the remaining bytes cannot hold is refused.
struct CodeReader: Coder {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var version: UInt64 = 1
    let seed: HashSeed

    init(_ bytes: [UInt8], seed: HashSeed) {
        self.bytes = bytes
        self.seed = seed
    }

    /// Begins behind the version, which this program must know.
    init(_ bytes: [UInt8], through newest: UInt64, seed: HashSeed) throws(CodeError) {
        self.init(bytes, seed: seed)
        version = try next()
        guard 1...newest ~= version else { throw .unknownVersion(version) }
    }

    var isReading: Bool { true }

    mutating func word(_ known: UInt64?) throws(CodeError) -> UInt64 {
        var word: UInt64 = 0
        var shift: UInt64 = 0
        while true {  // Bound: levels
            guard position < bytes.count else { throw .ended }
            let byte = bytes[position]
            position += 1
            let group = UInt64(byte & 0x7F)
            // A number has one form: it fits, and its last group is not empty.
            guard shift < 63 || shift == 63 && group <= 1, shift == 0 || byte != 0 else {
                throw .malformed
            }
            word |= group << shift
            if byte & 0x80 == 0 { return word }
            shift += 7
        }
    }

    mutating func bytes(_ known: [UInt8]?) throws(CodeError) -> [UInt8] {
        let count = try count(nil)
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    mutating func count(_ known: Int?) throws(CodeError) -> Int {
        // Every element takes a byte at least.
        guard let count = Int(exactly: try word(nil)), count <= bytes.count - position else {
            throw .ended
        }
        return count
    }

    /// The bytes that are still to be read.
    var rest: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.span.extracting(position...) }
    }

    /// Checks that the value ends where the bytes do.
    func finish() throws(CodeError) {
        guard position == bytes.count else { throw .goesOn }
    }
}
