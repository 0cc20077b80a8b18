/// The terms of a responder: its selectors, and the address that comes next.
public struct ResponderTerms: Sendable, Equatable {
    /// The selectors that it implements, each once; an alias has none, and hands on to `next`.
    public var implements: [[UInt8]]
    /// The address that is asked when this one does not answer.
    public var next: [UInt8]?
    /// The effect of its registration where the address has a holder already.
    public var ifHeld = IfHeld.replace
    /// How many asks it may have open at once.
    public var concurrency = 1_000

    /// Makes terms with the defaults.
    public init(implements: [[UInt8]], next: [UInt8]? = nil) {
        self.implements = implements
        self.next = next
    }

    /// The effect of a registration where the address has a holder already (rules R1 and R2).
    public enum IfHeld: UInt8, Sendable, CaseIterable {
        /// The registration removes all holders.
        case replace
        /// The registration is refused.
        case refuse
        /// The registration joins the holders, if all of them share.
        case share
    }
}
