import BelfryBytes

/// The ranges of a valid string between its quotation marks.
struct JSONStringRange {
    let content: Range<Int>
    let hasEscapes: Bool
}

extension JSONScanner {
    /// Skips the string whose opening quotation mark is the next byte (RFC 8259 §7).
    @inline(__always)
    mutating func skipString(in bytes: Span<UInt8>) throws(JSONError) -> JSONStringRange {
        let start = index &+ 1
        let plainEnd = Self.endOfPlainASCII(in: bytes, from: start)
        if bytes.byte(at: plainEnd) == .quote {
            index = plainEnd &+ 1
            return JSONStringRange(content: start..<plainEnd, hasEscapes: false)
        }
        let rest = try Self.restOfString(in: bytes, from: plainEnd)
        index = rest.end
        return JSONStringRange(content: start..<rest.end - 1, hasEscapes: rest.hasEscapes)
    }

    /// Skips the number whose first byte, a minus or a digit, is the next one (RFC 8259 §6).
    ///
    /// - Returns: whether it has neither fraction nor exponent.
    mutating func skipNumber(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        let number = try Self.number(in: bytes, from: index)
        index = number.end
        return number.isInteger
    }
}

// The same over an index that the caller has: one that lies in a structure is written at each step.
extension JSONScanner {
    /// The index behind the string whose opening quotation mark is at `start`.
    @inline(__always)
    static func endOfString(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        let end = endOfPlainASCII(in: bytes, from: start &+ 1)
        if bytes.byte(at: end) == .quote { return end &+ 1 }
        return try restOfString(in: bytes, from: end).end
    }

    /// The rest of a string that is not all plain: where it ends, behind its quotation mark.
    @inline(never)
    private static func restOfString(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> (end: Int, hasEscapes: Bool) {
        var index = start
        var hasEscapes = false
        while true {
            index = endOfPlainASCII(in: bytes, from: index)
            guard index < bytes.count else { throw .unexpectedEnd }
            switch bytes[index] {
            case .quote:
                return (index + 1, hasEscapes)
            case .backslash:
                hasEscapes = true
                index = try endOfEscape(in: bytes, from: index)
            case 0..<0x20:
                throw .controlCharacter(at: index)
            default:
                index = try endOfMultibyteScalar(in: bytes, from: index)
            }
        }
    }

    /// The fast path: most strings are ASCII without escapes.
    @inline(__always)
    private static func endOfPlainASCII(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while bytes.count &- index >= 8 {
            let word = bytes.word(at: index)
            let marks = word.marksOfEscapes | word & 0x8080_8080_8080_8080
            // The lowest mark is exact; higher ones may come from a borrow.
            if marks != 0 { return index &+ marks.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while true {
            let byte = bytes.byte(at: index)
            // One comparison for both ends of the range 0x20 to 0x7F; behind the end there is a 0.
            if byte &- 0x20 >= 0x60 || byte == .quote || byte == .backslash { return index }
            index &+= 1
        }
    }

    private static func endOfEscape(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        guard start + 1 < bytes.count else { throw .unexpectedEnd }
        switch bytes[start + 1] {
        case .quote, .backslash, .slash, UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            for position in start + 2..<start + 6 {
                guard position < bytes.count else { throw .unexpectedEnd }
                guard bytes[position].hexDigitValue != nil else {
                    throw .invalidEscape(at: start)
                }
            }
            return start + 6
        default:
            throw .invalidEscape(at: start)
        }
    }

    /// Takes a scalar of two to four bytes, by the table of well-formed sequences (RFC 3629 §4).
    private static func endOfMultibyteScalar(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        let length: Int
        let secondBytes: ClosedRange<UInt8>
        switch bytes[start] {
        case 0xC2...0xDF: (length, secondBytes) = (2, 0x80...0xBF)
        case 0xE0: (length, secondBytes) = (3, 0xA0...0xBF)
        case 0xED: (length, secondBytes) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, secondBytes) = (3, 0x80...0xBF)
        case 0xF0: (length, secondBytes) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, secondBytes) = (4, 0x80...0xBF)
        case 0xF4: (length, secondBytes) = (4, 0x80...0x8F)
        default: throw .invalidUTF8(at: start)
        }
        guard start + 1 < bytes.count else { throw .unexpectedEnd }
        guard secondBytes.contains(bytes[start + 1]) else { throw .invalidUTF8(at: start) }
        for position in start + 2..<start + length {
            guard position < bytes.count else { throw .unexpectedEnd }
            guard bytes[position] & 0xC0 == 0x80 else { throw .invalidUTF8(at: start) }
        }
        return start + length
    }

    /// Takes the number whose first byte, a minus or a digit, is at `start` (RFC 8259 §6).
    static func number(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> (end: Int, isInteger: Bool) {
        var index = start
        if bytes.byte(at: index) == .minus { index &+= 1 }
        let startsWithZero = bytes.byte(at: index) == .zero
        let integerStart = index
        index = try endOfDigits(in: bytes, from: index)
        if startsWithZero && index > integerStart + 1 {
            throw .invalidNumber(at: integerStart + 1)
        }
        var isInteger = true
        if bytes.byte(at: index) == .dot {
            isInteger = false
            index = try endOfDigits(in: bytes, from: index &+ 1)
        }
        if bytes.byte(at: index) | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index &+= 1
            let sign = bytes.byte(at: index)
            if sign == .plus || sign == .minus { index &+= 1 }
            index = try endOfDigits(in: bytes, from: index)
        }
        return (index, isInteger)
    }

    /// Takes one digit and those that follow it.
    @inline(__always)
    private static func endOfDigits(
        in bytes: Span<UInt8>, from start: Int
    ) throws(JSONError) -> Int {
        guard bytes.byte(at: start).isDigit else {
            throw start < bytes.count ? .invalidNumber(at: start) : .unexpectedEnd
        }
        var index = start &+ 1
        while bytes.byte(at: index).isDigit { index &+= 1 }
        return index
    }
}
