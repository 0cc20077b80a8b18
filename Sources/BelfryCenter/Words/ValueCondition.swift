/// What must be at the place of a write for it to be done (RFC 9110 §13.1).
public struct ValueCondition: Sendable, Equatable {
    /// There must be a value with one of these tags.
    public var matches: Tags?
    /// There must be no value with one of these tags.
    public var noneMatches: Tags?

    /// Asks for nothing.
    public init() {}

    /// Some tags; those that no value can have are left out.
    public enum Tags: Sendable, Equatable {
        /// That of any value: `*`.
        case any
        /// These.
        case some([ValueTag])

        /// Whether a tag is one of them.
        public func include(_ tag: ValueTag) -> Bool {
            switch self {
            case .any: true
            case .some(let tags): tags.contains(tag)
            }
        }
    }

    /// Whether anything is asked for.
    public var isEmpty: Bool { matches == nil && noneMatches == nil }

    /// Whether a place meets it that has a value with this tag, or none.
    public func isMet(by tag: ValueTag?) -> Bool {
        if let matches {
            guard let tag, matches.include(tag) else { return false }
        }
        if let noneMatches, let tag, noneMatches.include(tag) { return false }
        return true
    }
}
