import BelfryBytes

/// Comma-separated field values (RFC 9110 §5.6.1).
public enum FieldList {
    /// Finds the next element at or behind `cursor`, without the blanks around it.
    ///
    /// A comma inside a quoted string separates nothing, and empty elements are skipped.
    /// - Returns: The element, or `nil` at the end of the value.
    public static func nextElement(in value: Span<UInt8>, at cursor: inout Int) -> Range<Int>? {
        while cursor < value.count {
            let range = nextPart(in: value, separator: ASCII.comma, at: &cursor)
            if !range.isEmpty { return range }
        }
        return nil
    }

    /// Whether the list has this token, which is given in lower case.
    public static func contains(_ token: String, in value: Span<UInt8>) -> Bool {
        var cursor = 0
        while let element = nextElement(in: value, at: &cursor) {
            if value.extracting(element).equalsIgnoringCase(token) { return true }
        }
        return false
    }

    /// The bytes up to the separator or the end, without the blanks around them.
    static func nextPart(
        in value: Span<UInt8>, separator: UInt8, at cursor: inout Int
    ) -> Range<Int> {
        let start = cursor
        var isQuoted = false
        while cursor < value.count {
            let byte = value[cursor]
            if byte == ASCII.quote {
                isQuoted.toggle()
            } else if isQuoted, byte == ASCII.backslash {
                cursor += 1
            } else if !isQuoted, byte == separator {
                break
            }
            cursor += 1
        }
        let end = min(cursor, value.count)
        cursor = min(cursor, value.count) + 1
        return value.trimmingBlanks(start..<end)
    }

    /// A token or a quoted string without its quotes and escapes; `nil` when it is neither.
    static func word(in value: Span<UInt8>) -> [UInt8]? {
        guard value.count > 0 else { return nil }
        var word: [UInt8] = []
        guard value[0] == ASCII.quote else {
            guard ByteSet.token.endOfRun(in: value, from: 0, to: value.count) == value.count
            else { return nil }
            word.append(value)
            return word
        }
        var index = 1
        while index < value.count, value[index] != ASCII.quote {
            if value[index] == ASCII.backslash { index += 1 }
            guard index < value.count, ASCII.isText(value[index]) else { return nil }
            word.append(value[index])
            index += 1
        }
        return index == value.count - 1 ? word : nil
    }
}
