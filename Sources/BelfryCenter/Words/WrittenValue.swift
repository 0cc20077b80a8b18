/// The result of a write.
public struct WrittenValue: Sendable, Equatable {
    /// The account of the change; without one, all is 0 but the number of the last notification.
    public let receipt: Receipt
    /// Whether a byte has changed (rule V2).
    public let isChanged: Bool
    /// Whether the place was empty before.
    public let isCreated: Bool
    /// The tag of the value at the place now; nil where there is none.
    public let tag: ValueTag?

    /// Joins the parts.
    public init(receipt: Receipt, isChanged: Bool, isCreated: Bool, tag: ValueTag?) {
        self.receipt = receipt
        self.isChanged = isChanged
        self.isCreated = isCreated
        self.tag = tag
    }
}
