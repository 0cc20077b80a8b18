/// The two common forms of base 64 (RFC 4648); decoding takes the canonical form only.
public enum Base64: Sendable {
    /// The standard alphabet with padding (§4).
    case standard
    /// The alphabet for URLs and file names without padding (§5).
    case url

    /// The text of `bytes` in this form.
    public func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        let digitCount = (bytes.count * 4 + 2) / 3
        let byteCount: Int
        switch self {
        case .standard: byteCount = (digitCount + 3) & ~3
        case .url: byteCount = digitCount
        }
        var text: [UInt8] = []
        // Adding nothing to an empty array would write the count of the one that all share.
        guard byteCount > 0 else { return text }
        // `Array(repeating:count:)` looks up its own type each time.
        text.append(addingCapacity: byteCount) { output in
            output.append(repeating: UInt8(ascii: "="), count: byteCount)
            var target = output.mutableSpan
            write(bytes, digitCount: digitCount, into: &target)
        }
        return text
    }

    private func write(
        _ bytes: Span<UInt8>, digitCount: Int, into output: inout MutableSpan<UInt8>
    ) {
        var place = 0
        var start = 0
        while bytes.count - start >= 3 {
            let group =
                UInt32(bytes[start]) << 16 | UInt32(bytes[start + 1]) << 8
                | UInt32(bytes[start + 2])
            output[place] = character(UInt8(truncatingIfNeeded: group >> 18))
            output[place + 1] = character(UInt8(truncatingIfNeeded: group >> 12 & 0x3F))
            output[place + 2] = character(UInt8(truncatingIfNeeded: group >> 6 & 0x3F))
            output[place + 3] = character(UInt8(truncatingIfNeeded: group & 0x3F))
            place += 4
            start += 3
        }
        guard start < bytes.count else { return }
        var group = UInt32(bytes[start]) << 16
        if start + 1 < bytes.count { group |= UInt32(bytes[start + 1]) << 8 }
        while place < digitCount {
            output[place] = character(UInt8(truncatingIfNeeded: group >> 18 & 0x3F))
            group <<= 6
            place += 1
        }
    }

    /// The bytes of `text`, or `nil` when this form would not write them so.
    ///
    /// Refused are foreign characters, white space, wrong padding, and bits that are left over and
    /// not zero (§3.5), so that two texts never have the same bytes.
    public func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard let digitCount = digitCount(of: text), digitCount % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digitCount * 3 / 4)
        var pending: UInt32 = 0
        var bitCount = 0
        for index in 0..<digitCount {
            guard let digit = digit(text[index]) else { return nil }
            pending = pending << 6 | UInt32(digit)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bitCount)))
            }
        }
        guard pending & (1 << UInt32(bitCount) - 1) == 0 else { return nil }
        return bytes
    }

    /// How many characters are before the padding, or `nil` when the padding is wrong.
    private func digitCount(of text: Span<UInt8>) -> Int? {
        switch self {
        case .url:
            return text.count
        case .standard:
            guard text.count % 4 == 0 else { return nil }
            var count = text.count
            while count > 0, text.count - count < 2, text[count - 1] == UInt8(ascii: "=") {
                count -= 1
            }
            return count
        }
    }

    @inline(__always)
    private func character(_ digit: UInt8) -> UInt8 {
        if digit < 62 { return Self.alphabet[Int(digit)] }
        return digit == 62
            ? (self == .url ? UInt8(ascii: "-") : UInt8(ascii: "+"))
            : (self == .url ? UInt8(ascii: "_") : UInt8(ascii: "/"))
    }

    /// The digits that both forms share: A to Z, a to z, 0 to 9.
    private static let alphabet: InlineArray<62, UInt8> = [
        65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87,
        88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,
        113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57,
    ]

    @inline(__always)
    func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case self.character(62): 62
        case self.character(63): 63
        default: nil
        }
    }
}
