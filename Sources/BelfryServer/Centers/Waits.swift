import BelfryAccess
import BelfryCenter
import BelfryWire

/// The requests of one loop that wait for something of a center and end with their connections.
///
/// The replies to posts and to asks are in the ``CompletionTable``.
struct Waits {
    /// The requests that wait at mailboxes.
    var mailboxes = WaitTable<Never, MailboxPoll>(.polls)
    /// The requests that wait until an ask is over.
    var fates = WaitTable<NotificationID, NotificationID>(.fates)
    /// The requests that wait for a change of a value.
    var values = WaitTable<ValueKey, ValueLook>(.values)
    /// The asks that askers wait for, by the number of the connection.
    private var askers: [UInt64: AskPlace] = [:]
    /// The observers whose mailboxes are streamed, by the number of the connection.
    var streams: [UInt64: UInt64] = [:]

    /// A poll of a mailbox.
    struct MailboxPoll {
        let observer: UInt64
        /// The page that it asked for.
        let look: MailboxRequest
    }

    /// The value of an object of a center.
    struct ValueKey: Hashable {
        let center: [UInt8]
        let object: [UInt8]
    }

    /// The command of an asker among all that wait for an ask.
    struct AskPlace {
        let ask: NotificationID
        let command: CommandID
    }

    /// Whether some waits have ended, and are not answered yet.
    @inline(__always)
    var haveEnded: Bool { mailboxes.hasEnded || fates.hasEnded || values.hasEnded }

    /// Adds a connection that waits for the answer to an ask, and no longer than it lives.
    mutating func add(_ place: AskPlace, by connection: UInt64) {
        askers[connection] = place
    }

    /// Removes the place of an asker, which is answered or gone.
    @discardableResult
    mutating func removePlace(of connection: UInt64) -> AskPlace? {
        askers.isEmpty ? nil : askers.removeValue(forKey: connection)
    }

    /// Ends the waits of a connection that is gone or half closed.
    ///
    /// - Returns: its place among the askers, if it has one.
    mutating func release(_ connection: UInt64) -> AskPlace? {
        mailboxes.release(connection, .over)
        values.release(connection, .over)
        fates.release(connection, .over)
        return removePlace(of: connection)
    }

    /// Ends the waits for asks that are over.
    mutating func release(_ asks: [AskOutcome]) {
        if fates.count == 0 { return }
        for ask in asks { fates.releaseAll(at: ask.id, .over) }  // Bound: waiting
    }

    /// Puts the waits for changed values in line: the value at the place of each may be the same.
    mutating func touch(_ objects: [[UInt8]], of center: [UInt8]) {
        if values.count == 0 { return }
        for object in objects {  // Bound: waiting
            values.releaseAll(at: ValueKey(center: center, object: object), .changed)
        }
    }

    /// Ends the waits of the callers for which this is true.
    mutating func releaseAll(where isOver: (Caller) -> Bool = { _ in true }) {
        mailboxes.releaseAll { isOver($0.submission.caller) }
        fates.releaseAll { isOver($0.submission.caller) }
        values.releaseAll { isOver($0.submission.caller) }
    }
}
