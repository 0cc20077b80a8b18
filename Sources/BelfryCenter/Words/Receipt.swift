/// The account of one post (law 3): matched = delivered + held + coalesced + dropped.
public struct Receipt: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Its sequence number; 0 while it is queued.
    public let sequence: UInt64
    /// What became of it.
    public var state = State.posted
    /// Observers whose filter matched.
    public var matched: UInt32 = 0
    /// Put on the way to a client that was live; no promise of arrival.
    public var delivered: UInt32 = 0
    /// Kept for a client that is suspended.
    public var held: UInt32 = 0
    /// Held in the place of an older one.
    public var coalesced: UInt32 = 0
    /// Lost for an observer, which is told a gap.
    public var dropped: UInt32 = 0
    /// Acknowledging observers that have processed it.
    public var acknowledged: UInt32 = 0
    /// Acknowledging observers that have refused it.
    public var refused: UInt32 = 0
    /// Acknowledging observers that have not answered yet.
    public var pending: UInt32 = 0
    /// Queue entries that a `now` post took out.
    public var dequeued: UInt32 = 0

    /// Makes the account of a post that nothing is counted for yet.
    public init(id: NotificationID, sequence: UInt64) {
        self.id = id
        self.sequence = sequence
    }

    /// What became of a post.
    public enum State: Sendable, Equatable {
        /// It was dispatched; the numbers count.
        case posted
        /// It waits in the queue.
        case queued
        /// It is a timer that enters the queue at this time, in milliseconds since 1970; nil for a farewell whose
        /// client is connected.
        case timed(dueAt: Int64?)
        /// Another notification stands for it.
        case coalesced(into: NotificationID)
        /// It was taken out of the queue, and never posted.
        case dequeued
        /// Its time to live ended in the queue.
        case expired
    }
}
