/// The most that a server may send at a time; every count has an error of its own.
public struct NATSLimits: Sendable, Equatable {
    /// The longest line other than INFO, in bytes without its CR LF.
    public var controlLineByteLimit = 4_096
    /// The longest INFO, which names each server of a cluster, in bytes without its CR LF.
    public var infoByteLimit = 32_768
    /// The largest header block of a message, in bytes with its empty line.
    public var headerByteLimit = 8_192
    /// The largest payload of a message, in bytes without its header block.
    ///
    /// The server's own limit, `max_payload`, is for a published message with its header block. A
    /// stream adds fields to it, so that a received one may be longer than `max_payload`.
    public var payloadByteLimit: Int

    /// The default limits, with the payload limit that the caller needs.
    public init(payloadByteLimit: Int) {
        self.payloadByteLimit = payloadByteLimit
    }
}
