/// The name of one notification: a ULID, 128 bits of which the first 48 are a time in milliseconds.
///
/// Identifiers are unique and say nothing about order; the sequence number does that.
public struct NotificationID: Hashable, Sendable {
    /// The upper 64 bits: time and 16 random bits.
    public let high: UInt64
    /// The lower 64 bits, all random.
    public let low: UInt64

    /// The length of the text form in bytes.
    public static let textByteCount = 26

    /// Makes an identifier from its bits.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes an identifier from a time in milliseconds since 1970 and 80 random bits.
    public init(milliseconds: Int64, random: (UInt16, UInt64)) {
        high = UInt64(truncatingIfNeeded: milliseconds) << 16 | UInt64(random.0)
        low = random.1
    }

    /// Reads the text form: 26 digits of Crockford's base 32, upper case.
    public init?(text: Span<UInt8>) {
        guard text.count == Self.textByteCount, text[0] <= UInt8(ascii: "7") else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in text.indices {
            guard let digit = Self.digit(of: text[index]) else { return nil }
            high = high << 5 | low >> 59
            low = low << 5 | digit
        }
        self.init(high: high, low: low)
    }

    /// Appends the text form.
    public func append(to output: inout [UInt8]) {
        var shift = 125
        while shift >= 0 {
            let digit: UInt64
            if shift >= 64 {
                digit = high >> UInt64(shift - 64)
            } else if shift > 59 {
                digit = high << UInt64(64 - shift) | low >> UInt64(shift)
            } else {
                digit = low >> UInt64(shift)
            }
            output.append(Self.alphabetByte(digit & 31))
            shift -= 5
        }
    }

    private static func alphabetByte(_ digit: UInt64) -> UInt8 {
        // 0-9, then the letters without I, L, O and U.
        switch digit {
        case 0...9: UInt8(48 + digit)
        case 10...17: UInt8(55 + digit)  // A-H
        case 18, 19: UInt8(56 + digit)  // J, K
        case 20, 21: UInt8(57 + digit)  // M, N
        case 22...26: UInt8(58 + digit)  // P-T
        default: UInt8(59 + digit)  // V-Z
        }
    }

    private static func digit(of byte: UInt8) -> UInt64? {
        switch byte {
        case 48...57: UInt64(byte - 48)
        case 65...72: UInt64(byte - 55)
        case 74, 75: UInt64(byte - 56)
        case 77, 78: UInt64(byte - 57)
        case 80...84: UInt64(byte - 58)
        case 86...90: UInt64(byte - 59)
        default: nil
        }
    }
}
