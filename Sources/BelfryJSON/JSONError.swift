/// A fault of a JSON text; an offset is the index of a byte in the text that was given.
///
/// `isMalformed` separates a text that is no JSON from JSON of an unexpected kind.
public enum JSONError: Error, Equatable, Sendable {
    /// The text ends inside a value, or holds none (RFC 8259 §2).
    case unexpectedEnd
    /// A byte that the grammar does not allow at this place (RFC 8259 §2).
    case unexpectedByte(at: Int)
    /// Bytes other than whitespace follow the one value of a text (RFC 8259 §2).
    case trailingBytes(at: Int)
    /// A number breaks the grammar at this byte: a leading zero, a missing digit (RFC 8259 §6).
    case invalidNumber(at: Int)
    /// A backslash starts no known escape; the offset is that of the backslash (RFC 8259 §7).
    case invalidEscape(at: Int)
    /// A string holds a control character that is not escaped (RFC 8259 §7).
    case controlCharacter(at: Int)
    /// The sequence that starts here is no UTF-8: overlong, a surrogate, cut short (RFC 3629 §4).
    case invalidUTF8(at: Int)
    /// The array or object that opens here is nested deeper than the limit.
    case depthLimit(limit: Int, at: Int)
    /// The escape of half a surrogate pair, which no Unicode text can hold (RFC 8259 §8.2).
    case loneSurrogate(at: Int)
    /// The key that starts here is one that its object has already (RFC 8259 §4).
    case duplicateMember(at: Int)
    /// The value that starts here is of another kind than the one that was asked for.
    case wrongKind(expected: JSONKind, found: JSONKind, at: Int)
    /// The number that starts here has a fraction or an exponent where an integer was asked for.
    case notAnInteger(at: Int)
    /// The number that starts here does not fit the type that was asked for (RFC 8259 §6).
    case numberOutOfRange(at: Int)

    /// Whether the text breaks the grammar of RFC 8259, or is no UTF-8.
    ///
    /// The other errors are about well-formed JSON: `JSONReader` is behind the refused value and
    /// can continue, except after `depthLimit`.
    public var isMalformed: Bool {
        switch self {
        case .unexpectedEnd, .unexpectedByte, .trailingBytes, .invalidNumber, .invalidEscape,
            .controlCharacter, .invalidUTF8:
            true
        case .depthLimit, .loneSurrogate, .duplicateMember, .wrongKind, .notAnInteger,
            .numberOutOfRange:
            false
        }
    }

    /// The byte that the error is about, or `nil` when it is the end of the text.
    public var offset: Int? {
        switch self {
        case .unexpectedEnd:
            nil
        case .unexpectedByte(let offset), .trailingBytes(let offset), .invalidNumber(let offset),
            .invalidEscape(let offset), .controlCharacter(let offset), .invalidUTF8(let offset),
            .depthLimit(_, let offset), .loneSurrogate(let offset), .duplicateMember(let offset),
            .wrongKind(_, _, let offset), .notAnInteger(let offset),
            .numberOutOfRange(let offset):
            offset
        }
    }
}
