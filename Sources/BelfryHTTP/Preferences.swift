/// The preferences of a request in its Prefer fields (RFC 7240).
///
/// Preferences that are unknown or malformed are ignored (§2); of a repeated one the first counts.
public struct Preferences: Sendable, Equatable {
    /// The preferred content of a response (RFC 7240 §4.2).
    public enum Return: Sendable, Equatable {
        /// `return=minimal`.
        case minimal
        /// `return=representation`.
        case representation
    }

    /// True for `respond-async` (RFC 7240 §4.1).
    public private(set) var respondsAsync = false
    /// The seconds of `wait=N` (RFC 7240 §4.3); a larger number than fits is `Int.max`.
    public private(set) var waitSeconds: Int?
    /// The value of `return`.
    public private(set) var `return`: Return?

    /// No preference at all.
    public init() {}

    /// Reads all Prefer fields of a request.
    public init(of head: RequestHead) {
        for range in head.values(of: "prefer") {
            add(head.value(in: range))
        }
    }

    /// Reads one more Prefer field.
    public mutating func add(_ field: Span<UInt8>) {
        var cursor = 0
        while let element = FieldList.nextElement(in: field, at: &cursor) {
            let preference = field.extracting(element)
            var end = 0
            let part = FieldList.nextPart(in: preference, separator: ASCII.semicolon, at: &end)
            take(preference.extracting(part))
        }
    }

    /// Takes `token [ BWS "=" BWS word ]`.
    private mutating func take(_ text: Span<UInt8>) {
        let mark = text.firstIndex(of: ASCII.equals, in: text.indices)
        let name = text.extracting(text.trimmingBlanks(0..<mark))
        var word: [UInt8] = []
        if mark < text.count {
            let range = text.trimmingBlanks(mark + 1..<text.count)
            guard let value = FieldList.word(in: text.extracting(range)) else { return }
            word = value
        }
        if name.equalsIgnoringCase("respond-async") {
            // An empty value equals none (RFC 7240 §2).
            respondsAsync = respondsAsync || word.isEmpty
        } else if name.equalsIgnoringCase("wait"), waitSeconds == nil {
            waitSeconds = try? Framing.contentLength(word.span)
        } else if name.equalsIgnoringCase("return"), `return` == nil {
            if word.span.equals("minimal") { `return` = .minimal }
            if word.span.equals("representation") { `return` = .representation }
        }
    }
}
