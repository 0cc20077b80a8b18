/// An event that a `ServerParser` found in the bytes.
public enum ServerEvent: Sendable, Equatable {
    /// INFO: what the server is; it comes first, and again when something of it changes.
    case info(ServerInfo)
    /// MSG or HMSG: a message is complete.
    case message(Message)
    /// PING: the server wants a PONG.
    case ping
    /// PONG: the answer to a PING.
    case pong
    /// +OK: an operation was taken; it comes with `verbose` alone.
    case ok
    /// -ERR: the server refuses something.
    case error(ServerRefusal)
}
