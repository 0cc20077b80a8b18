import BelfryBytes

/// A set of ASCII characters in two words, so that a look-up touches no memory.
struct ByteSet {
    private let low: UInt64
    private let high: UInt64

    private init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// `tchar` (RFC 9110 §5.6.2): letters, digits and ``!#$%&'*+-.^_`|~``.
    static var token: ByteSet { ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }

    /// `pchar` and `/` without `%` (RFC 3986 §3.3); `?`, `%` and brackets need a second look.
    static var target: ByteSet { ByteSet(low: 0x2FFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }

    /// `unreserved` and `sub-delims` (RFC 3986 §2.2, §2.3): a reg-name without its `%`.
    static var host: ByteSet { ByteSet(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }

    /// `unreserved` (RFC 3986 §2.3).
    static var unreserved: ByteSet {
        ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }

    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 64 == 0 ? low : high
        return byte < 128 && (word &>> UInt64(byte & 63)) & 1 == 1
    }

    /// The index of the first byte in `start..<end` that is not in the set, or `end`.
    ///
    /// Looks at eight bytes at a time, and at those one by one that are not plain.
    @inline(__always)
    func endOfRun(in bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        let part = bytes.extracting(start..<end)
        var index = 0
        while index < part.count {
            if part.count &- index >= 8 {
                let marks = unplainBytes(of: part.word(at: index))
                guard marks != 0 else {
                    index &+= 8
                    continue
                }
                index &+= marks.trailingZeroBitCount &>> 3
            }
            guard contains(part[index]) else { break }
            index &+= 1
        }
        return start &+ index
    }

    /// Marks the high bit of each byte that is no letter, digit, `-`, `.` or member `/`.
    ///
    /// All sets here have letters, digits, `-` and `.`; the range 0x2D to 0x39 holds those and `/`.
    @inline(__always)
    private func unplainBytes(of word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = word & (ones &* 0x7F)
        let letters = low | (ones &* 0x20)
        let isLetter = (letters &+ ones &* (0x80 - 0x61)) & ~(letters &+ ones &* (0x7F - 0x7A))
        let isDigit = (low &+ ones &* (0x80 - 0x2D)) & ~(low &+ ones &* (0x7F - 0x39))
        var marks = ~(isLetter | isDigit) | word
        if !contains(ASCII.slash) {
            marks |= ~((low ^ ones &* 0x2F) &+ ones &* 0x7F)
        }
        return marks & (ones &* 0x80)
    }
}

/// The bytes that the grammars name.
enum ASCII {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var quote: UInt8 { 0x22 }
    static var percent: UInt8 { 0x25 }
    static var ampersand: UInt8 { 0x26 }
    static var comma: UInt8 { 0x2C }
    static var slash: UInt8 { 0x2F }
    static var zero: UInt8 { 0x30 }
    static var colon: UInt8 { 0x3A }
    static var semicolon: UInt8 { 0x3B }
    static var equals: UInt8 { 0x3D }
    static var questionMark: UInt8 { 0x3F }
    static var backslash: UInt8 { 0x5C }
    static var leftBracket: UInt8 { 0x5B }
    static var rightBracket: UInt8 { 0x5D }

    /// SP or HTAB: the white space of fields (RFC 9110 §5.6.3).
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }

    /// Whether a field value or a quoted string may have this byte: HTAB, SP, VCHAR and obs-text.
    static func isText(_ byte: UInt8) -> Bool { byte >= space && byte != 0x7F || byte == tab }

    /// The value of a hexadecimal digit of either case.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte &- 0x30
        case 0x41...0x46: byte &- 0x37
        case 0x61...0x66: byte &- 0x57
        default: nil
        }
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }
}
