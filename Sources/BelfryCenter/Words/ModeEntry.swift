/// A mode that is entered.
public struct ModeEntry: Sendable {
    /// The number of the lease; `m3` has 3.
    ///
    /// It has none before the command is applied.
    public var serial: UInt64
    /// The hash of the secret half of its token.
    public let tokenHash: SecretHash
    /// The mode.
    public let mode: [UInt8]
    /// The client whose connection it ends with; nil for one that was entered over HTTP.
    public let client: UInt64?
    /// Nanoseconds after which it ends; nil when it lasts as long as its client's connection.
    public let lease: Int64?

    /// Joins the parts.
    public init(
        serial: UInt64 = 0, tokenHash: SecretHash, mode: [UInt8], client: UInt64?, lease: Int64?
    ) {
        self.serial = serial
        self.tokenHash = tokenHash
        self.mode = mode
        self.client = client
        self.lease = lease
    }
}
