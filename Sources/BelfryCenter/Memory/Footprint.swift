/// A table that knows its memory: all storage of a center is of such types, for its account.
///
/// A center is asked often: each table updates the sum when its parts change, and returns it at
/// once.
protocol Footprinted {
    /// The bytes of its blocks, besides its own place.
    var footprint: Int { get }
}

/// A type that has no blocks.
protocol Blockless: Footprinted {}

extension Blockless {
    var footprint: Int { 0 }
}

extension UInt8: Blockless {}
extension UInt32: Blockless {}
extension UInt64: Blockless {}
extension Int64: Blockless {}

extension Array: Footprinted where Element: Blockless {
    var footprint: Int {
        Footprint.list(count: count, capacity: capacity, stride: MemoryLayout<Element>.stride)
    }
}

extension Optional: Footprinted where Wrapped: Footprinted {
    var footprint: Int { self?.footprint ?? 0 }
}

/// The memory of arrays, tables and texts, as the allocator provides it.
///
/// The account of a center must be right within some percent of what the process really holds, so
/// blocks are counted with the header of an array and the rounding of malloc, not only with the
/// requested bytes.
enum Footprint {
    /// The bytes of an array of so many elements; an array without elements has no block.
    static func array(of count: Int, stride: Int = 1) -> Int {
        count == 0 ? 0 : block(of: arrayHeaderByteCount + count * stride)
    }

    /// The bytes of an array with spare room.
    ///
    /// Whole pages of room that was never used take no memory.
    static func list(count: Int, capacity: Int, stride: Int) -> Int {
        array(of: min(capacity, count + pageByteCount / stride), stride: stride)
    }

    /// The bytes of one block: 8 more for the allocator, rounded up to 16, and 32 at least.
    static func block(of byteCount: Int) -> Int {
        max(32, (byteCount + 8 + 15) & ~15)
    }

    /// The bytes of a dictionary with room for so many elements.
    ///
    /// At most three quarters of its places are used, and each place has an additional bit.
    static func dictionary(capacity: Int, stride: Int) -> Int {
        if capacity == 0 { return 0 }
        let placeCount = max(2, capacity * 4 / 3)
        return block(of: tableHeaderByteCount + (placeCount + 63) / 64 * 8 + placeCount * stride)
    }

    /// The bytes of texts with a block each, given their sum: rounding adds 8 on average.
    static func texts(count: Int, byteCount: Int) -> Int {
        byteCount + count * (arrayHeaderByteCount + 8 + 8)
    }

    private static let arrayHeaderByteCount = 32
    private static let tableHeaderByteCount = 64
    private static let pageByteCount = 4_096
}
