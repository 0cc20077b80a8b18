/// Why an ask has no answer of a responder.
public enum AskFailure: Sendable, Equatable {
    /// Nobody holds the address, or who implements the selector is suspended and does not hold.
    case noResponder
    /// Who implements the selector has as many open asks as it may, and does not hold.
    case responderBusy
    /// Somebody holds the address, and nobody on the chain implements the selector.
    case selectorNotImplemented
    /// Who was asked has refused; the JSON-RPC error as it was sent, at most 1 KiB.
    case responderRefused(error: [UInt8])
    /// It was to be shown once, and who was asked went away.
    case responderGone
    /// Its time is over.
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
