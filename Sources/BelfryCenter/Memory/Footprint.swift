/// What things cost in memory, as the allocator gives it out.
///
/// The account of a center must be right within some percent of what the process really holds, so blocks are
/// counted with the header of an array and the rounding of malloc, not only with what was asked for.
enum Footprint {
    /// The bytes of an array of so many elements; an array without elements has no block.
    static func array(of count: Int, stride: Int = 1) -> Int {
        count == 0 ? 0 : block(of: arrayHeaderByteCount + count * stride)
    }

    /// The bytes of one block: 8 more for the allocator, rounded up to 16, and 32 at least.
    static func block(of byteCount: Int) -> Int {
        max(32, (byteCount + 8 + 15) & ~15)
    }

    /// The bytes of a dictionary with room for so many elements: three quarters of its places are used at
    /// most, and each place has a bit besides.
    static func dictionary(capacity: Int, stride: Int) -> Int {
        capacity == 0 ? 0 : capacity * 4 / 3 * (stride * 8 + 1) / 8
    }

    /// The bytes of texts that have a block each, given their sum: rounding costs each 8 on average.
    static func texts(count: Int, byteCount: Int) -> Int {
        byteCount + count * (arrayHeaderByteCount + 8 + 8)
    }

    private static let arrayHeaderByteCount = 32
}
