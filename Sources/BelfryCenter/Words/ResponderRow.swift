/// What can be seen of a responder.
public struct ResponderRow: Sendable, Equatable {
    /// What can be seen of it as an observer.
    public let observer: ObserverRow
    /// How many asks it has open now.
    public let openAskCount: Int
    /// How many asks it was shown.
    public let askedCount: UInt64
    /// How many of them it has answered.
    public let answeredCount: UInt64
}
