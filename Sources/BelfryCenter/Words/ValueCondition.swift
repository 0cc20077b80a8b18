/// A condition on the value at the place of a write (RFC 9110 §13.1).
public struct ValueCondition: Sendable, Equatable {
    /// A value with one of these tags must be there.
    public var matches: Tags?
    /// A value with one of these tags must not be there.
    public var noneMatches: Tags?

    /// Makes an empty condition.
    public init() {}

    /// Some tags; those that no value can have are left out.
    public enum Tags: Sendable, Equatable {
        /// The tag of any value: `*`.
        case any
        /// These tags.
        case some([ValueTag])

        /// Whether a tag is among them.
        public func include(_ tag: ValueTag) -> Bool {
            switch self {
            case .any: true
            case .some(let tags): tags.contains(tag)
            }
        }
    }

    /// Whether nothing is required.
    public var isEmpty: Bool { matches == nil && noneMatches == nil }

    /// Whether a place with a value of this tag, or with none, meets the condition.
    public func isMet(by tag: ValueTag?) -> Bool {
        if let matches {
            guard let tag, matches.include(tag) else { return false }
        }
        if let noneMatches, let tag, noneMatches.include(tag) { return false }
        return true
    }
}
