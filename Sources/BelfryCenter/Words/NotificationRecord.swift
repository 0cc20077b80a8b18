/// The stored record of a held notification.
public struct NotificationRecord: Sendable, Equatable {
    /// The notification; `timeToLive` replaces its expiry, because clocks start again.
    public let notification: Notification
    /// Nanoseconds that are left until it is dropped; nil is forever.
    public let timeToLive: Int64?

    /// Joins both.
    public init(notification: Notification, timeToLive: Int64?) {
        self.notification = notification
        self.timeToLive = timeToLive
    }
}
