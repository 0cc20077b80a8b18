/// The six kinds of JSON value; `true` and `false` are one (RFC 8259 §3).
public enum JSONKind: Equatable, Sendable {
    /// Members between braces.
    case object
    /// Elements between brackets.
    case array
    /// Text between quotation marks.
    case string
    /// A decimal number of any size.
    case number
    /// The literal `true` or `false`.
    case boolean
    /// The literal `null`.
    case null
}

extension JSONKind {
    /// The kind of the values that start with `byte`, or `nil` when none does.
    init?(firstByte byte: UInt8) {
        switch byte {
        case .openBrace: self = .object
        case .openBracket: self = .array
        case .quote: self = .string
        case .minus, .zero ... .nine: self = .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean
        case UInt8(ascii: "n"): self = .null
        default: return nil
        }
    }
}
