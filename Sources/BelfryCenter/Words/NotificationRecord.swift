/// What lasts of a notification that is held.
public struct NotificationRecord: Sendable, Equatable {
    /// The notification; when it expires says `timeToLive`, for clocks start again.
    public let notification: Notification
    /// Nanoseconds that are left until it is dropped; nil is for ever.
    public let timeToLive: Int64?

    /// Joins both.
    public init(notification: Notification, timeToLive: Int64?) {
        self.notification = notification
        self.timeToLive = timeToLive
    }
}
