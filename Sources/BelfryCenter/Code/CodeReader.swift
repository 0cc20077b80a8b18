import BelfryBytes

/// Reads fields out of untrusted bytes; a count that the remaining bytes cannot hold is refused.
struct CodeReader: Coder {
    private let bytes: [UInt8]
    private var position = 0
    private(set) var version: UInt64
    let seed: HashSeed

    init(_ bytes: [UInt8], of version: UInt64 = 1, seed: HashSeed) {
        self.bytes = bytes
        self.version = version
        self.seed = seed
    }

    /// Begins behind the version, which this program must know.
    init(_ bytes: [UInt8], through newest: UInt64, seed: HashSeed) throws(CodeError) {
        self.init(bytes, seed: seed)
        version = try next()
        guard 1...newest ~= version else { throw .unknownVersion(version) }
    }

    var isReading: Bool { true }
    var isAtEnd: Bool { position == bytes.count }

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
        Array(bytes[try text()])
    }

    /// The place of bytes that follow their count.
    private mutating func text() throws(CodeError) -> Range<Int> {
        let count = try count(nil)
        defer { position += count }
        return position..<position + count
    }

    mutating func content(
        _ known: Notification.Content?
    ) throws(CodeError) -> Notification.Content {
        let name = try text()
        let hasObject: Bool = try next()
        let object = hasObject ? try text() : 0..<0
        let hasUserInfo: Bool = try next()
        let userInfo = hasUserInfo ? try text() : 0..<0
        return Notification.Content(
            joined: [UInt8](
                joining: bytes.span.extracting(name), bytes.span.extracting(object),
                bytes.span.extracting(userInfo)),
            nameByteCount: name.count, objectByteCount: hasObject ? object.count : nil,
            hasUserInfo: hasUserInfo)
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
