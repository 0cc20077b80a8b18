import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

/// A request that waits until a value is another one.
struct ValuePoll {
    let look: ValueLook
    let submission: Submission
    /// When it is answered in any case.
    let deadline: MonotonicTime
}

/// Who waits over HTTP for changes of values of one loop.
struct ValueWaitTable {
    /// The value of an object of a center.
    private struct Key: Hashable {
        let center: [UInt8]
        let object: [UInt8]
    }

    /// By the number of the connection.
    private var polls: [UInt64: ValuePoll] = [:]
    /// The connections that wait for a value.
    private var waiting: [Key: Set<UInt64>] = [:]
    /// Those that are looked after next: their value has changed, and may be as before at their place,
    /// or they wait no longer.
    private var line = Line<UInt64>()
    /// Those of the line, each with whether it waits no longer.
    private var inLine: [UInt64: Bool] = [:]
    private var timer = SharedTimer(.values)

    /// How many may wait for values at a time, on one loop.
    private static let limit = 65_536

    /// How many wait.
    var count: Int { polls.count }

    /// Whether one more may wait.
    var hasRoom: Bool { count < Self.limit }

    /// Whether some may have to be answered.
    var hasEnded: Bool { line.count > 0 }

    /// Lets a request wait for a change.
    mutating func park(_ poll: ValuePoll, _ outbox: inout Outbox) {
        let connection = poll.submission.reply.number.rawValue
        polls[connection] = poll
        waiting[key(of: poll), default: []].insert(connection)
        timer.arm(at: poll.deadline, &outbox)
    }

    /// Values of a center have changed: who waits for them is looked after when the turn ends.
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

    /// A connection waits for nothing any more: it is gone, or half closed.
    mutating func endWait(of connection: UInt64) {
        guard polls[connection] != nil else { return }
        if inLine.updateValue(true, forKey: connection) == nil { line.append(connection) }
    }

    /// Those of whom this is true wait no longer.
    mutating func endPolls(where isEnded: (ValuePoll) -> Bool = { _ in true }) {
        // Bound: waiting
        for connection in polls.keys.sorted() where polls[connection].map(isEnded) == true {
            endWait(of: connection)
        }
    }

    /// Takes the next that may have to be answered, with whether it waits no longer in any case.
    mutating func takeNext() -> (poll: ValuePoll, isEnded: Bool)? {
        while line.count > 0 {  // Bound: stale
            let connection = line.removeFirst()
            let isEnded = inLine.removeValue(forKey: connection) ?? false
            if let poll = polls[connection] { return (poll, isEnded) }
        }
        return nil
    }

    /// A request is answered.
    mutating func remove(_ poll: ValuePoll) {
        let connection = poll.submission.reply.number.rawValue
        polls[connection] = nil
        let key = key(of: poll)
        waiting[key]?.remove(connection)
        if waiting[key]?.isEmpty == true { waiting[key] = nil }
    }

    /// The timer has come: those whose time is over wait no longer, and it is set for the others.
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
