extension Span<UInt8> {
    /// The number that these bytes are in decimal digits, or `nil`.
    var decimal: UInt64? {
        guard !isEmpty else { return nil }
        var value: UInt64 = 0
        for index in indices {
            let digit = self[index] &- UInt8(ascii: "0")
            let (product, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, passed) = product.addingReportingOverflow(UInt64(digit))
            guard digit < 10, !overflowed, !passed else { return nil }
            value = sum
        }
        return value
    }

    /// Whether these bytes are a word, which is given in upper case, in any case.
    func isWord(_ word: String) -> Bool {
        let word = word.utf8
        return count == word.count
            && zip(indices, word).allSatisfy { index, byte in
                let own = self[index]
                return own == byte || (own &- 0x20 == byte && byte.isUppercaseLetter)
            }
    }

    /// These bytes without the blanks at both ends.
    var trimmed: Range<Int> {
        var (start, end) = (0, count)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }
}

extension [UInt8] {
    /// The number that these bytes are in decimal digits, or `nil`.
    var decimal: UInt64? { span.decimal }
}

extension UInt8 {
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var dot: UInt8 { 0x2E }

    /// Whether it is a space or a tab, which separate arguments.
    var isBlank: Bool { self == .space || self == 0x09 }

    /// A control character, DEL among them.
    var isControl: Bool { self < .space || self == 0x7F }

    fileprivate var isUppercaseLetter: Bool { self >= 0x41 && self <= 0x5A }
}
