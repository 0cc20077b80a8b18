import BelfryCenter
import BelfryLoop
import BelfrySystem

/// A request that waits until an ask is over.
struct FatePoll {
    let ask: NotificationID
    let submission: Submission
    /// The time at which it is answered in any case.
    let deadline: MonotonicTime
}

/// The HTTP requests of one loop that wait for the fates of asks: askers and polls.
///
/// The replies to askers are in the ``CompletionTable``; this table has the waits that end with
/// their connections.
struct AskWaitTable {
    /// The asks that askers wait for, by the number of the connection.
    private var askers: [UInt64: Place] = [:]
    /// The polls for the end of an ask, by the number of the connection.
    private var polls: [UInt64: FatePoll] = [:]
    /// The connections that wait for the end of an ask.
    private var waiting: [NotificationID: Set<UInt64>] = [:]
    /// The connections whose wait has ended, and that are answered at the end of the turn.
    ///
    /// One whose wait has ended twice is in the line twice.
    private var ended = Line<UInt64>()
    private var timer = SharedTimer(.fates)

    /// The most polls on one loop.
    private static let limit = 65_536

    /// Whether there is room for another poll.
    var hasRoom: Bool { polls.count < Self.limit }

    /// Whether the wait of some has ended.
    var hasEnded: Bool { ended.count > 0 }

    /// The command of an asker among all that wait for an ask.
    struct Place {
        let ask: NotificationID
        let command: CommandID
    }

    // MARK: Askers

    /// Adds a connection that waits for the answer to an ask, and no longer than it lives.
    mutating func add(_ place: Place, by connection: UInt64) {
        askers[connection] = place
    }

    /// Removes the place of a connection, which is answered or gone.
    @discardableResult
    mutating func takePlace(of connection: UInt64) -> Place? {
        askers.isEmpty ? nil : askers.removeValue(forKey: connection)
    }

    // MARK: Polls

    /// Parks a request until the end of an ask.
    mutating func park(_ poll: FatePoll, _ outbox: inout Outbox) {
        let connection = poll.submission.reply.number.rawValue
        polls[connection] = poll
        waiting[poll.ask, default: []].insert(connection)
        timer.arm(at: poll.deadline, &outbox)
    }

    /// Ends the waits for asks that are over; their polls are answered at the end of the turn.
    mutating func end(_ asks: [AskOutcome]) {
        if waiting.isEmpty { return }
        for ask in asks {  // Bound: waiting
            // Bound: waiting
            for connection in waiting[ask.id]?.sorted() ?? [] { ended.append(connection) }
        }
    }

    /// Ends the waits of a connection that is gone or half closed.
    ///
    /// - Returns: its place among the askers, if it has one.
    mutating func endWait(of connection: UInt64) -> Place? {
        if polls[connection] != nil { ended.append(connection) }
        return takePlace(of: connection)
    }

    /// Ends the polls for which this is true.
    mutating func endPolls(where isEnded: (FatePoll) -> Bool = { _ in true }) {
        // Bound: waiting
        for connection in polls.keys.sorted() where polls[connection].map(isEnded) == true {
            ended.append(connection)
        }
    }

    /// Takes the next poll whose wait has ended.
    mutating func takeNext() -> FatePoll? {
        while ended.count > 0 {  // Bound: stale
            let connection = ended.removeFirst()
            guard let poll = polls.removeValue(forKey: connection) else { continue }
            waiting[poll.ask]?.remove(connection)
            if waiting[poll.ask]?.isEmpty == true { waiting[poll.ask] = nil }
            return poll
        }
        return nil
    }

    /// Ends the polls whose time is over, and sets the timer for the others.
    mutating func meetDeadline(_ outbox: inout Outbox) {
        timer.noteMet()
        let now = outbox.loop.now
        endPolls { $0.deadline <= now }
        let next = polls.values.lazy.map(\.deadline).filter { $0 > now }.min()
        timer.armAgain(at: next, &outbox)
    }
}
