/// What the frame of a delivery that went to an address has besides its notification.
public struct Addressed: Sendable, Equatable {
    /// The address whose turn it is.
    public let target: [UInt8]
    /// What it is.
    public let kind: Kind

    /// Joins both.
    public init(target: [UInt8], kind: Kind) {
        self.target = target
        self.kind = kind
    }

    /// What goes to an address.
    public enum Kind: Sendable, Equatable {
        /// A question; when its time is over, in milliseconds since 1970.
        case ask(answerBy: Int64)
        /// What an observer with a target got: the method that is called there, and the number of the observer.
        case action(selector: [UInt8], row: UInt64)
    }
}
