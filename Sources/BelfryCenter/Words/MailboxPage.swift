/// What a mailbox has for one observer.
public struct MailboxPage: Sendable {
    /// Notifications that were not acknowledged and asks that are open, in the order of their sequence numbers.
    public var elements: [Element] = []
    /// What the observer lost and has not acknowledged yet.
    public var gaps: [Gap] = []
    /// The sequence number with which the next look acknowledges all of this.
    public var next: UInt64 = 0

    /// Whether there is nothing to tell.
    public var isEmpty: Bool { elements.isEmpty && gaps.isEmpty }

    /// A notification, an action, or an ask.
    public struct Element: Sendable {
        /// The notification.
        public let notification: Notification
        /// Whether it may have been delivered before.
        public let isRedelivered: Bool
        /// What an ask or an action has besides.
        public var addressed: Addressed?
        /// The place of a value, if it is about one.
        public var keyPath: [UInt8]?
    }
}
