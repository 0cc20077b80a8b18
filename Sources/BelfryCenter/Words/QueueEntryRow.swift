/// What can be seen of a queue entry.
public struct QueueEntryRow: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Name, object and userInfo.
    public let content: Notification.Content
    /// When it leaves.
    public let style: PostingStyle
    /// What it was posted with.
    public let coalescing: Coalescing
    /// The modes in which it may be posted.
    public let modes: [[UInt8]]
    /// How many other posts it stands for.
    public let mergedCount: Int
    /// When it was enqueued, in milliseconds since 1970.
    public let enqueuedAt: Int64
}
