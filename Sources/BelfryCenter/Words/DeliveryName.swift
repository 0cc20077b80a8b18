/// The name of a delivery that is answered, which is the id of its request.
public struct DeliveryName: Sendable, Equatable {
    /// The number of the observer that answers.
    public let observer: UInt64
    /// The sequence number of the delivery.
    public let sequence: UInt64
    /// The number of the observer that has the target; nil for all but actions.
    public let row: UInt64?

    /// Joins the parts.
    public init(observer: UInt64, sequence: UInt64, row: UInt64? = nil) {
        self.observer = observer
        self.sequence = sequence
        self.row = row
    }
}
