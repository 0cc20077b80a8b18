/// What makes an observer a responder: the selectors that it answers, and where what it does not answer goes.
public struct ResponderTerms: Sendable, Equatable {
    /// The selectors that it implements, each once; with none it is an alias, which hands on to `next`.
    public var implements: [[UInt8]]
    /// The address that is asked when this one does not answer.
    public var next: [UInt8]?
    /// What its registration does where somebody holds the address already.
    public var ifHeld = IfHeld.replace
    /// How many asks it may have open at once.
    public var concurrency = 1_000

    /// Takes the defaults.
    public init(implements: [[UInt8]], next: [UInt8]? = nil) {
        self.implements = implements
        self.next = next
    }

    /// What a registration does where somebody holds the address already (rules R1 and R2).
    public enum IfHeld: UInt8, Sendable, CaseIterable {
        /// It removes all who hold it.
        case replace
        /// It is refused.
        case refuse
        /// It joins them, if all of them share.
        case share
    }
}
