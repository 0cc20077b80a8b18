/// The arrays and objects that are open at a place in a text, one bit for each.
///
/// The bits live in one word, so that depth costs neither recursion nor allocation. Another word
/// begins for what lies deeper than the first one has bits.
struct JSONNesting {
    /// The greatest depth that the bits can tell.
    static let levelLimit = UInt128.bitWidth
    /// The greatest depth of a value, in two words.
    static let greatestLimit = 2 * levelLimit

    private let limit: Int
    private(set) var depth = 0
    /// The innermost container is the lowest bit: 1 for an object, 0 for an array.
    private var objectBits: UInt128 = 0

    init(limit: Int) {
        precondition(
            limit >= 1 && limit <= Self.greatestLimit, "a depth limit is 1 to 256, not \(limit)")
        self.limit = min(limit, Self.levelLimit)
    }

    var innermostIsObject: Bool { objectBits & 1 == 1 }

    /// Opens a container; tells whether there is a level for it.
    mutating func open(isObject: Bool) -> Bool {
        guard depth < limit else { return false }
        depth += 1
        objectBits = objectBits << 1 | (isObject ? 1 : 0)
        return true
    }

    mutating func close() {
        depth -= 1
        objectBits >>= 1
    }
}
