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
    func endOfRun(in bytes: Span<UInt8>, from start: Int, to end: Int) -> Int {
        let part = bytes.extracting(start..<end)
        for offset in part.indices where !contains(part[offset]) {
            return start &+ offset
        }
        return end
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

    /// What may stand in a field value or a quoted string: HTAB, SP, VCHAR and obs-text.
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
