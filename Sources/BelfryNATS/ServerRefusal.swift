/// The text of an -ERR.
public struct ServerRefusal: Sendable, Equatable {
    /// The reason, without its quotation marks.
    public let text: [UInt8]

    /// Reads the text between apostrophes.
    init(quoted text: [UInt8]) {
        let mark = UInt8(ascii: "'")
        let isQuoted = text.count >= 2 && text.first == mark && text.last == mark
        self.text = isQuoted ? Array(text.dropFirst().dropLast()) : text
    }

    /// Whether the connection survives: it ends after all but these.
    public var keepsConnection: Bool {
        ["INVALID SUBJECT", "INVALID PUBLISH SUBJECT", "PERMISSIONS VIOLATION"].contains {
            text.span.extracting(first: $0.utf8.count).isWord($0)
        }
    }
}
