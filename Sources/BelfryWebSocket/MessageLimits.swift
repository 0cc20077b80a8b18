/// The limits of one message on a connection.
public struct MessageLimits: Equatable, Sendable {
    /// The largest message that is accepted, in bytes after unmasking and inflation.
    ///
    /// A longer one is refused with 1009 when the frame header that passes the limit has arrived,
    /// before its payload; a compressed one when so many bytes of it have been inflated. The
    /// default is 1_048_576.
    public var messageByteLimit: Int

    /// The largest compressed message that is accepted, in bytes before inflation.
    ///
    /// Deflate may lengthen dense bytes: by a ninth, if a sender does it badly.
    var compressedByteLimit: Int { messageByteLimit + messageByteLimit / 8 + 64 }

    /// The largest number of frames that a message may consist of.
    ///
    /// It bounds the work that empty fragments cause. The default is 10_000.
    public var fragmentLimit: Int

    /// Limits with the defaults where nothing else is said.
    public init(messageByteLimit: Int = 1_048_576, fragmentLimit: Int = 10_000) {
        precondition(messageByteLimit >= 1, "a message limit of no bytes")
        precondition(fragmentLimit >= 1, "a limit of no fragments")
        self.messageByteLimit = messageByteLimit
        self.fragmentLimit = fragmentLimit
    }

    /// The largest payload of a control frame, in bytes (RFC 6455 §5.5).
    public static let controlPayloadByteLimit = 125
}
