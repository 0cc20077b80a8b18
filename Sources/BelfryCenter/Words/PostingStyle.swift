/// The moment when a notification leaves the queue (Cocoa's NSPostingStyle).
public enum PostingStyle: UInt8, Sendable, CaseIterable {
    /// At once, after similar entries were taken out of the queue (rule Q8).
    case now
    /// At the end of the turn (rule Q10).
    case asap
    /// When the loop would wait (rule Q12).
    case idle

    /// Whether such a post may wait in the queue.
    public var isQueued: Bool { self != .now }
}
