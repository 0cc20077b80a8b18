/// How a client gets its notifications.
public enum Transport: UInt8, Sendable, CaseIterable {
    /// JSON-RPC over a WebSocket.
    case webSocket
    /// Server-Sent Events.
    case events
    /// Nothing is sent: whoever has an observer's token comes and looks.
    case mailbox
}
