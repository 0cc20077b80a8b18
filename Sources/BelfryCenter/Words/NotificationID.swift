import BelfryBytes

/// The name of one notification: a ULID, 128 bits of which the first 48 are a time in milliseconds.
///
/// Identifiers are unique and carry no order; the sequence number does.
public struct NotificationID: Hashable, Sendable {
    /// The upper 64 bits: time and the lower 16 bits of a place.
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

    /// Makes an identifier from a time in milliseconds since 1970, a place and 64 random bits.
    ///
    /// Only the lower 16 bits of the place are kept. It should be the next one for each post of a
    /// center, as tables file identifiers by it: consecutive ones are then neighbours in memory,
    /// and many with one place slow each other down.
    public init(milliseconds: Int64, place: UInt64, random: UInt64) {
        high = UInt64(truncatingIfNeeded: milliseconds) << 16 | place & Self.placeMask
        low = random
    }

    /// The time in the identifier, in milliseconds since 1970.
    public var milliseconds: Int64 { Int64(high >> 16) }

    /// The lower 16 bits of the place of the identifier.
    var place: UInt64 { high & Self.placeMask }

    private static let placeMask: UInt64 = 0xFFFF

    /// Reads the text form: 26 digits of Crockford's base 32, upper case.
    public init?(text: Span<UInt8>) {
        guard text.count == Self.textByteCount, text[0] <= UInt8(ascii: "7") else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in text.indices {  // Bound: bytes
            guard let digit = Self.digit(of: text[index]) else { return nil }
            high = high << 5 | low >> 59
            low = low << 5 | digit
        }
        self.init(high: high, low: low)
    }

    /// Appends the text form.
    public func append(to output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: Self.blankText)
        var text = output.mutableSpan
        write(over: &text, at: start)
    }

    /// The text form.
    var text: [UInt8] {
        var text: [UInt8] = []
        append(to: &text)
        return text
    }

    private static let blankText = [UInt8](repeating: 0, count: textByteCount)

    /// Writes the text form over the 26 bytes of a buffer from `start` on, which must be there.
    public func write(over text: inout MutableSpan<UInt8>, at start: Int) {
        precondition(
            start >= 0 && text.count >= 26 && start <= text.count &- 26, "26 bytes are there")
        // 128 bits are 26 digits: two of the upper 8 bits, then eight of each 40.
        let first = Self.text(ofDigits: (high >> 61) << 5 | high >> 56 & 31)
        text[start] = UInt8(truncatingIfNeeded: first >> 48)
        text[start &+ 1] = UInt8(truncatingIfNeeded: first >> 56)
        text.write(Self.text(ofDigits: high >> 16), at: start &+ 2)
        text.write(Self.text(ofDigits: high << 24 | low >> 40), at: start &+ 10)
        text.write(Self.text(ofDigits: low), at: start &+ 18)
    }

    /// The text of the eight digits in the lower 40 bits; the first digit is in the lowest byte.
    ///
    /// All eight are computed at once: 0-9, then the letters without I, L, O and U.
    @inline(__always)
    private static func text(ofDigits digits: UInt64) -> UInt64 {
        let lows: UInt64 = 0x0101_0101_0101_0101
        var spread = digits & 0xF_FFFF | (digits >> 20 & 0xF_FFFF) << 32
        spread = spread & 0x0000_03FF_0000_03FF | (spread & 0x000F_FC00_000F_FC00) << 6
        spread = spread & 0x001F_001F_001F_001F | (spread & 0x03E0_03E0_03E0_03E0) << 3
        // Adding 127 - n to a digit sets the highest bit of its byte if the digit is above n.
        let letters = (spread &+ lows &* (127 - 9)) >> 7 & lows
        let pastI = (spread &+ lows &* (127 - 17)) >> 7 & lows
        let pastL = (spread &+ lows &* (127 - 19)) >> 7 & lows
        let pastO = (spread &+ lows &* (127 - 21)) >> 7 & lows
        let pastU = (spread &+ lows &* (127 - 26)) >> 7 & lows
        let text = spread &+ lows &* 48 &+ letters &* 7 &+ pastI &+ pastL &+ pastO &+ pastU
        return text.byteSwapped
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
