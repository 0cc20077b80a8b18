/// What an observer is for.
public enum ObserverRole: Sendable, Equatable {
    /// It observes notifications of its filter, and nothing more.
    case plain
    /// It holds the address that its object names, and answers what is asked there.
    indirect case responder(ResponderTerms)

    /// What makes it a responder, if it is one.
    public var responder: ResponderTerms? {
        if case .responder(let terms) = self { terms } else { nil }
    }
}
