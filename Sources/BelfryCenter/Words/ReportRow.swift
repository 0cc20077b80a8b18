/// The result of a notification at one observer (`report=observers`).
public struct ReportRow: Sendable, Equatable {
    /// The serial number of the observer.
    public let observer: UInt64
    /// The result.
    public var outcome: Outcome
    /// The route of the action, if the observer has a target.
    public var route: ActionRoute?

    /// Joins the parts.
    public init(observer: UInt64, outcome: Outcome, route: ActionRoute? = nil) {
        self.observer = observer
        self.outcome = outcome
        self.route = route
    }

    /// The result of a notification at one observer.
    public enum Outcome: Sendable, Equatable {
        /// The notification was sent to the observer.
        case delivered
        /// The observer has processed it.
        case acknowledged
        /// The observer has processed it, with this result as JSON text.
        case answered(result: [UInt8])
        /// The observer has processed it; there is no room for its result.
        case resultOmitted
        /// The observer has refused it; the JSON-RPC error as it was sent, at most 1 KiB.
        case refused(error: [UInt8])
        /// The observer has not answered yet.
        case pending
        /// The notification is kept until the client is live.
        case held
        /// The notification is held in the place of an older one.
        case coalesced
        /// The notification was lost.
        case dropped
        /// No responder takes the action (rule K4); it counts as dropped.
        case unhandled(AskFailure)
        /// The client was live, and left before it answered; the notification will be redelivered.
        case disconnected
    }

    /// The most bytes of a result in one row.
    public static let resultByteLimit = 4 << 10
    /// The most bytes of the results in all rows of one receipt.
    public static let resultsByteLimit = 1 << 20
}

extension ReportRow.Outcome {
    /// The text of the answer: its result, or its error.
    public var answerText: [UInt8]? {
        switch self {
        case .answered(let result): result
        case .refused(let error): error
        default: nil
        }
    }
}
