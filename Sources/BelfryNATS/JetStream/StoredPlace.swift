/// The place of a message in its stream, as the headers tell that a stream adds.
///
/// A republished message has them, and one that DIRECT.GET brings.
public struct StoredPlace: Sendable, Equatable {
    /// The number in the stream.
    public let sequence: UInt64
    /// The number of the message before it.
    ///
    /// In a republished message it is that of the last one with the same subject, or 0 when the
    /// stream has none, as after it was emptied. In a batch it is that of the last one of the
    /// batch, or 0 in the first. A single message that DIRECT.GET brings does not tell.
    public let lastSequence: UInt64?
    /// How many messages are left behind it; a republished message does not tell.
    public let numPending: UInt64?

    /// Reads the fields.
    ///
    /// - Throws: `invalidField`.
    public init(_ headers: HeaderBlock) throws(NATSError) {
        guard let sequence = try headers.number(of: .sequence) else {
            throw .invalidField(.sequence)
        }
        self.sequence = sequence
        lastSequence = try headers.number(of: .lastSequence)
        numPending = try headers.number(of: .numPending)
    }
}
