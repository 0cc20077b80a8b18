import BelfryBytes

extension Span where Element == UInt8 {
    /// True when the bytes are those of `text`.
    func equals(_ text: String) -> Bool {
        let other = text.utf8.span
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] {
            return false
        }
        return true
    }

    /// True when the bytes are those of the lower-case `text`, with ASCII letters of either case.
    func equalsIgnoringCase(_ text: String) -> Bool {
        let other = text.utf8.span
        guard count == other.count else { return false }
        for index in indices where ASCII.lowercased(self[index]) != other[index] {
            return false
        }
        return true
    }

    /// The range within `range` without the blanks at both of its ends.
    func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var start = range.lowerBound
        var end = range.upperBound
        while start < end, ASCII.isBlank(self[start]) { start += 1 }
        while end > start, ASCII.isBlank(self[end - 1]) { end -= 1 }
        return start..<end
    }

    /// The first index of `byte` in `range`, or its upper bound.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int {
        for index in range where self[index] == byte {
            return index
        }
        return range.upperBound
    }

    /// The index of the first byte in `start..<end` that no field value may hold, or `end`.
    ///
    /// Looks at eight bytes at a time; the lowest mark in `marks` is exact, higher ones may
    /// come from a borrow.
    func endOfText(from start: Int, to end: Int) -> Int {
        let lows: UInt64 = 0x0101_0101_0101_0101
        var index = start
        while index < end {
            if end &- index >= 8 {
                let bytes = word(at: index)
                let deletes = bytes ^ (lows &* 0x7F)
                let controls = (bytes &- lows &* 0x20) & ~bytes
                let marks = (controls | (deletes &- lows) & ~deletes) & (lows &* 0x80)
                guard marks != 0 else {
                    index &+= 8
                    continue
                }
                index &+= marks.trailingZeroBitCount &>> 3
            }
            guard ASCII.isText(self[index]) else { return index }
            index &+= 1
        }
        return end
    }
}

extension [UInt8] {
    /// Adds a number that is not negative in decimal digits, CRLF, and another one for `isLast`.
    ///
    /// The digits of all but huge numbers are made in a word, for one step of the array.
    mutating func appendDecimalLine(_ number: Int, isLast: Bool) {
        guard 0..<100_000_000 ~= number else {
            appendDecimal(number)
            append(contentsOf: (isLast ? "\r\n\r\n" : "\r\n").utf8)
            return
        }
        var rest = UInt32(truncatingIfNeeded: number)
        var digits: UInt64 = 0
        repeat {
            digits = digits &<< 8 | UInt64(rest % 10 &+ 0x30)
            rest /= 10
        } while rest > 0
        append(addingCapacity: 12) { (output: inout OutputSpan<UInt8>) in
            while digits > 0 {
                output.append(UInt8(truncatingIfNeeded: digits))
                digits &>>= 8
            }
            output.append(ASCII.carriageReturn)
            output.append(ASCII.lineFeed)
            guard isLast else { return }
            output.append(ASCII.carriageReturn)
            output.append(ASCII.lineFeed)
        }
    }

    /// Adds a number that is not negative in decimal digits.
    mutating func appendDecimal(_ number: Int) {
        precondition(number >= 0, "a count is not negative")
        guard number >= 10 else { return append(ASCII.zero &+ UInt8(number)) }
        var divisor = 10
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            append(ASCII.zero &+ UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
