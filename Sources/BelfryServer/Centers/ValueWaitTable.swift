import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

/// A request that waits for a change of a value.
struct ValuePoll {
    let look: ValueLook
    let submission: Submission
    /// The time at which it is answered in any case.
    let deadline: MonotonicTime
}

/// The HTTP requests of one loop that wait for changes of values.
struct ValueWaitTable {
    /// The value of an object of a center.
    private struct Key: Hashable {
        let center: [UInt8]
        let object: [UInt8]
    }

    /// The polls, by the number of the connection.
    private var polls: [UInt64: ValuePoll] = [:]
    /// The connections that wait for a value.
    private var waiting: [Key: Set<UInt64>] = [:]
    /// The connections to check next: their value has changed, or their wait has ended.
    ///
    /// The value at their place may be the same as before.
    private var line = Line<UInt64>()
    /// The connections in the line, and whether the wait of each has ended.
    private var inLine: [UInt64: Bool] = [:]
    private var timer = SharedTimer(.values)

    /// The most polls of values on one loop.
    private static let limit = 65_536

    /// The number of polls.
    var count: Int { polls.count }

    /// Whether there is room for another poll.
    var hasRoom: Bool { count < Self.limit }

    /// Whether some polls may have to be answered.
    var hasEnded: Bool { line.count > 0 }

    /// Lets a request wait for a change.
    mutating func park(_ poll: ValuePoll, _ outbox: inout Outbox) {
        let connection = poll.submission.reply.number.rawValue
        polls[connection] = poll
        waiting[key(of: poll), default: []].insert(connection)
        timer.arm(at: poll.deadline, &outbox)
    }

    /// Puts the polls of changed values in the line; they are checked at the end of the turn.
    mutating func touch(_ objects: [[UInt8]], of center: [UInt8]) {
        if waiting.isEmpty { return }
        for object in objects {  // Bound: waiting
            guard let connections = waiting[Key(center: center, object: object)] else { continue }
            // Bound: waiting
            for connection in connections.sorted() where inLine[connection] == nil {
                inLine[connection] = false
                line.append(connection)
            }
        }
    }

    /// Ends the wait of a connection that is gone or half closed.
    mutating func endWait(of connection: UInt64) {
        guard polls[connection] != nil else { return }
        if inLine.updateValue(true, forKey: connection) == nil { line.append(connection) }
    }

    /// Ends the polls for which this is true.
    mutating func endPolls(where isEnded: (ValuePoll) -> Bool = { _ in true }) {
        // Bound: waiting
        for connection in polls.keys.sorted() where polls[connection].map(isEnded) == true {
            endWait(of: connection)
        }
    }

    /// Takes the next poll to check, and whether its wait has ended in any case.
    mutating func takeNext() -> (poll: ValuePoll, isEnded: Bool)? {
        while line.count > 0 {  // Bound: stale
            let connection = line.removeFirst()
            let isEnded = inLine.removeValue(forKey: connection) ?? false
            if let poll = polls[connection] { return (poll, isEnded) }
        }
        return nil
    }

    /// Removes a poll that is answered.
    mutating func remove(_ poll: ValuePoll) {
        let connection = poll.submission.reply.number.rawValue
        polls[connection] = nil
        let key = key(of: poll)
        waiting[key]?.remove(connection)
        if waiting[key]?.isEmpty == true { waiting[key] = nil }
    }

    /// Ends the polls whose time is over, and sets the timer for the others.
    mutating func meetDeadline(_ outbox: inout Outbox) {
        timer.noteMet()
        let now = outbox.loop.now
        endPolls { $0.deadline <= now }
        let next = polls.values.lazy.map(\.deadline).filter { $0 > now }.min()
        timer.armAgain(at: next, &outbox)
    }

    private func key(of poll: ValuePoll) -> Key {
        Key(center: poll.submission.center, object: poll.look.place.object)
    }
}
