/// The additional members in the frame of a delivery to an address.
public struct Addressed: Sendable, Equatable {
    /// The address that is asked now.
    public let target: [UInt8]
    /// An ask or an action, with its own members.
    public let kind: Kind

    /// Joins both.
    public init(target: [UInt8], kind: Kind) {
        self.target = target
        self.kind = kind
    }

    /// The kind of a delivery to an address.
    public enum Kind: Sendable, Equatable {
        /// An ask.
        ///
        /// It has its deadline, in milliseconds since 1970, and the `present` for a page.
        case ask(answerBy: Int64, present: [UInt8]? = nil)
        /// A notification that an observer with a target matched.
        ///
        /// It has the method that is called there, and the number of the observer.
        case action(selector: [UInt8], row: UInt64)
    }
}
