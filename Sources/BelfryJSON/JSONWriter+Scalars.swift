import BelfryBytes

// The values themselves, without commas.
extension JSONWriter {
    /// Appends UTF-8 text as a string: `"`, `\` and C0 controls are escaped (RFC 8259 §7).
    public static func append(string text: Span<UInt8>, to bytes: inout [UInt8]) {
        let plainByteCount = plainByteCount(of: text)
        guard plainByteCount < text.count else {
            bytes.append(.quote)
            bytes.append(text)
            bytes.append(.quote)
            return
        }
        bytes.append(.quote)
        var runStart = 0
        var index = plainByteCount
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == .quote || byte == .backslash {
                bytes.append(text.extracting(runStart..<index))
                append(escaped: byte, to: &bytes)
                runStart = index + 1
            }
            index += 1
        }
        bytes.append(text.extracting(runStart..<text.count))
        bytes.append(.quote)
    }

    /// Appends UTF-8 text as a string, as the other one does; plain text of an array is one move.
    public static func append(string text: [UInt8], to bytes: inout [UInt8]) {
        guard plainByteCount(of: text.span) == text.count else {
            return append(string: text.span, to: &bytes)
        }
        bytes.append(.quote)
        bytes.append(contentsOf: text)
        bytes.append(.quote)
    }

    /// How many bytes `append(string:)` writes for a text, with the quotation marks.
    static func byteCount(string text: Span<UInt8>) -> Int {
        var count = text.count + 2
        var index = plainByteCount(of: text)
        while index < text.count {
            switch text[index] {
            case .quote, .backslash, 0x08, .tab, .lineFeed, 0x0C, .carriageReturn: count += 1
            case 0..<0x20: count += 5
            default: break
            }
            index += 1
        }
        return count
    }

    /// How many bytes at the start need no escape; it may stop before the first that does.
    private static func plainByteCount(of text: Span<UInt8>) -> Int {
        var index = 0
        while text.count &- index >= 8 {
            if text.word(at: index).marksOfEscapes != 0 { return index }
            index &+= 8
        }
        if index > 0, text.word(at: text.count - 8).marksOfEscapes == 0 { return text.count }
        while index < text.count {
            let byte = text[index]
            if byte < 0x20 || byte == .quote || byte == .backslash { break }
            index += 1
        }
        return index
    }

    private static func append(escaped byte: UInt8, to bytes: inout [UInt8]) {
        bytes.append(.backslash)
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case .tab: bytes.append(UInt8(ascii: "t"))
        case .lineFeed: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case .carriageReturn: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append((byte >> 4).lowHexDigit)
            bytes.append(byte.lowHexDigit)
        default: bytes.append(byte)
        }
    }

    /// Appends an integer in decimal.
    public static func append(integer value: Int, to bytes: inout [UInt8]) {
        if value < 0 { bytes.append(.minus) }
        append(integer: UInt64(value.magnitude), to: &bytes)
    }

    /// Appends an integer in decimal.
    public static func append(integer value: UInt64, to bytes: inout [UInt8]) {
        if value < 10 {
            bytes.append(.zero + UInt8(truncatingIfNeeded: value))
        } else if value < 100_000_000 {
            append(few: UInt32(truncatingIfNeeded: value), to: &bytes)
        } else {
            append(value, digitCount: 1, to: &bytes)
        }
    }

    /// Appends the shortest number that reads back as `value`, which is finite: `3600`, `0.5`.
    public static func append(double value: Double, to bytes: inout [UInt8]) {
        precondition(value.isFinite, "JSON has no number for \(value)")
        // Below 2^53 a whole number is exact; -0 keeps its sign the long way.
        // `rounded()` and `Int(exactly:)` would need the C mathematics library to link.
        if value.magnitude < 9_007_199_254_740_992, value != 0, Double(Int(value)) == value {
            append(integer: Int(value), to: &bytes)
            return
        }
        let text = value.description.utf8
        bytes.append(contentsOf: text)
        if text.suffix(2).elementsEqual(".0".utf8) { bytes.removeLast(2) }
    }

    /// Appends a duration in seconds, exactly and with no more digits than it needs.
    public static func append(seconds duration: Duration, to bytes: inout [UInt8]) {
        let (seconds, attoseconds) = duration.components
        if seconds < 0 || attoseconds < 0 { bytes.append(.minus) }
        append(integer: seconds.magnitude, to: &bytes)
        guard attoseconds != 0 else { return }
        bytes.append(.dot)
        append(attoseconds.magnitude, digitCount: 18, to: &bytes)
        while bytes.last == .zero { bytes.removeLast() }
    }

    /// A duration as seconds, made once for repeated use.
    public static func text(seconds duration: Duration) -> [UInt8] {
        var bytes: [UInt8] = []
        append(seconds: duration, to: &bytes)
        return bytes
    }

    /// Appends a value of at most eight digits, which are made in a word for one step of the array.
    private static func append(few value: UInt32, to bytes: inout [UInt8]) {
        var rest = value
        var digits: UInt64 = 0
        repeat {
            digits = digits &<< 8 | UInt64(rest % 10 &+ 0x30)
            rest /= 10
        } while rest > 0
        bytes.append(addingCapacity: 8) { output in
            while digits > 0 {
                output.append(UInt8(truncatingIfNeeded: digits))
                digits &>>= 8
            }
        }
    }

    /// Appends a value in decimal, with zeros in front up to `digitCount`, at most 20.
    private static func append(_ value: UInt64, digitCount: Int, to bytes: inout [UInt8]) {
        var digits: [20 of UInt8] = .init(repeating: .zero)
        var rest = value
        var position = digits.count
        while rest > 0, position > 0 {
            position -= 1
            let tenth = rest / 10
            digits[position] = .zero + UInt8(truncatingIfNeeded: rest &- tenth &* 10)
            rest = tenth
        }
        position = min(position, digits.count - digitCount)
        bytes.append(digits.span.extracting(position..<digits.count))
    }
}
