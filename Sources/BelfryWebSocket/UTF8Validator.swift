/// Checks UTF-8 that arrives in pieces (RFC 3629 §4), and refuses at the first byte that can no
/// longer become valid.
struct UTF8Validator: Sendable {
    /// How many continuation bytes the character that is open still needs.
    private var missingByteCount: UInt8 = 0
    /// The range of the next continuation byte.
    ///
    /// It is narrower only after a lead byte, where it keeps out overlong forms, surrogates and
    /// scalars above U+10FFFF.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether no character is open, so that the text may end here.
    var isAtBoundary: Bool { missingByteCount == 0 }

    /// Takes the next piece, and returns the index of the first byte in it that is refused.
    mutating func firstFault(in bytes: Span<UInt8>) -> Int? {
        var index = 0
        while index < bytes.count {
            if isAtBoundary {
                index = Self.endOfASCII(in: bytes, from: index)
            }
            // A stretch of single steps before the next try keeps mixed text from trying in vain.
            let end = min(index &+ 16, bytes.count)
            while index < end {
                guard accepts(bytes[index]) else { return index }
                index &+= 1
            }
        }
        return nil
    }

    /// Skips blocks of 16 ASCII bytes; the loop over a block of fixed size becomes vector code.
    private static func endOfASCII(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while bytes.count &- index >= 16 {
            let block = bytes.extracting(index..<(index &+ 16))
            var union: UInt8 = 0
            for offset in 0..<16 {
                union |= block[offset]
            }
            guard union < 0x80 else { break }
            index &+= 16
        }
        return index
    }

    private mutating func accepts(_ byte: UInt8) -> Bool {
        if missingByteCount == 0 {
            return byte < 0x80 || begins(with: byte)
        }
        guard byte >= lowest, byte <= highest else { return false }
        missingByteCount &-= 1
        lowest = 0x80
        highest = 0xBF
        return true
    }

    /// The table of RFC 3629 §4: how many bytes follow a lead byte, and the range of the first.
    private mutating func begins(with lead: UInt8) -> Bool {
        switch lead {
        case 0xC2...0xDF: missingByteCount = 1
        case 0xE0: (missingByteCount, lowest) = (2, 0xA0)
        case 0xE1...0xEC, 0xEE...0xEF: missingByteCount = 2
        case 0xED: (missingByteCount, highest) = (2, 0x9F)
        case 0xF0: (missingByteCount, lowest) = (3, 0x90)
        case 0xF1...0xF3: missingByteCount = 3
        case 0xF4: (missingByteCount, highest) = (3, 0x8F)
        default: return false
        }
        return true
    }
}
