/// What a write did.
public struct WrittenValue: Sendable, Equatable {
    /// The account of the change; all is 0 where there was none, but the number of the center's last notification.
    public let receipt: Receipt
    /// Whether a byte is another one (rule V2).
    public let isChanged: Bool
    /// Whether there was nothing at the place before.
    public let isCreated: Bool
    /// The tag of what is at the place now; nil where nothing is.
    public let tag: ValueTag?

    /// Joins the parts.
    public init(receipt: Receipt, isChanged: Bool, isCreated: Bool, tag: ValueTag?) {
        self.receipt = receipt
        self.isChanged = isChanged
        self.isCreated = isCreated
        self.tag = tag
    }
}
