/// The transport of a client's notifications.
public enum Transport: UInt8, Sendable, CaseIterable {
    /// JSON-RPC over a WebSocket.
    case webSocket
    /// Server-Sent Events.
    case events
    /// No push: a caller with the token of an observer reads its mailbox.
    case mailbox

    /// The transport to a reader that stays at a mailbox.
    public static var ofMailboxStreams: Transport { .events }

    /// Its name in JSON.
    public var text: String {
        switch self {
        case .webSocket: "websocket"
        case .events: "events"
        case .mailbox: "mailbox"
        }
    }

    /// Whether another connection may take over a client of it (Protocol.md section 6).
    var canResume: Bool {
        switch self {
        case .webSocket: true
        case .events, .mailbox: false
        }
    }
}
