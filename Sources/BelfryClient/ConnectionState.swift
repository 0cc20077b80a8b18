/// The state of the connection of a center.
public enum ConnectionState: Equatable, Sendable {
    /// The connection is lost, and made again after a pause (`ClientOptions.reconnects`).
    ///
    /// An attempt that fails is reported so, too.
    case away(ClientError)
    /// The connection is there again, and its observers are being registered.
    case open
    /// The connection is over for good.
    case over(ClientError)
}
