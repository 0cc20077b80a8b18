/// The arrays and objects that are open at a place in a text, one bit for each.
///
/// The bits live in one word, so that depth costs neither recursion nor allocation.
struct JSONNesting {
    /// The greatest depth that the bits can tell.
    static let greatestLimit = UInt128.bitWidth

    let limit: Int
    private(set) var depth = 0
    /// The innermost container is the lowest bit: 1 for an object, 0 for an array.
    private var objectBits: UInt128 = 0

    init(limit: Int) {
        precondition(
            limit >= 1 && limit <= Self.greatestLimit, "a depth limit is 1 to 128, not \(limit)")
        self.limit = limit
    }

    var innermostIsObject: Bool { objectBits & 1 == 1 }

    mutating func open(isObject: Bool, at offset: Int) throws(JSONError) {
        guard depth < limit else { throw .depthLimit(limit: limit, at: offset) }
        depth += 1
        objectBits = objectBits << 1 | (isObject ? 1 : 0)
    }

    mutating func close() {
        depth -= 1
        objectBits >>= 1
    }
}
