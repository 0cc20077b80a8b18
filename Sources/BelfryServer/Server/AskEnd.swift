import BelfryCenter

/// The end of an ask, as a label of a metric.
enum AskEnd: Int, CaseIterable {
    /// A responder has answered it.
    case answered
    /// The fallback that came with the ask was its answer, whatever the reason.
    case fallback
    /// The asker took the ask back.
    case withdrawn
    case noResponder, responderBusy, selectorNotImplemented, responderRefused, responderGone
    case noAnswer

    /// Maps the state of an ask; nil for one that is open.
    init?(_ state: AskOutcome.State) {
        switch state {
        case .open: return nil
        case .answered: self = .answered
        case .fallback: self = .fallback
        case .withdrawn: self = .withdrawn
        case .failed(let failure): self.init(failure)
        }
    }

    private init(_ failure: AskFailure) {
        switch failure {
        case .noResponder: self = .noResponder
        case .responderBusy: self = .responderBusy
        case .selectorNotImplemented: self = .selectorNotImplemented
        case .responderRefused: self = .responderRefused
        case .responderGone: self = .responderGone
        case .noAnswer: self = .noAnswer
        }
    }

    /// The word of the label; for a failure, the one of its problem.
    var text: String {
        switch self {
        case .answered: "answered"
        case .fallback: "default"
        case .withdrawn: "withdrawn"
        case .noResponder: AskFailure.noResponder.text
        case .responderBusy: AskFailure.responderBusy.text
        case .selectorNotImplemented: AskFailure.selectorNotImplemented.text
        case .responderRefused: AskFailure.responderRefused(error: []).text
        case .responderGone: AskFailure.responderGone.text
        case .noAnswer: AskFailure.noAnswer.text
        }
    }
}
