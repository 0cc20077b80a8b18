/// What a mailbox has for one observer.
public struct MailboxPage: Sendable {
    /// Notifications that were not acknowledged, in the order of their sequence numbers.
    public var notifications: [(notification: Notification, isRedelivered: Bool)] = []
    /// What the observer lost and has not acknowledged yet.
    public var gaps: [Gap] = []
    /// The sequence number with which the next look acknowledges all of this.
    public var next: UInt64 = 0
}
