/// The arrays and objects that are open at a place in a text, one bit for each.
///
/// The bits live in two words, so that depth costs neither recursion nor allocation: a broker may
/// take 128 levels (`--max-depth`), and a message that carries them has some more.
struct JSONNesting {
    /// The greatest depth that the bits can tell.
    static let greatestLimit = 2 * wordLimit
    private static let wordLimit = UInt128.bitWidth

    let limit: Int
    private(set) var depth = 0
    /// The innermost container is the lowest bit: 1 for an object, 0 for an array.
    private var objectBits: UInt128 = 0
    /// The containers around those that one word can tell.
    private var outerBits: UInt128 = 0

    init(limit: Int) {
        precondition(
            limit >= 1 && limit <= Self.greatestLimit, "a depth limit is 1 to 256, not \(limit)")
        self.limit = limit
    }

    var innermostIsObject: Bool { objectBits & 1 == 1 }

    mutating func open(isObject: Bool, at offset: Int) throws(JSONError) {
        guard depth < limit else { throw .depthLimit(limit: limit, at: offset) }
        if depth >= Self.wordLimit {
            outerBits = outerBits << 1 | objectBits >> (Self.wordLimit - 1)
        }
        depth += 1
        objectBits = objectBits << 1 | (isObject ? 1 : 0)
    }

    mutating func close() {
        depth -= 1
        objectBits >>= 1
        if depth >= Self.wordLimit {
            objectBits |= outerBits << (Self.wordLimit - 1)
            outerBits >>= 1
        }
    }
}
