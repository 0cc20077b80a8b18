/// An open ask as a listing shows it.
public struct AskRow: Sendable, Equatable {
    /// The ask.
    public let id: NotificationID
    /// The address that is asked.
    public let object: [UInt8]
    /// The selector.
    public let selector: [UInt8]
    /// The serial number of the observer that is asked now.
    public let observer: UInt64
    /// The addresses that were asked, in the order of the walk.
    public let path: [[UInt8]]
    /// When it was asked, in milliseconds since 1970.
    public let askedAt: Int64
    /// When its time is over.
    public let answerBy: Int64
    /// Whether the observer was shown it; otherwise it is held for the observer.
    public let isShown: Bool
    /// The principal of the asker.
    public let principal: [UInt8]
    /// The JSON object that a page shows to the person who answers.
    public let present: [UInt8]?
}
