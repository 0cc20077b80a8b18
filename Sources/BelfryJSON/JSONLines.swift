/// Splits newline-delimited JSON into the ranges of its lines; blank lines are passed over.
///
/// A carriage return before the line feed counts as whitespace. The lines are not looked into:
/// each is validated by itself, so that no value can reach over the end of its line.
public struct JSONLines: Sendable {
    private var index = 0

    /// An iteration that starts with the first line.
    public init() {}

    /// The range of the next line that is not blank, without the whitespace at its ends.
    public mutating func next(in bytes: Span<UInt8>) -> Range<Int>? {
        while index < bytes.count {
            var start = index
            var end = start
            while end < bytes.count, bytes[end] != .lineFeed { end += 1 }
            index = end + 1
            while start < end, bytes[start].isJSONWhitespace { start += 1 }
            while start < end, bytes[end - 1].isJSONWhitespace { end -= 1 }
            if start < end { return start..<end }
        }
        return nil
    }
}
