/// The stored record of an action that a responder holds, or was sent and has not answered.
public struct ActionRecord: Sendable, Equatable {
    /// The sequence number of its notification.
    public let sequence: UInt64
    /// The number of the observer that has the target.
    public let row: UInt64
    /// The number of the responder.
    public let responder: UInt64
    /// The method that the responder is called with.
    public let selector: [UInt8]
    /// Whether the responder answers.
    public let acknowledges: Bool
    /// The addresses of the walk; the last one is that of the responder.
    public let path: [[UInt8]]
    /// The responders that were asked to answer it.
    public let shown: [UInt64]

    /// Joins the parts.
    public init(
        sequence: UInt64, row: UInt64, responder: UInt64, selector: [UInt8], acknowledges: Bool,
        path: [[UInt8]], shown: [UInt64]
    ) {
        self.sequence = sequence
        self.row = row
        self.responder = responder
        self.selector = selector
        self.acknowledges = acknowledges
        self.path = path
        self.shown = shown
    }
}
