/// A media type with its charset (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Equatable {
    /// The type in lower case, as `application`.
    public let type: [UInt8]
    /// The subtype in lower case, as `json`.
    public let subtype: [UInt8]
    /// The value of the charset parameter in lower case and without quotes, if there is one.
    public let charset: [UInt8]?

    /// Reads `type "/" subtype *( OWS ";" OWS name "=" value )`, or gives `nil`.
    public init?(parsing text: Span<UInt8>) {
        var cursor = 0
        let essence = FieldList.nextPart(in: text, separator: ASCII.semicolon, at: &cursor)
        let slash = text.firstIndex(of: ASCII.slash, in: essence)
        guard slash < essence.upperBound,
            let type = Self.token(text.extracting(essence.lowerBound..<slash)),
            let subtype = Self.token(text.extracting(slash + 1..<essence.upperBound))
        else { return nil }
        var charset: [UInt8]?
        while cursor < text.count {
            let part = FieldList.nextPart(in: text, separator: ASCII.semicolon, at: &cursor)
            if part.isEmpty { continue }
            let mark = text.firstIndex(of: ASCII.equals, in: part)
            guard mark < part.upperBound,
                let name = Self.token(text.extracting(part.lowerBound..<mark)),
                let value = FieldList.word(in: text.extracting(mark + 1..<part.upperBound))
            else { return nil }
            if charset == nil, name.span.equals("charset") {
                charset = value.map(ASCII.lowercased)
            }
        }
        self.type = type
        self.subtype = subtype
        self.charset = charset
    }

    /// Whether a Content-Type names this type, as `application/json`, in lower case.
    ///
    /// Parameters are not looked at, and no memory is taken.
    public static func matches(_ text: Span<UInt8>, _ essence: String) -> Bool {
        let end = text.firstIndex(of: ASCII.semicolon, in: text.indices)
        return text.extracting(text.trimmingBlanks(0..<end)).equalsIgnoringCase(essence)
    }

    private static func token(_ text: Span<UInt8>) -> [UInt8]? {
        guard text.count > 0, text[0] != ASCII.quote else { return nil }
        return FieldList.word(in: text)?.map(ASCII.lowercased)
    }
}
