import BelfryCenter
import BelfryLoop
import BelfrySystem

/// A request that waits until an ask is over.
struct FatePoll {
    let ask: NotificationID
    let submission: Submission
    /// When it is answered in any case.
    let deadline: MonotonicTime
}

/// Who waits over HTTP for what becomes of asks of one loop: those who asked, and those who look.
///
/// The replies to those who asked are in the ``CompletionTable``; here stands what ends with their connections.
struct AskWaitTable {
    /// What those who asked wait for, by the numbers of the connections.
    private var askers: [UInt64: Place] = [:]
    /// Who waits for the end of an ask, by the number of the connection.
    private var polls: [UInt64: FatePoll] = [:]
    /// The connections that wait for the end of an ask.
    private var waiting: [NotificationID: Set<UInt64>] = [:]
    /// Those that wait no longer, and are answered when the turn ends; one that has ended twice is
    /// there twice.
    private var ended = Line<UInt64>()
    private var timer = SharedTimer(.fates)

    /// How many may wait for the ends of asks at a time, on one loop.
    private static let limit = 65_536

    /// Whether one more may wait.
    var hasRoom: Bool { polls.count < Self.limit }

    /// Whether some wait no longer.
    var hasEnded: Bool { ended.count > 0 }

    /// The place of one who waits among those who wait for an ask.
    struct Place {
        let ask: NotificationID
        let command: CommandID
    }

    // MARK: Askers

    /// A connection waits for the answer to an ask, and no longer than it lives.
    mutating func add(_ place: Place, by connection: UInt64) {
        askers[connection] = place
    }

    /// Takes the place of a connection, which is answered or is gone.
    @discardableResult
    mutating func takePlace(of connection: UInt64) -> Place? {
        askers.isEmpty ? nil : askers.removeValue(forKey: connection)
    }

    // MARK: Polls

    /// Lets a request wait for the end of an ask.
    mutating func park(_ poll: FatePoll, _ outbox: inout Outbox) {
        let connection = poll.submission.reply.number.rawValue
        polls[connection] = poll
        waiting[poll.ask, default: []].insert(connection)
        timer.arm(at: poll.deadline, &outbox)
    }

    /// Asks are over: who waits for that is answered when the turn ends.
    mutating func end(_ asks: [AskOutcome]) {
        if waiting.isEmpty { return }
        for ask in asks {  // Bound: waiting
            // Bound: waiting
            for connection in waiting[ask.id]?.sorted() ?? [] { ended.append(connection) }
        }
    }

    /// A connection waits for nothing any more: it is gone, or half closed.
    ///
    /// - Returns: its place among those who wait for an ask, if it has one.
    mutating func endWait(of connection: UInt64) -> Place? {
        if polls[connection] != nil { ended.append(connection) }
        return takePlace(of: connection)
    }

    /// Those who look and of whom this is true wait no longer.
    mutating func endPolls(where isEnded: (FatePoll) -> Bool = { _ in true }) {
        // Bound: waiting
        for connection in polls.keys.sorted() where polls[connection].map(isEnded) == true {
            ended.append(connection)
        }
    }

    /// Takes the next that waits no longer.
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

    /// The timer has come: those whose time is over wait no longer, and it is set for the others.
    mutating func meetDeadline(_ outbox: inout Outbox) {
        timer.noteMet()
        let now = outbox.loop.now
        endPolls { $0.deadline <= now }
        let next = polls.values.lazy.map(\.deadline).filter { $0 > now }.min()
        timer.armAgain(at: next, &outbox)
    }
}
