/// A client that connected just now and continues an earlier one.
public struct Resumption: Sendable {
    /// The client of the connection, which disappears.
    public let newcomer: UInt64
    /// The client that goes on.
    public let client: UInt64
    /// The sequence number above which the replay ring is asked for; nil asks for nothing.
    public let after: UInt64?
    /// The last entry of a log that the broker had applied which has got it; nil without a log.
    public let appliedIndex: UInt64?
    /// How far the connection was written that ends with it; whoever applies a log finds that out.
    var written: WrittenThrough?

    /// Joins the parts.
    public init(
        newcomer: UInt64, client: UInt64, after: UInt64?, appliedIndex: UInt64? = nil
    ) {
        self.newcomer = newcomer
        self.client = client
        self.after = after
        self.appliedIndex = appliedIndex
    }
}
