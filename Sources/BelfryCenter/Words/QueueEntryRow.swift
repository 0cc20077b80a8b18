/// A queue entry or a timer as a listing shows it.
public struct QueueEntryRow: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Name, object and userInfo.
    public let content: Notification.Content
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
    /// The timing of a timer; nil for an entry.
    public var timer: Timing?

    /// The timing of a timer.
    public struct Timing: Sendable, Equatable {
        /// The due time, in milliseconds since 1970; nil for a farewell whose client is connected.
        public let dueAt: Int64?
        /// The client that the farewell waits for.
        public let client: UInt64?
        /// The history of a repeating timer.
        public let repetition: Repetition?

        /// The history of a repeating timer.
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
