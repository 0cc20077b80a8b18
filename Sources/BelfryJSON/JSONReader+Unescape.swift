import BelfryBytes

extension JSONReader {
    /// Appends the characters of a valid string to `text`.
    ///
    /// - Throws: `loneSurrogate` alone.
    static func unescape(
        _ string: JSONStringRange, of bytes: Span<UInt8>, into text: inout [UInt8]
    ) throws(JSONError) {
        guard string.hasEscapes else {
            text.append(bytes.extracting(string.content))
            return
        }
        var index = string.content.lowerBound
        while index < string.content.upperBound {
            let runStart = index
            while index < string.content.upperBound, bytes[index] != .backslash { index += 1 }
            text.append(bytes.extracting(runStart..<index))
            if index < string.content.upperBound {
                index = try unescapeOne(at: index, of: bytes, into: &text)
            }
        }
    }

    /// Appends the text of the valid escape at `index`, and returns the index behind it.
    private static func unescapeOne(
        at index: Int, of bytes: Span<UInt8>, into text: inout [UInt8]
    ) throws(JSONError) -> Int {
        switch bytes[index + 1] {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(.lineFeed)
        case UInt8(ascii: "r"): text.append(.carriageReturn)
        case UInt8(ascii: "t"): text.append(.tab)
        case UInt8(ascii: "u"): return try unescapeScalar(at: index, of: bytes, into: &text)
        case let itself: text.append(itself)
        }
        return index + 2
    }

    /// Appends the scalar of one `\uXXXX`, or of two that are a surrogate pair (RFC 8259 §7).
    private static func unescapeScalar(
        at index: Int, of bytes: Span<UInt8>, into text: inout [UInt8]
    ) throws(JSONError) -> Int {
        let unit = codeUnit(at: index + 2, of: bytes)
        if !UTF16.isSurrogate(unit) {
            append(scalarValue: UInt32(unit), to: &text)
            return index + 6
        }
        // A string ends with a quotation mark, so at least one byte follows the escape.
        guard UTF16.isLeadSurrogate(unit), bytes[index + 6] == .backslash,
            bytes[index + 7] == UInt8(ascii: "u")
        else { throw .loneSurrogate(at: index) }
        let trail = codeUnit(at: index + 8, of: bytes)
        guard UTF16.isTrailSurrogate(trail) else { throw .loneSurrogate(at: index) }
        let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF))
        append(scalarValue: value, to: &text)
        return index + 12
    }

    /// Appends a scalar as UTF-8 (RFC 3629 §3).
    private static func append(scalarValue value: UInt32, to text: inout [UInt8]) {
        switch value {
        case 0..<0x80:
            text.append(UInt8(value))
        case 0x80..<0x800:
            text.append(UInt8(0xC0 | value >> 6))
            text.append(UInt8(0x80 | value & 0x3F))
        case 0x800..<0x10000:
            text.append(UInt8(0xE0 | value >> 12))
            text.append(UInt8(0x80 | value >> 6 & 0x3F))
            text.append(UInt8(0x80 | value & 0x3F))
        default:
            text.append(UInt8(0xF0 | value >> 18))
            text.append(UInt8(0x80 | value >> 12 & 0x3F))
            text.append(UInt8(0x80 | value >> 6 & 0x3F))
            text.append(UInt8(0x80 | value & 0x3F))
        }
    }

    private static func codeUnit(at index: Int, of bytes: Span<UInt8>) -> UInt16 {
        var unit: UInt16 = 0
        for position in index..<index + 4 {
            unit = unit << 4 | (bytes[position].hexDigitValue ?? 0)
        }
        return unit
    }
}
