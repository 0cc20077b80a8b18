/// Where the characters of a valid string stand, between its quotation marks.
struct JSONStringRange {
    let content: Range<Int>
    let hasEscapes: Bool
}

extension JSONScanner {
    /// Skips the string whose opening quotation mark is the next byte (RFC 8259 §7).
    mutating func skipString(in bytes: Span<UInt8>) throws(JSONError) -> JSONStringRange {
        index += 1
        let start = index
        var hasEscapes = false
        while true {
            skipPlainASCII(in: bytes)
            guard index < bytes.count else { throw .unexpectedEnd }
            switch bytes[index] {
            case .quote:
                let content = start..<index
                index += 1
                return JSONStringRange(content: content, hasEscapes: hasEscapes)
            case .backslash:
                hasEscapes = true
                try skipEscape(in: bytes)
            case 0..<0x20:
                throw .controlCharacter(at: index)
            default:
                try skipMultibyteScalar(in: bytes)
            }
        }
    }

    /// The fast path: most strings are ASCII without escapes.
    private mutating func skipPlainASCII(in bytes: Span<UInt8>) {
        var next = index
        while bytes.count &- next >= 8 {
            let marks = Self.marks(of: bytes.word(at: next))
            guard marks == 0 else {
                // The lowest mark is exact; higher ones may come from a borrow.
                index = next &+ marks.trailingZeroBitCount &>> 3
                return
            }
            next &+= 8
        }
        while next < bytes.count {
            let byte = bytes[next]
            // One comparison for both ends of the range 0x20 to 0x7F.
            if byte &- 0x20 >= 0x60 || byte == .quote || byte == .backslash { break }
            next += 1
        }
        index = next
    }

    /// Marks the bytes of a word that are no plain ASCII: quotes, backslashes, controls, high ones.
    private static func marks(of word: UInt64) -> UInt64 {
        let lows: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (lows &* 0x22)
        let backslashes = word ^ (lows &* 0x5C)
        let found =
            (word &- lows &* 0x20) | (quotes &- lows) & ~quotes
            | (backslashes &- lows) & ~backslashes | word
        return found & (lows &* 0x80)
    }

    private mutating func skipEscape(in bytes: Span<UInt8>) throws(JSONError) {
        guard index + 1 < bytes.count else { throw .unexpectedEnd }
        switch bytes[index + 1] {
        case .quote, .backslash, .slash, UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        case UInt8(ascii: "u"):
            for position in index + 2..<index + 6 {
                guard position < bytes.count else { throw .unexpectedEnd }
                guard bytes[position].hexDigitValue != nil else {
                    throw .invalidEscape(at: index)
                }
            }
            index += 6
        default:
            throw .invalidEscape(at: index)
        }
    }

    /// Skips a scalar of two to four bytes, by the table of well-formed sequences (RFC 3629 §4).
    private mutating func skipMultibyteScalar(in bytes: Span<UInt8>) throws(JSONError) {
        let length: Int
        let secondBytes: ClosedRange<UInt8>
        switch bytes[index] {
        case 0xC2...0xDF: (length, secondBytes) = (2, 0x80...0xBF)
        case 0xE0: (length, secondBytes) = (3, 0xA0...0xBF)
        case 0xED: (length, secondBytes) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, secondBytes) = (3, 0x80...0xBF)
        case 0xF0: (length, secondBytes) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, secondBytes) = (4, 0x80...0xBF)
        case 0xF4: (length, secondBytes) = (4, 0x80...0x8F)
        default: throw .invalidUTF8(at: index)
        }
        guard index + 1 < bytes.count else { throw .unexpectedEnd }
        guard secondBytes.contains(bytes[index + 1]) else { throw .invalidUTF8(at: index) }
        for position in index + 2..<index + length {
            guard position < bytes.count else { throw .unexpectedEnd }
            guard bytes[position] & 0xC0 == 0x80 else { throw .invalidUTF8(at: index) }
        }
        index += length
    }

    /// Skips the number whose first byte, a minus or a digit, is the next one (RFC 8259 §6).
    ///
    /// - Returns: whether it has neither fraction nor exponent.
    mutating func skipNumber(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        if bytes[index] == .minus { index += 1 }
        let startsWithZero = index < bytes.count && bytes[index] == .zero
        let integerStart = index
        try skipDigits(in: bytes)
        if startsWithZero && index > integerStart + 1 {
            throw .invalidNumber(at: integerStart + 1)
        }
        var isInteger = true
        if index < bytes.count, bytes[index] == .dot {
            isInteger = false
            index += 1
            try skipDigits(in: bytes)
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index += 1
            if index < bytes.count, bytes[index] == .plus || bytes[index] == .minus { index += 1 }
            try skipDigits(in: bytes)
        }
        return isInteger
    }

    /// Skips one digit and those that follow it.
    private mutating func skipDigits(in bytes: Span<UInt8>) throws(JSONError) {
        guard index < bytes.count else { throw .unexpectedEnd }
        guard bytes[index].isDigit else { throw .invalidNumber(at: index) }
        var next = index + 1
        while next < bytes.count, bytes[next].isDigit { next += 1 }
        index = next
    }
}
