/// A responder as a listing shows it.
public struct ResponderRow: Sendable, Equatable {
    /// The responder as an observer.
    public let observer: ObserverRow
    /// The number of its open asks.
    public let openAskCount: Int
    /// How many asks it was shown.
    public let askedCount: UInt64
    /// How many of them it has answered.
    public let answeredCount: UInt64
}
