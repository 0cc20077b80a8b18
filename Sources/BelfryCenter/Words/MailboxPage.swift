/// The content of a mailbox for one observer.
public struct MailboxPage: Sendable {
    /// Unacknowledged notifications and open asks, in the order of their sequence numbers.
    public var elements: [Element] = []
    /// Losses of the observer that were not acknowledged yet.
    public var gaps: [Gap] = []
    /// The sequence number with which the next look acknowledges the whole page.
    public var next: UInt64 = 0

    /// Whether the page has neither elements nor gaps.
    public var isEmpty: Bool { elements.isEmpty && gaps.isEmpty }

    /// A notification, an action, or an ask.
    public struct Element: Sendable {
        /// The notification.
        public let notification: Notification
        /// Whether it may have been delivered before.
        public let isRedelivered: Bool
        /// The additional members of an ask or an action.
        public var addressed: Addressed?
        /// The place of a value, if it is about one.
        public var keyPath: [UInt8]?
    }
}
