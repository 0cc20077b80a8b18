/// What a client is told besides notifications.
public enum Notice: Sendable, Equatable {
    /// Somebody else removed one of its observers (rule O9).
    case removed(connection: UInt64, transport: Transport, observer: UInt64, Tombstone)
    /// One of its observers lost notifications, or may have (law 3).
    case gap(connection: UInt64, transport: Transport, Gap)
    /// The client was removed: its connection must close with 4002.
    case clientRemoved(connection: UInt64, transport: Transport)
    /// Another connection has taken the client over: this one must close with 4001.
    case takenOver(connection: UInt64, transport: Transport)
    /// Another reader has taken the place of this poll or stream: it is answered with 409.
    case readerReplaced(connection: UInt64, isStream: Bool)
    /// The mailbox of an observer has something for the poll that waits on this connection.
    case mailboxFilled(connection: UInt64, observer: UInt64)
    /// An ask that a live responder was shown is over, and not by its answer (rule R10).
    case settled(
        connection: UInt64, transport: Transport, observer: UInt64, NotificationID, Settlement)
    /// A new observer of a value has what is there first, a new responder what waits for it: a `drain` command must follow
    /// behind the answer to the registration.
    case flushFollows(client: UInt64, connection: UInt64)
    /// More was held than one step writes: a `drain` command must follow once the socket has room.
    case flushGoesOn(client: UInt64, connection: UInt64)
}
