/// The stored record of an ask that is open, or that ended a short while ago.
public struct AskRecord: Sendable, Equatable {
    /// The ask.
    public let id: NotificationID
    /// The selector as its name, the address as its object, and userInfo.
    public let content: Notification.Content
    /// The notification whose handling asked it.
    public let causedBy: NotificationID?
    /// How long the chain of `causedBy` is with it at its end.
    public let depth: Int
    /// The answer when there is no other.
    public let fallback: [UInt8]?
    /// Whether it is never shown twice.
    public let isOnce: Bool
    /// When it was asked, in milliseconds since 1970.
    public let askedAt: Int64
    /// When its time is over, in milliseconds since 1970.
    public let answerBy: Int64
    /// The principal of the asker.
    public let principal: [UInt8]
    /// The observers that were shown it, in that order.
    public let shown: [UInt64]
    /// The observer that is asked now; 0 while there is none.
    public let observer: UInt64
    /// The end of the ask; nil while it is open.
    public let end: End?
    /// The other wishes of the asker.
    public let options: AskOptions

    /// The end of an ask.
    public struct End: Sendable, Equatable {
        /// The final state.
        public let outcome: AskOutcome
        /// When its fate is forgotten, in milliseconds since 1970.
        public let forgottenAt: Int64

        /// Joins both.
        public init(outcome: AskOutcome, forgottenAt: Int64) {
            self.outcome = outcome
            self.forgottenAt = forgottenAt
        }
    }

    /// Joins the parts.
    public init(
        id: NotificationID, content: Notification.Content, causedBy: NotificationID?, depth: Int,
        fallback: [UInt8]?, isOnce: Bool, askedAt: Int64, answerBy: Int64, principal: [UInt8],
        shown: [UInt64], observer: UInt64, end: End?,
        options: AskOptions
    ) {
        self.id = id
        self.content = content
        self.causedBy = causedBy
        self.depth = depth
        self.fallback = fallback
        self.isOnce = isOnce
        self.askedAt = askedAt
        self.answerBy = answerBy
        self.principal = principal
        self.shown = shown
        self.observer = observer
        self.end = end
        self.options = options
    }
}
