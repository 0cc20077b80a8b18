/// How many asks ended in which way since the center was made.
public struct AskEnds: Sendable, Equatable {
    /// Answered by a responder.
    public internal(set) var answered: UInt64 = 0
    /// Answered by the asker's own default.
    public internal(set) var fallback: UInt64 = 0
    /// Nobody held the address, or who implements the selector was suspended.
    public internal(set) var noResponder: UInt64 = 0
    /// Who implements the selector had enough open asks.
    public internal(set) var responderBusy: UInt64 = 0
    /// Nobody implements the selector.
    public internal(set) var selectorNotImplemented: UInt64 = 0
    /// Who was asked has refused.
    public internal(set) var responderRefused: UInt64 = 0
    /// Who was asked went away.
    public internal(set) var responderGone: UInt64 = 0
    /// The time was over.
    public internal(set) var noAnswer: UInt64 = 0
    /// Withdrawn.
    public internal(set) var withdrawn: UInt64 = 0

    /// No ask yet.
    public init() {}

    /// Counts one.
    mutating func count(_ state: AskOutcome.State) {
        switch state {
        case .open: break
        case .answered: answered += 1
        case .fallback: fallback += 1
        case .withdrawn: withdrawn += 1
        case .failed(let failure):
            switch failure {
            case .noResponder: noResponder += 1
            case .responderBusy: responderBusy += 1
            case .selectorNotImplemented: selectorNotImplemented += 1
            case .responderRefused: responderRefused += 1
            case .responderGone: responderGone += 1
            case .noAnswer: noAnswer += 1
            }
        }
    }
}
