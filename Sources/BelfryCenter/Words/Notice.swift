/// A message to a client besides notifications.
public enum Notice: Sendable, Equatable {
    /// One of its observers was removed by another caller (rule O9).
    case removed(connection: ConnectionName, transport: Transport, observer: UInt64, Tombstone)
    /// One of its observers lost notifications, or may have (law 3).
    case gap(connection: ConnectionName, transport: Transport, Gap)
    /// The client was removed: its connection must close with 4002.
    case clientRemoved(connection: ConnectionName, transport: Transport)
    /// Another connection has taken the client over: this one must close with 4001.
    case takenOver(connection: ConnectionName, transport: Transport)
    /// Another reader has replaced this poll or stream: it is answered with 409.
    case readerReplaced(connection: ConnectionName, isStream: Bool)
    /// The mailbox of an observer has content for the poll that waits on this connection.
    case mailboxFilled(connection: ConnectionName, observer: UInt64)
    /// An ask that a live responder was shown is over, and not by its answer (rule R10).
    case settled(
        connection: ConnectionName, transport: Transport, observer: UInt64, NotificationID,
        Settlement)
    /// A new observer of a value gets the present value first, a new responder its waiting asks.
    ///
    /// A `drain` command must follow behind the answer to the registration.
    case flushFollows(client: UInt64, connection: ConnectionName)
    /// More is held than one step writes: a `drain` command must follow once the socket has room.
    case flushGoesOn(client: UInt64, connection: ConnectionName)
}

extension Notice {
    /// The connection whose broker must act on the notice.
    public var connection: ConnectionName {
        switch self {
        case .removed(let connection, _, _, _), .gap(let connection, _, _),
            .clientRemoved(let connection, _), .takenOver(let connection, _),
            .readerReplaced(let connection, _), .mailboxFilled(let connection, _),
            .settled(let connection, _, _, _, _), .flushFollows(_, let connection),
            .flushGoesOn(_, let connection):
            connection
        }
    }
}
