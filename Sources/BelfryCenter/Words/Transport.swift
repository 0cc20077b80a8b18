/// How a client gets its notifications.
public enum Transport: UInt8, Sendable, CaseIterable {
    /// JSON-RPC over a WebSocket.
    case webSocket
    /// Server-Sent Events.
    case events
    /// Nothing is sent: whoever has an observer's token comes and looks.
    case mailbox

    /// How a mailbox is told to a reader who stays.
    public static var ofMailboxStreams: Transport { .events }

    /// Its name in JSON.
    public var text: String {
        switch self {
        case .webSocket: "websocket"
        case .events: "events"
        case .mailbox: "mailbox"
        }
    }

    /// Whether another connection may take a client of it over (Protocol.md section 6).
    var canResume: Bool {
        switch self {
        case .webSocket: true
        case .events, .mailbox: false
        }
    }
}
