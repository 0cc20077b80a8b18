/// The notifications that a caller may post, as data: commands hold no code.
public enum PostScope: Sendable, Equatable {
    /// All notifications.
    case everything
    /// The notifications that one of these patterns covers.
    case some([Pattern])

    /// Names and objects that belong together.
    public struct Pattern: Sendable, Equatable {
        /// The names; an empty list covers all.
        public var names: [Text]
        /// The objects; an empty list covers all, and a missing object.
        public var objects: [Text]

        /// Joins both.
        public init(names: [Text] = [], objects: [Text] = []) {
            self.names = names
            self.objects = objects
        }
    }

    /// A text, or all texts that begin with it.
    public enum Text: Sendable, Equatable {
        /// Exactly this one.
        case exact([UInt8])
        /// All texts that begin with this.
        case prefix([UInt8])

        func matches(_ text: Span<UInt8>) -> Bool {
            let wanted: [UInt8]
            switch self {
            case .exact(let exact):
                guard exact.count == text.count else { return false }
                wanted = exact
            case .prefix(let prefix):
                guard prefix.count <= text.count else { return false }
                wanted = prefix
            }
            // Bound: bytes
            for index in wanted.indices where wanted[index] != text[index] { return false }
            return true
        }
    }

    /// Whether a notification with this content may be posted.
    func allows(_ content: Notification.Content) -> Bool {
        switch self {
        case .everything:
            return true
        case .some(let patterns):
            return patterns.contains { pattern in
                Self.covers(pattern.names, content.name)
                    && Self.covers(pattern.objects, content.object)
            }
        }
    }

    private static func covers(_ texts: [Text], _ value: Span<UInt8>?) -> Bool {
        if texts.isEmpty { return true }
        guard let value else { return false }
        for text in texts where text.matches(value) { return true }  // Bound: grants
        return false
    }
}
