import BelfryBytes
public import BelfryCenter

/// The entity tag of a value in `ETag`: 32 hexadecimal digits in quotation marks (RFC 9110 §8.8.3).
public enum ValueTagText {
    /// Appends a tag.
    public static func append(_ tag: ValueTag, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        appendDigits(of: tag, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Appends a tag as a JSON string, in which its quotation marks are escaped.
    static func append(json tag: ValueTag, to output: inout [UInt8]) {
        output.append(literal: #""\""#)
        appendDigits(of: tag, to: &output)
        output.append(literal: #"\"""#)
    }

    private static func appendDigits(of tag: ValueTag, to output: inout [UInt8]) {
        let start = output.count
        output.append(literal: "00000000000000000000000000000000")
        var text = output.mutableSpan
        text.write(digits(of: tag.high >> 32), at: start)
        text.write(digits(of: tag.high), at: start + 8)
        text.write(digits(of: tag.low >> 32), at: start + 16)
        text.write(digits(of: tag.low), at: start + 24)
    }

    /// The lowest eight digits of a number, the highest of them in the lowest byte.
    ///
    /// All are computed at once.
    private static func digits(of number: UInt64) -> UInt64 {
        var word = number & 0xFFFF_FFFF
        word = (word | word << 16) & 0x0000_FFFF_0000_FFFF
        word = (word | word << 8) & 0x00FF_00FF_00FF_00FF
        word = (word | word << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // A digit above 9 reaches 16 with 6 more, and is a letter.
        let letters = (word + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (word + 0x3030_3030_3030_3030 + letters * 0x27).byteSwapped
    }

    /// The text of a tag.
    public static func text(_ tag: ValueTag) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(34)
        append(tag, to: &text)
        return text
    }

    /// Reads `If-Match` or `If-None-Match`: `*`, or tags between commas (RFC 9110 §13.1).
    ///
    /// A tag that no value can have is left out, and a weak one where only strong ones count.
    ///
    /// - Returns: nil when it is neither.
    public static func tags(of text: Span<UInt8>, countsWeak: Bool) -> ValueCondition.Tags? {
        var tags: [ValueTag] = []
        var index = 0
        var count = 0
        skipBlanks(&index, in: text)
        if index < text.count, text[index] == UInt8(ascii: "*") {
            index += 1
            skipBlanks(&index, in: text)
            return index == text.count ? .any : nil
        }
        while index < text.count {
            if text[index] == UInt8(ascii: ",") {
                index += 1
                skipBlanks(&index, in: text)
                continue
            }
            let isWeak =
                index + 1 < text.count && text[index] == UInt8(ascii: "W")
                && text[index + 1] == UInt8(ascii: "/")
            if isWeak { index += 2 }
            guard let opaque = opaqueTag(&index, in: text) else { return nil }
            count += 1
            if !isWeak || countsWeak, let tag = tag(text.extracting(opaque)) { tags.append(tag) }
            skipBlanks(&index, in: text)
            guard index == text.count || text[index] == UInt8(ascii: ",") else { return nil }
        }
        return count == 0 ? nil : .some(tags)
    }

    /// The text between the quotation marks.
    private static func opaqueTag(_ index: inout Int, in text: Span<UInt8>) -> Range<Int>? {
        guard index < text.count, text[index] == UInt8(ascii: "\"") else { return nil }
        let start = index + 1
        index = start
        while index < text.count, text[index] != UInt8(ascii: "\"") { index += 1 }
        guard index < text.count else { return nil }
        index += 1
        return start..<index - 1
    }

    private static func tag(_ text: Span<UInt8>) -> ValueTag? {
        guard text.count == 32 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in text.indices {
            guard let digit = digits.firstIndex(of: text[index]) else { return nil }
            if index < 16 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
        }
        return ValueTag(high: halves.0, low: halves.1)
    }

    private static func skipBlanks(_ index: inout Int, in text: Span<UInt8>) {
        while index < text.count, text[index] == 0x20 || text[index] == 0x09 { index += 1 }
    }

    private static let digits = [UInt8]("0123456789abcdef".utf8)

    static let detail = #"must be * or entity tags, as "9f3c…" from an ETag"#
}
