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
