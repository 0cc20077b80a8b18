/// The reason why an ask has no answer of a responder.
public enum AskFailure: Sendable, Equatable {
    /// The address has no holder, or none that implements the selector is live or holds.
    case noResponder
    /// The holders that implement the selector are at their limit of open asks, and do not hold.
    case responderBusy
    /// The address has a holder, but no holder on the chain implements the selector.
    case selectorNotImplemented
    /// The responder has refused; the JSON-RPC error as it was sent, at most 1 KiB.
    case responderRefused(error: [UInt8])
    /// The ask was to be shown once, and its responder went away.
    case responderGone
    /// The time of the ask is over.
    case noAnswer

    /// The word in an answer, in a fate and in the type of a problem.
    public var text: String {
        switch self {
        case .noResponder: "no-responder"
        case .responderBusy: "responder-busy"
        case .selectorNotImplemented: "selector-not-implemented"
        case .responderRefused: "responder-refused"
        case .responderGone: "responder-gone"
        case .noAnswer: "no-answer"
        }
    }
}
