import BelfryLoop
import BelfrySystem
import BelfryWire

/// A request that waits until a mailbox has something.
struct Poll {
    let observer: UInt64
    /// The page that it asked for.
    let look: MailboxRequest
    let submission: Submission
    /// The time at which it is answered in any case.
    let deadline: MonotonicTime

    /// The reason why the wait of a poll has ended.
    enum End {
        /// The mailbox has something, or the time is over.
        case filled
        /// Another reader has come, or the observer was removed.
        case replaced
    }
}

/// The polls and the streams that wait at mailboxes of one loop.
struct PollTable {
    /// The polls, by the number of the connection.
    private var polls: [UInt64: Poll] = [:]
    /// The polls that have ended, and are answered at the end of the turn.
    private var ended = Line<(connection: UInt64, end: Poll.End)>()
    /// The observers whose mailboxes are streamed, by the number of the connection.
    var streams: [UInt64: UInt64] = [:]
    private var timer = SharedTimer(.polls)

    /// Whether some polls have ended.
    var hasEnded: Bool { ended.count > 0 }

    /// Lets a request wait at its mailbox.
    mutating func park(_ poll: Poll, _ outbox: inout Outbox) {
        polls[poll.submission.reply.number.rawValue] = poll
        timer.arm(at: poll.deadline, &outbox)
    }

    /// Ends the polls whose time is over.
    mutating func meetDeadline(_ outbox: inout Outbox) {
        timer.noteMet()
        endDue(at: outbox.loop.now)
    }

    /// Sets the timer for the polls that still wait.
    mutating func armAgain(_ outbox: inout Outbox) {
        timer.armAgain(at: earliestDeadline, &outbox)
    }

    mutating func remove(_ connection: UInt64) -> Poll? {
        polls.removeValue(forKey: connection)
    }

    /// Forgets a poll or a stream whose connection has ended.
    mutating func forget(_ connection: UInt64) {
        polls[connection] = nil
        streams[connection] = nil
    }

    /// Ends a poll; it is answered at the end of the turn, with all that the turn has for it.
    ///
    /// An unknown one was answered before.
    mutating func end(_ connection: UInt64, _ end: Poll.End) {
        guard polls[connection] != nil else { return }
        ended.append((connection, end))
    }

    /// Ends the polls whose time is over.
    mutating func endDue(at now: MonotonicTime) {
        for (connection, poll) in polls where poll.deadline <= now {  // Bound: waiting
            ended.append((connection, .filled))
        }
    }

    /// Ends the polls whose callers are no longer known.
    mutating func endAll(where isUnknown: (Poll) -> Bool) {
        for (connection, poll) in polls where isUnknown(poll) {  // Bound: waiting
            ended.append((connection, .filled))
        }
    }

    /// Ends all.
    mutating func endAll() {
        endDue(at: .distantFuture)
    }

    /// Takes the next poll that has ended.
    mutating func takeNext() -> (poll: Poll, end: Poll.End)? {
        while ended.count > 0 {  // Bound: stale
            let (connection, end) = ended.removeFirst()
            if let poll = polls.removeValue(forKey: connection) { return (poll, end) }
        }
        return nil
    }

    /// The time of the first poll that is answered in any case.
    var earliestDeadline: MonotonicTime? { polls.values.lazy.map(\.deadline).min() }
}
