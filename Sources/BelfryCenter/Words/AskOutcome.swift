/// How an ask stands, or how it ended.
public struct AskOutcome: Sendable, Equatable {
    /// The ask.
    public let id: NotificationID
    /// What became of it.
    public let state: State
    /// The addresses that were asked, in the order of the walk.
    public let path: [[UInt8]]

    /// Joins the parts.
    public init(id: NotificationID, state: State, path: [[UInt8]]) {
        self.id = id
        self.state = state
        self.path = path
    }

    /// What became of an ask.
    public enum State: Sendable, Equatable {
        /// It is open, until this time in milliseconds since 1970.
        case open(until: Int64)
        /// An observer has answered it; the answer as JSON text.
        case answered([UInt8], observer: UInt64)
        /// Nobody has answered it, and the asker's own answer stands in.
        case fallback([UInt8], AskFailure)
        /// Nobody has answered it.
        case failed(AskFailure)
        /// It was withdrawn.
        case withdrawn

        /// The bytes of its answer, and of the error with which a responder refused.
        public var textByteCount: Int {
            switch self {
            case .answered(let answer, _): answer.count
            case .fallback(let answer, .responderRefused(let error)): answer.count + error.count
            case .fallback(let answer, _): answer.count
            case .failed(.responderRefused(let error)): error.count
            case .open, .failed, .withdrawn: 0
            }
        }
    }
}
