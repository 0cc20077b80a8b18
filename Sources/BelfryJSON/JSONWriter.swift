import BelfryBytes

/// Appends JSON to a buffer and knows whether a comma is due; it holds nothing else (RFC 8259).
///
/// ```
/// var writer = JSONWriter()
/// writer.beginObject(into: &bytes)
/// writer.member("id", string: id, into: &bytes)
/// writer.endObject(into: &bytes)
/// ```
///
/// That values and keys come in a valid order, and text in valid UTF-8, is the caller's to see to.
public struct JSONWriter: Sendable {
    /// Whether a value has just ended, so that a comma comes before the next one.
    ///
    /// One flag is enough: behind a container that ends, its parent is past its first value.
    private var isCommaDue = false

    /// A writer at the start of a value.
    public init() {}

    /// Opens an object.
    public mutating func beginObject(into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        bytes.append(.openBrace)
        isCommaDue = false
    }

    /// Closes an object.
    public mutating func endObject(into bytes: inout [UInt8]) {
        bytes.append(.closeBrace)
        isCommaDue = true
    }

    /// Opens an array.
    public mutating func beginArray(into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        bytes.append(.openBracket)
        isCommaDue = false
    }

    /// Closes an array.
    public mutating func endArray(into bytes: inout [UInt8]) {
        bytes.append(.closeBracket)
        isCommaDue = true
    }

    /// Writes the key of a member that needs no escapes, as a literal does not.
    public mutating func key(_ literal: String, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        bytes.append(.quote)
        bytes.append(contentsOf: literal.utf8)
        bytes.append(.quote)
        bytes.append(.colon)
        isCommaDue = false
    }

    /// Writes the key of a member, escaped.
    public mutating func key(escaping text: [UInt8], into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(string: text.span, to: &bytes)
        bytes.append(.colon)
        isCommaDue = false
    }

    /// Writes a string of UTF-8 text.
    public mutating func string(_ text: [UInt8], into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(string: text, to: &bytes)
        isCommaDue = true
    }

    /// Writes a string of UTF-8 text.
    public mutating func string(_ text: Span<UInt8>, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(string: text, to: &bytes)
        isCommaDue = true
    }

    /// Writes a string.
    public mutating func string(_ text: String, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(string: text.utf8Span.span, to: &bytes)
        isCommaDue = true
    }

    /// Writes an integer.
    public mutating func integer(_ value: Int, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(integer: value, to: &bytes)
        isCommaDue = true
    }

    /// Writes an integer.
    public mutating func integer(_ value: UInt64, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(integer: value, to: &bytes)
        isCommaDue = true
    }

    /// Writes the shortest number that reads back as `value`, which is finite.
    public mutating func double(_ value: Double, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(double: value, to: &bytes)
        isCommaDue = true
    }

    /// Writes a duration in seconds, exactly: `3600`, `0.5`.
    public mutating func seconds(_ duration: Duration, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        Self.append(seconds: duration, to: &bytes)
        isCommaDue = true
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
        isCommaDue = true
    }

    /// Writes `null`.
    public mutating func null(into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        bytes.append(contentsOf: "null".utf8)
        isCommaDue = true
    }

    /// Writes one value that is JSON already, as it is.
    public mutating func raw(_ json: [UInt8], into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        bytes.append(contentsOf: json)
        isCommaDue = true
    }

    /// Writes one value that is JSON already, as it is.
    public mutating func raw(_ json: Span<UInt8>, into bytes: inout [UInt8]) {
        startValue(into: &bytes)
        bytes.append(json)
        isCommaDue = true
    }

    private func startValue(into bytes: inout [UInt8]) {
        if isCommaDue { bytes.append(.comma) }
    }
}
