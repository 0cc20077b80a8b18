import BelfryLoop
import BelfrySystem

/// A request that waits for something of a center.
struct Wait<Key: Hashable, Subject> {
    /// The thing it waits for; nil in a table whose waits end one by one.
    let key: Key?
    /// The part of the request that it is answered by.
    let subject: Subject
    let submission: Submission
    /// The time at which it is answered in any case.
    let deadline: MonotonicTime
    /// The end of the wait, while it is in the line of its table.
    fileprivate(set) var end: WaitEnd?
}

/// The reason why a request waits no longer.
enum WaitEnd {
    /// Its thing may have changed: it is answered if that is so, and waits on otherwise.
    case changed
    /// Its thing is there, its time is over, or nothing more will come.
    case over
    /// Another request waits in its place, or its thing is gone.
    case replaced
}

/// The requests of one loop that wait for things of one kind, by the number of the connection.
///
/// A wait whose end has come stays in line until the end of the turn, when it is answered with all
/// that the turn has for it.
struct WaitTable<Key: Hashable, Subject> {
    private var waits: [UInt64: Wait<Key, Subject>] = [:]
    /// The connections that wait for a thing.
    private var connections: [Key: Set<UInt64>] = [:]
    /// The connections whose wait has ended.
    private var line = Line<UInt64>()
    private var timer: SharedTimer

    /// The most waits of a table with a limit.
    private static var limit: Int { 65_536 }

    init(_ timer: LoopTimer) {
        self.timer = SharedTimer(timer)
    }

    var count: Int { waits.count }

    /// Whether there is room for another wait; polls of mailboxes have the limit of observers.
    var hasRoom: Bool { count < Self.limit }

    /// Whether some waits have ended, and are not answered yet.
    var hasEnded: Bool { line.count > 0 }

    /// Lets a request wait for a time in nanoseconds, and no longer than its credentials are valid.
    mutating func park(
        _ subject: Subject, at key: Key?, _ submission: Submission, for time: Int64,
        _ context: inout LoopContext
    ) {
        let connection = submission.reply.number.rawValue
        let deadline = min(
            context.loop.now + .nanoseconds(time),
            context.credentialDeadline(of: submission.caller))
        waits[connection] = Wait(
            key: key, subject: subject, submission: submission, deadline: deadline)
        if let key { connections[key, default: []].insert(connection) }
        timer.arm(at: deadline, &context)
    }

    /// Puts the wait of a connection in line; an unknown one was answered before.
    ///
    /// The first end counts, unless the thing had only changed.
    mutating func release(_ connection: UInt64, _ end: WaitEnd) {
        guard let place = waits.index(forKey: connection) else { return }
        switch waits.values[place].end {
        case nil: line.append(connection)
        case .changed: break
        case .over, .replaced: return
        }
        waits.values[place].end = end
    }

    /// Puts all waits for a thing in line.
    mutating func releaseAll(at key: Key, _ end: WaitEnd) {
        // Bound: waiting
        for connection in connections[key]?.sorted() ?? [] { release(connection, end) }
    }

    /// Puts the waits in line for which this is true.
    mutating func releaseAll(where isOver: (Wait<Key, Subject>) -> Bool = { _ in true }) {
        // Bound: waiting
        for connection in waits.keys.sorted() where waits[connection].map(isOver) == true {
            release(connection, .over)
        }
    }

    /// Puts the waits in line whose time is over, and sets the timer for the others.
    mutating func expire(_ context: inout LoopContext) {
        timer.noteMet()
        let now = context.loop.now
        releaseAll { $0.deadline <= now }
        let next = waits.values.lazy.map(\.deadline).filter { $0 > now }.min()
        timer.armAgain(at: next, &context)
    }

    /// The next wait in line; it is removed, unless its thing has only changed.
    @inline(__always)
    mutating func next() -> (wait: Wait<Key, Subject>, end: WaitEnd)? {
        // Mostly one table alone has some.
        hasEnded ? firstInLine() : nil
    }

    private mutating func firstInLine() -> (wait: Wait<Key, Subject>, end: WaitEnd)? {
        while line.count > 0 {  // Bound: stale
            let connection = line.removeFirst()
            guard let place = waits.index(forKey: connection), let end = waits.values[place].end
            else { continue }
            guard end == .changed else { return remove(connection).map { ($0, end) } }
            waits.values[place].end = nil
            return (waits.values[place], end)
        }
        return nil
    }

    /// Removes the wait of a connection, which is answered or gone.
    @discardableResult
    mutating func remove(_ connection: UInt64) -> Wait<Key, Subject>? {
        guard let wait = waits.removeValue(forKey: connection) else { return nil }
        if let key = wait.key {
            connections[key]?.remove(connection)
            if connections[key]?.isEmpty == true { connections[key] = nil }
        }
        return wait
    }
}
