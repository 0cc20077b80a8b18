/// What one observer made of a notification (`report=observers`).
public struct ReportRow: Sendable, Equatable {
    /// The serial number of the observer.
    public let observer: UInt64
    /// What happened.
    public var outcome: Outcome
    /// Where it went, if the observer has a target.
    public var route: ActionRoute?

    /// Joins the parts.
    public init(observer: UInt64, outcome: Outcome, route: ActionRoute? = nil) {
        self.observer = observer
        self.outcome = outcome
        self.route = route
    }

    /// What happened to a notification at one observer.
    public enum Outcome: Sendable, Equatable {
        /// Put on the way to it.
        case delivered
        /// It has processed it.
        case acknowledged
        /// It has processed it, with this result as JSON text.
        case answered(result: [UInt8])
        /// It has processed it; there is no room for its result.
        case resultOmitted
        /// It has refused it; the JSON-RPC error as it was sent, at most 1 KiB.
        case refused(error: [UInt8])
        /// It has not answered yet.
        case pending
        /// Kept until its client is live.
        case held
        /// Held in the place of an older one.
        case coalesced
        /// Lost.
        case dropped
        /// Nobody takes the action (rule K4); it counts as dropped.
        case unhandled(AskFailure)
        /// It was live, and went before it answered; the notification is kept for redelivery.
        case disconnected
    }

    /// The most bytes of a result in one row.
    public static let resultByteLimit = 4 << 10
    /// The most bytes of the results in all rows of one receipt.
    public static let resultsByteLimit = 1 << 20
}

extension ReportRow.Outcome {
    /// The text that came with the answer: its result, or its error.
    public var answerText: [UInt8]? {
        switch self {
        case .answered(let result): result
        case .refused(let error): error
        default: nil
        }
    }
}
