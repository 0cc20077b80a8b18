/// An event that a `MessageReader` found in the bytes.
public enum WebSocketEvent: Equatable, Sendable {
    /// A whole text message, valid UTF-8; its bytes are in `MessageReader.message`.
    case text
    /// A whole binary message; its bytes are in `MessageReader.message`.
    case binary
    /// A ping that asks for a pong with the payload in `MessageReader.control` (RFC 6455 §5.5.2).
    case ping
    /// A pong; its payload is in `MessageReader.control`.
    case pong
    /// The peer's Close with its code, if it has one; the reason is in `MessageReader.control`.
    ///
    /// Whatever follows is ignored (RFC 6455 §5.5.1).
    case close(code: CloseCode?)
}
