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
    /// What a timer has besides; nil for an entry.
    public var timer: Timing?

    /// When a timer becomes an entry.
    public struct Timing: Sendable, Equatable {
        /// When it is due, in milliseconds since 1970; nil for a farewell whose client is connected.
        public let dueAt: Int64?
        /// The client whose farewell it is.
        public let client: UInt64?
        /// What a repeating timer has done.
        public let repetition: Repetition?

        /// What a repeating timer has done.
        public struct Repetition: Sendable, Equatable {
            /// The nanoseconds between two firings.
            public let period: Int64
            /// How many were made.
            public let fired: Int64
            /// How many were due and not made.
            public let missed: Int64
        }
    }
}
