/// The kind of a frame, as its low four bits say it (RFC 6455 §5.2).
public enum Opcode: UInt8, Sendable {
    /// A further fragment of the message that is open.
    case continuation = 0x0
    /// The only or first fragment of a text message.
    case text = 0x1
    /// The only or first fragment of a binary message.
    case binary = 0x2
    /// The last frame that its sender sends.
    case close = 0x8
    /// A question whether the other side is alive.
    case ping = 0x9
    /// The answer to a ping, or an unsolicited sign of life.
    case pong = 0xA

    /// Whether frames of this kind begin a message (RFC 6455 §5.4).
    var isFirst: Bool {
        switch self {
        case .text, .binary: true
        case .continuation, .close, .ping, .pong: false
        }
    }

    /// Whether frames of this kind are allowed between fragments of a message (RFC 6455 §5.5).
    public var isControl: Bool {
        switch self {
        case .continuation, .text, .binary: false
        case .close, .ping, .pong: true
        }
    }
}
