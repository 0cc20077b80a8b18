import BelfryBytes

/// A string in a text that has been validated.
struct JSONValidString {
    /// The range between its quotation marks.
    let content: Range<Int>
    let hasEscapes: Bool
    /// Its first eight bytes, the first one lowest; zeros behind a shorter one.
    let word: UInt64
}

// What is read out of a text that has been validated needs no checks but those of memory.
extension Span<UInt8> {
    /// The string whose opening quotation mark is at `start`.
    @inline(__always)
    func validString(at start: Int) -> JSONValidString {
        let start = start &+ 1
        let word = word(at: start)
        var marks = word.marksOfStringEnds
        var index = start
        while marks == 0, count &- index >= 16 {
            index &+= 8
            marks = self.word(at: index).marksOfStringEnds
        }
        let bitCount = marks.trailingZeroBitCount & 0x38
        let end = index &+ bitCount &>> 3
        guard marks != 0, byte(at: end) == .quote else { return oddString(from: start) }
        let mask: UInt64 = index == start ? ~(.max &<< UInt64(bitCount)) : .max
        return JSONValidString(content: start..<end, hasEscapes: false, word: word & mask)
    }

    /// A string that has escapes, or ends within the last bytes of the text.
    @inline(never)
    private func oddString(from start: Int) -> JSONValidString {
        var index = start
        var hasEscapes = false
        while index < count {
            let byte = byte(at: index)
            if byte == .quote { break }
            if byte == .backslash { hasEscapes = true }
            index &+= byte == .backslash ? 2 : 1
        }
        let content = start..<Swift.min(index, count)
        return JSONValidString(
            content: content, hasEscapes: hasEscapes, word: firstWord(of: content))
    }

    /// The first eight bytes of a range, the first one lowest; zeros behind a shorter one.
    func firstWord(of range: Range<Int>) -> UInt64 {
        let (start, byteCount) = (range.lowerBound, range.count)
        if byteCount >= 8 { return word(at: start) }
        if count &- start >= 8 { return word(at: start) & ~(.max << UInt64(byteCount * 8)) }
        var word: UInt64 = 0
        for index in range.reversed() { word = word << 8 | UInt64(self[index]) }
        return word
    }
}

extension UInt64 {
    /// Marks, in the highest bit of each byte, the quotes and backslashes of a word.
    ///
    /// The lowest mark is exact; higher ones may come from a borrow. No mark is missing.
    @inline(__always)
    fileprivate var marksOfStringEnds: UInt64 {
        let lows: UInt64 = 0x0101_0101_0101_0101
        let quotes = self ^ (lows &* 0x22)
        let backslashes = self ^ (lows &* 0x5C)
        return ((quotes &- lows) & ~quotes | (backslashes &- lows) & ~backslashes)
            & (lows &* 0x80)
    }
}
