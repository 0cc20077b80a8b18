/// The state of the connection of a center.
public enum ConnectionState: Equatable, Sendable {
    /// It is lost, for this reason, and made again after a pause (`ClientOptions.reconnects`).
    ///
    /// An attempt that fails is told so, too.
    case away(ClientError)
    /// It is there again, and its observers are on their way.
    case open
    /// It is over for good.
    case over(ClientError)
}
