/// A message that a subscription brought.
public struct Message: Sendable, Equatable {
    /// The subject to which it was published.
    public internal(set) var subject: [UInt8] = []
    /// The number that the client gave its subscription.
    public internal(set) var sid: UInt64 = 0
    /// The subject for an answer, or `nil`.
    public internal(set) var replyTo: [UInt8]?
    /// The header block as it came; empty for MSG.
    public internal(set) var headerBytes: [UInt8] = []
    /// The payload.
    public internal(set) var payload: [UInt8] = []

    /// Reads the header block; without one there are no fields.
    ///
    /// Any client may publish bytes that are no header block, and the server passes them on, so
    /// this is no fault of the connection.
    /// - Throws: `malformedHeaders`.
    public func headers() throws(NATSError) -> HeaderBlock {
        headerBytes.isEmpty ? HeaderBlock() : try HeaderBlock(headerBytes)
    }
}
