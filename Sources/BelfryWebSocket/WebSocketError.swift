/// A violation of RFC 6455 or RFC 7692, or of a limit, by the remote endpoint.
///
/// Everything here fails the connection (RFC 6455 §7.1.7): send a Close frame with `closeCode`,
/// then end the transport.
public enum WebSocketError: Error, Equatable, Sendable {
    /// Reserved bits are set that no extension gave a meaning; the bits are 1 to 7 (§5.2).
    case reservedBits(UInt8)
    /// The opcode is one of those that are reserved (§5.2).
    case unknownOpcode(UInt8)
    /// A client sent a frame without a mask (§5.1).
    case missingMask
    /// A server sent a frame with a mask (§5.1).
    case unexpectedMask
    /// A control frame is not final (§5.5).
    case fragmentedControlFrame
    /// A control frame has more than 125 bytes of payload (§5.5).
    case controlFrameTooLong
    /// The payload length is not written in the smallest number of bytes (§5.2).
    case lengthNotMinimal(byteCount: UInt64)
    /// The most significant bit of a 64-bit payload length is set (§5.2).
    case lengthOutOfRange
    /// A continuation frame arrived with no message open (§5.4).
    case unexpectedContinuation
    /// A new message began before the last fragment of the message that is open (§5.4).
    case missingContinuation
    /// The message would pass the limit; both counts are in bytes.
    ///
    /// The length of a compressed message is unknown: the count is one past the limit.
    case messageTooBig(byteCount: Int, limit: Int)
    /// A compressed message is no deflate, or ends inside a block (RFC 7692 §7.2.2).
    case invalidDeflate
    /// The message would have more frames than the limit.
    case tooManyFragments(limit: Int)
    /// A text message or the reason of a Close is not UTF-8, seen at this byte of it (§8.1).
    case invalidUTF8(byteOffset: Int)
    /// A Close frame has a payload of one byte (§5.5.1).
    case truncatedCloseCode
    /// A Close frame has a code that is not allowed on the wire (§7.4).
    case invalidCloseCode(CloseCode)

    /// The status code for the Close frame that reports this error (RFC 6455 §7.4.1).
    public var closeCode: CloseCode {
        switch self {
        case .reservedBits, .unknownOpcode, .missingMask, .unexpectedMask: .protocolError
        case .fragmentedControlFrame, .controlFrameTooLong: .protocolError
        case .lengthNotMinimal, .lengthOutOfRange: .protocolError
        case .unexpectedContinuation, .missingContinuation: .protocolError
        case .messageTooBig, .tooManyFragments: .messageTooBig
        case .invalidUTF8, .invalidDeflate: .invalidPayload
        case .truncatedCloseCode, .invalidCloseCode: .protocolError
        }
    }
}
