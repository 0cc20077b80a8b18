/// A subject: tokens with a dot between them, which nothing can be slipped into.
public struct Subject: Sendable, Equatable, CustomStringConvertible {
    /// The longest subject, in bytes, so that each operation fits into a control line.
    public static let byteLimit = 1_024

    /// The text.
    public let bytes: [UInt8]
    /// Whether it has wildcards, so that it can be subscribed to and not published to.
    public let isPattern: Bool

    /// A subject without wildcards.
    ///
    /// - Throws: `invalidSubject` or `subjectTooLong`.
    public init(_ text: String) throws(NATSError) {
        try self.init(pattern: text)
        guard !isPattern else { throw .invalidSubject }
    }

    /// A subject in which `*` matches one token and, at the end, `>` matches all that follow.
    ///
    /// - Throws: `invalidSubject` or `subjectTooLong`.
    public init(pattern text: String) throws(NATSError) {
        bytes = Array(text.utf8)
        guard bytes.count <= Self.byteLimit else { throw .subjectTooLong(limit: Self.byteLimit) }
        let tokens = bytes.split(separator: .dot, omittingEmptySubsequences: false)
        var isPattern = false
        for (index, token) in tokens.enumerated() {
            switch token.first {
            case UInt8(ascii: "*") where token.count == 1: isPattern = true
            case UInt8(ascii: ">") where token.count == 1 && index == tokens.count - 1:
                isPattern = true
            default: guard Self.isToken(token) else { throw .invalidSubject }
            }
        }
        self.isPattern = isPattern
    }

    /// A subject that the room puts together out of parts that were checked.
    init(prefix: StaticString, _ name: StreamName) {
        bytes = Array(prefix.description.utf8) + name.bytes
        isPattern = false
    }

    /// Whether these bytes are a token without wildcards.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty
            && !bytes.contains {
                $0.isControl || $0 == .space || $0 == .dot || $0 == UInt8(ascii: "*")
                    || $0 == UInt8(ascii: ">")
            }
    }

    /// The text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
