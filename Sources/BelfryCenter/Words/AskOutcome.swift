/// The state of an ask, open or ended.
public struct AskOutcome: Sendable, Equatable {
    /// The ask.
    public let id: NotificationID
    /// The state, with the answer if there is one.
    public let state: State
    /// The addresses that were asked, in the order of the walk.
    public let path: [[UInt8]]

    /// Joins the parts.
    public init(id: NotificationID, state: State, path: [[UInt8]]) {
        self.id = id
        self.state = state
        self.path = path
    }

    /// The state of an ask.
    public enum State: Sendable, Equatable {
        /// The ask is open, until this time in milliseconds since 1970.
        case open(until: Int64)
        /// A responder has answered it.
        ///
        /// The answer is behind a reference: an outcome is copied often, and mostly has none.
        indirect case answered(AskAnswer)
        /// No responder has answered, and the asker's own answer is used.
        case fallback([UInt8], AskFailure)
        /// No responder has answered.
        case failed(AskFailure)
        /// The ask was withdrawn.
        case withdrawn

        /// The bytes of its answer, and of the error with which a responder refused.
        public var textByteCount: Int {
            switch self {
            case .answered(let answer): answer.byteCount
            case .fallback(let answer, .responderRefused(let error)): answer.count + error.count
            case .fallback(let answer, _): answer.count
            case .failed(.responderRefused(let error)): error.count
            case .open, .failed, .withdrawn: 0
            }
        }
    }
}
