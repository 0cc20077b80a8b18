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
    /// Those whose value has changed in this turn: it may be as before at their place.
    private var touched: Set<UInt64> = []
    /// Those that wait no longer.
    private var ended: Set<UInt64> = []
    private var timer = SharedTimer(.values)

    /// How many may wait for values at a time, on one loop.
    private static let limit = 65_536

    /// How many wait.
    var count: Int { polls.count }

    /// Whether one more may wait.
    var hasRoom: Bool { count < Self.limit }

    /// Whether some may have to be answered.
    var hasEnded: Bool { !touched.isEmpty || !ended.isEmpty }

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
        for object in objects {
            guard let connections = waiting[Key(center: center, object: object)] else { continue }
            touched.formUnion(connections)
        }
    }

    /// A connection waits for nothing any more: it is gone, or half closed.
    mutating func endWait(of connection: UInt64) {
        if polls[connection] != nil { ended.insert(connection) }
    }

    /// Those of whom this is true wait no longer.
    mutating func endPolls(where isEnded: (ValuePoll) -> Bool = { _ in true }) {
        for (connection, poll) in polls where isEnded(poll) { ended.insert(connection) }
    }

    /// Takes the connections that may have to be answered, each with whether it waits no longer in any case.
    mutating func takeLookedAfter() -> [(poll: ValuePoll, isEnded: Bool)] {
        let connections = touched.union(ended).sorted()
        let found = connections.compactMap { connection in
            polls[connection].map { (poll: $0, isEnded: ended.contains(connection)) }
        }
        touched.removeAll(keepingCapacity: true)
        ended.removeAll(keepingCapacity: true)
        return found
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
