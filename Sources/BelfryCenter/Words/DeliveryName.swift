/// The name of a delivery that is answered: what the id of its request says.
public struct DeliveryName: Sendable, Equatable {
    /// The number of the observer that answers.
    public let observer: UInt64
    /// The sequence number that it was sent.
    public let sequence: UInt64
    /// The number of the observer whose target it is, of an action.
    public let row: UInt64?

    /// Joins the parts.
    public init(observer: UInt64, sequence: UInt64, row: UInt64? = nil) {
        self.observer = observer
        self.sequence = sequence
        self.row = row
    }
}
