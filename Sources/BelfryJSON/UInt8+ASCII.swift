/// The bytes with a meaning in JSON (RFC 8259 §2).
extension UInt8 {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }
    static var quote: UInt8 { 0x22 }
    static var plus: UInt8 { 0x2B }
    static var comma: UInt8 { 0x2C }
    static var minus: UInt8 { 0x2D }
    static var dot: UInt8 { 0x2E }
    static var slash: UInt8 { 0x2F }
    static var zero: UInt8 { 0x30 }
    static var nine: UInt8 { 0x39 }
    static var colon: UInt8 { 0x3A }
    static var openBracket: UInt8 { 0x5B }
    static var backslash: UInt8 { 0x5C }
    static var closeBracket: UInt8 { 0x5D }
    static var openBrace: UInt8 { 0x7B }
    static var closeBrace: UInt8 { 0x7D }

    var isDigit: Bool { self &- .zero < 10 }

    /// Insignificant whitespace (RFC 8259 §2).
    var isJSONWhitespace: Bool {
        self == .space || self == .lineFeed || self == .carriageReturn || self == .tab
    }

    /// The value of a hexadecimal digit of either case, or `nil`.
    var hexDigitValue: UInt16? {
        switch self {
        case .zero ... .nine: UInt16(self &- .zero)
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(self &- UInt8(ascii: "a") &+ 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(self &- UInt8(ascii: "A") &+ 10)
        default: nil
        }
    }

    /// The upper-case hexadecimal digit of the low four bits.
    var lowHexDigit: UInt8 {
        let value = self & 0x0F
        return value < 10 ? .zero + value : UInt8(ascii: "A") + value - 10
    }
}
