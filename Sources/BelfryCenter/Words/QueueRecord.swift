/// The stored record of a queue entry.
public struct QueueRecord: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Its place: entries leave in the order of their places.
    public let place: UInt64
    /// Name, object and userInfo.
    public let content: Notification.Content
    /// The notification whose handling posted it.
    public let causedBy: NotificationID?
    /// How long the chain of `causedBy` is with it at its end.
    public let depth: Int
    /// The posting style.
    public let style: PostingStyle
    /// The mask that it was posted with.
    public let coalescing: Coalescing
    /// The modes in which it may be posted.
    public let modes: [[UInt8]]
    /// How many other posts were merged into it.
    public let mergedCount: Int
    /// When it was enqueued, in milliseconds since 1970.
    public let enqueuedAt: Int64
    /// Nanoseconds that are left until it counts as asap; nil is forever.
    public let delayLeft: Int64?
    /// Nanoseconds that are left until it is dropped; nil is forever.
    public let timeToLive: Int64?
    /// Whether it is delivered in spite of suspension.
    public let isImmediate: Bool

    /// Joins the parts.
    public init(
        id: NotificationID, place: UInt64, content: Notification.Content,
        causedBy: NotificationID?, depth: Int, style: PostingStyle, coalescing: Coalescing,
        modes: [[UInt8]], mergedCount: Int, enqueuedAt: Int64, delayLeft: Int64?,
        timeToLive: Int64?, isImmediate: Bool
    ) {
        self.id = id
        self.place = place
        self.content = content
        self.causedBy = causedBy
        self.depth = depth
        self.style = style
        self.coalescing = coalescing
        self.modes = modes
        self.mergedCount = mergedCount
        self.enqueuedAt = enqueuedAt
        self.delayLeft = delayLeft
        self.timeToLive = timeToLive
        self.isImmediate = isImmediate
    }
}
