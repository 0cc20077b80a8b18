/// A client that connected just now and continues an earlier one.
public struct Resumption: Sendable {
    /// The new client of the connection, which disappears.
    public let newcomer: UInt64
    /// The client that continues.
    public let client: UInt64
    /// The number above which notifications are replayed; nil for no replay.
    public let after: UInt64?
    /// The last log entry that the accepting broker had applied; nil without a log.
    public let appliedIndex: UInt64?
    /// The record of writes to the connection that ends; the broker that applies a log sets it.
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
