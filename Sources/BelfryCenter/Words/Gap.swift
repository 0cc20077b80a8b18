/// A loss of notifications for one observer.
public struct Gap: Sendable, Equatable {
    /// The serial number of the observer.
    public let observer: UInt64
    /// Its selector; empty for a responder.
    public let selector: [UInt8]
    /// How many notifications; nil when the number is unknown.
    public let lostCount: Int?
    /// The first sequence number that may be missing.
    public let firstSequence: UInt64
    /// The last sequence number that may be missing.
    public let lastSequence: UInt64
    /// The reason of the loss.
    public let reason: Reason

    /// Joins the parts.
    public init(
        observer: UInt64, selector: [UInt8], lostCount: Int?, firstSequence: UInt64,
        lastSequence: UInt64, reason: Reason
    ) {
        self.observer = observer
        self.selector = selector
        self.lostCount = lostCount
        self.firstSequence = firstSequence
        self.lastSequence = lastSequence
        self.reason = reason
    }

    /// The reason why notifications were lost.
    public enum Reason: UInt8, Sendable, Equatable, CaseIterable {
        /// The observer drops notifications while its client is suspended (rule D5).
        case dropped
        /// A later notification of the same name and object replaced them (rule D6).
        case coalesced
        /// The limit of held notifications was passed (rule D7).
        case overflow
        /// The time to live of the notifications ended.
        case expired
        /// The replay ring no longer has them, or the reason is unknown.
        case unknown
    }
}
