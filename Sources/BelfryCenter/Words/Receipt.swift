/// The account of one post (law 3): matched = delivered + held + coalesced + dropped.
public struct Receipt: Sendable, Equatable {
    /// The notification.
    public let id: NotificationID
    /// Its sequence number; 0 while it is queued.
    public let sequence: UInt64
    /// The state of the post.
    public var state = State.posted
    /// Whether an archive keeps it.
    public var isKept = false
    /// Observers whose filter matched.
    public var matched: UInt32 = 0
    /// Deliveries to live clients; no promise of arrival.
    public var delivered: UInt32 = 0
    /// Copies kept for suspended clients.
    public var held: UInt32 = 0
    /// Held copies that replaced an older one.
    public var coalesced: UInt32 = 0
    /// Losses, each of which the observer gets a gap for.
    public var dropped: UInt32 = 0
    /// Acknowledging observers that have processed it.
    public var acknowledged: UInt32 = 0
    /// Acknowledging observers that have refused it.
    public var refused: UInt32 = 0
    /// Acknowledging observers that have not answered yet.
    public var pending: UInt32 = 0
    /// Queue entries that a `now` post removed.
    public var dequeued: UInt32 = 0

    /// Makes the account of a post without any counts.
    public init(id: NotificationID, sequence: UInt64) {
        self.id = id
        self.sequence = sequence
    }

    /// The state of a post.
    public enum State: Sendable, Equatable {
        /// The post was dispatched; the numbers count.
        case posted
        /// The post waits in the queue.
        case queued
        /// The post is a timer that enters the queue at this time, in milliseconds since 1970.
        ///
        /// The time is nil for a farewell whose client is connected.
        case timed(dueAt: Int64?)
        /// The post was merged into another notification.
        case coalesced(into: NotificationID)
        /// The post was removed from the queue, and never dispatched.
        case dequeued
        /// The time to live of the post ended in the queue.
        case expired
    }
}

extension Receipt {
    /// Counts the outcome of the notification at one more observer.
    mutating func count(_ outcome: ReportRow.Outcome) {
        switch outcome {
        case .delivered: delivered += 1
        case .pending:
            delivered += 1
            pending += 1
        case .held: held += 1
        case .coalesced: coalesced += 1
        case .dropped, .unhandled: dropped += 1
        case .acknowledged, .answered, .resultOmitted, .refused, .disconnected: break
        }
    }
}
