extension Array where Element == UInt8 {
    /// Appends the bytes of `span` that stand in `range`.
    mutating func append(_ range: Range<Int>, of span: Span<UInt8>) {
        // Adding nothing to an empty array would write the count of the one that all share.
        guard !range.isEmpty else { return }
        append(addingCapacity: range.count) { output in
            for index in range { output.append(span[index]) }
        }
    }
}

extension Span where Element == UInt8 {
    /// Eight bytes from `index` on, the first one lowest; 0 when fewer are left.
    ///
    /// Compiles to one load: the checks fold into the one of the count.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        let part = extracting(droppingFirst: index).extracting(first: 8)
        guard part.count == 8 else { return 0 }
        let low =
            UInt64(part[0]) | UInt64(part[1]) << 8 | UInt64(part[2]) << 16 | UInt64(part[3]) << 24
        let high =
            UInt64(part[4]) | UInt64(part[5]) << 8 | UInt64(part[6]) << 16 | UInt64(part[7]) << 24
        return low | high << 32
    }
}

extension UInt64 {
    /// Marks, in the highest bit of each byte, the quotes, backslashes and controls of a word.
    ///
    /// The lowest mark is exact; higher ones may come from a borrow. No mark is missing.
    @inline(__always)
    var marksOfEscapes: UInt64 {
        let lows: UInt64 = 0x0101_0101_0101_0101
        let quotes = self ^ (lows &* 0x22)
        let backslashes = self ^ (lows &* 0x5C)
        let found =
            (self &- lows &* 0x20) & ~self | (quotes &- lows) & ~quotes
            | (backslashes &- lows) & ~backslashes
        return found & (lows &* 0x80)
    }
}
