/// What an observer lost.
public struct Gap: Sendable, Equatable {
    /// The serial number of the observer.
    public let observer: UInt64
    /// Its selector; empty of a responder.
    public let selector: [UInt8]
    /// How many notifications; nil when nobody can know.
    public let lostCount: Int?
    /// The first sequence number that may be missing.
    public let firstSequence: UInt64
    /// The last sequence number that may be missing.
    public let lastSequence: UInt64
    /// Why.
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

    /// Why notifications were lost.
    public enum Reason: UInt8, Sendable, Equatable, CaseIterable {
        /// The observer's behaviour is to lose what comes while its client is suspended (rule D5).
        case dropped
        /// A later one of the same name and object took its place (rule D6).
        case coalesced
        /// More was held than may be (rule D7).
        case overflow
        /// Its time to live ended.
        case expired
        /// The replay ring no longer has them, or nobody can know.
        case unknown
    }
}
