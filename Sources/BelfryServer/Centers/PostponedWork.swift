import BelfryAccess
import BelfryCenter
import BelfryLoop

/// Work that waits for a turn that has time for it.
///
/// Callers take turns; the work of each is done in the order in which it came.
struct PostponedWork {
    /// A principal at an address.
    private struct Waiter: Hashable {
        let principal: [UInt8]
        let address: NetworkAddress?
    }

    /// The place of a connection whose request or frame waits.
    private struct Place {
        let waiter: Waiter
        /// Whether its client would wait for something that is to come.
        var mayWait = true
    }

    private var lines: [Waiter: Line<Postponed>] = [:]
    /// The callers whose work waits, the next one first.
    private var turns = Line<Waiter>()
    private var places: [UInt64: Place] = [:]
    /// Whether all of the work has let the last turn pass.
    private var hasRested = false
    /// The turn in which a connection ended last.
    private var departureTurn: UInt64 = .max
    /// The unfinished input of all connections, which includes postponed frames.
    private let unfinishedTotal: ByteTotal

    init(unfinishedTotal: ByteTotal) {
        self.unfinishedTotal = unfinishedTotal
    }

    var isEmpty: Bool { turns.count == 0 }

    /// Whether all of the work lets a turn pass that centers have filled: every second one at most.
    mutating func rests(_ outbox: borrowing Outbox) -> Bool {
        hasRested = !hasRested && outbox.turnIsFull && !outbox.life.isStopping
        return hasRested
    }

    /// Takes the oldest work of the caller whose turn it is.
    mutating func next() -> Postponed {
        let waiter = turns.removeFirst()
        var line = lines.removeValue(forKey: waiter) ?? Line()
        let work = line.removeFirst()
        if line.count > 0 {
            lines[waiter] = line
            turns.append(waiter)
        }
        let connection = work.submission.reply.number.rawValue
        switch work {
        case .departure: return work
        case .calls(let frame, _):
            places[connection] = nil
            unfinishedTotal.add(-frame.text.count)
            return work
        case .request(var submission):
            guard places.removeValue(forKey: connection)?.mayWait == false else { return work }
            submission.request = submission.request.withoutWait
            return .request(submission)
        }
    }

    /// Leaves a request to another turn if its answer may be large and this turn has no room.
    mutating func takes(_ submission: Submission, _ outbox: inout Outbox) -> Bool {
        guard submission.request.mayBeLarge, outbox.largeAnswersMustWait || !isEmpty else {
            return false
        }
        add(.request(submission), &outbox)
        return true
    }

    /// Ends the waits of a connection: its request is answered at once.
    mutating func endWait(of connection: UInt64) { places[connection]?.mayWait = false }

    /// Leaves the calls of a frame, from `place` on, to another turn.
    ///
    /// - Returns: whether there is room for its text: it counts as unfinished input, of which
    ///   postponed frames have a quarter at most.
    mutating func add(_ frame: CallFrame, from place: Int, _ outbox: inout Outbox) -> Bool {
        let limit = outbox.configuration.unfinishedByteLimit / outbox.configuration.loopCount / 4
        guard unfinishedTotal.count + frame.text.count <= limit else { return false }
        unfinishedTotal.add(frame.text.count)
        add(.calls(frame, from: place), &outbox)
        return true
    }

    /// Adds work; a departure joins the line in which a frame of its connection waits.
    mutating func add(_ work: Postponed, _ outbox: inout Outbox) {
        let submission = work.submission
        let connection = submission.reply.number.rawValue
        let waiter =
            places[connection]?.waiter
            ?? Waiter(principal: submission.caller.principal, address: submission.address)
        if case .departure = work {} else { places[connection] = Place(waiter: waiter) }
        if lines[waiter] == nil { turns.append(waiter) }
        lines[waiter, default: Line()].append(work)
        outbox.loop.takeAnotherTurn()
    }

    /// Whether a center hears of the end of a connection later.
    ///
    /// It hears at once of the first in a turn, and of others while the turn has time.
    mutating func departuresMustWait(_ outbox: inout Outbox) -> Bool {
        if departureTurn != outbox.counters.turns {
            departureTurn = outbox.counters.turns
            if isEmpty { return false }
        }
        return !outbox.life.isStopping && (!isEmpty || outbox.turnIsFull)
    }
}

/// A piece of work that waits for a turn with time for it.
enum Postponed {
    /// The end of a client's connection, for its center.
    case departure(Departure)
    /// A request whose answer may be large.
    case request(Submission)
    /// The calls of a frame, from one on.
    case calls(CallFrame, from: Int)

    /// The submission that it began with.
    var submission: Submission {
        switch self {
        case .departure(let departure): departure.submission
        case .request(let submission): submission
        case .calls(let frame, _): frame.submission
        }
    }
}

/// The end of a client's connection, for its center.
struct Departure {
    let client: UInt64
    let end: ConnectionEnd
    /// The index up to which the log was applied when the connection ended; nil without a log.
    let appliedIndex: UInt64?
    let submission: Submission
}
