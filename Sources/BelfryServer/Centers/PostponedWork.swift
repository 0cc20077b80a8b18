import BelfryCenter
import BelfryLoop

/// Work that waits for a turn with time for it, in the order in which it came.
struct PostponedWork {
    private var line = Line<Postponed>()
    /// The turn in which a connection ended last.
    private var departureTurn: UInt64 = .max
    /// The connections whose requests wait, and whether each may still wait for an event.
    private var requests: [UInt64: Bool] = [:]
    /// The unfinished input of all connections, which includes postponed frames.
    private let unfinishedTotal: ByteTotal

    init(unfinishedTotal: ByteTotal) {
        self.unfinishedTotal = unfinishedTotal
    }

    var isEmpty: Bool { line.count == 0 }

    /// Takes the oldest work.
    mutating func next() -> Postponed {
        let work = line.removeFirst()
        switch work {
        case .calls(let frame, _): unfinishedTotal.add(-frame.text.count)
        case .request(let submission):
            let mayWait = requests.removeValue(forKey: submission.reply.number.rawValue)
            guard mayWait == false else { return work }
            var atOnce = submission
            atOnce.request = submission.request.withoutWait
            return .request(atOnce)
        case .departure: break
        }
        return work
    }

    /// Leaves a request to another turn if its answer may be large and this turn has no room.
    mutating func takes(_ submission: Submission, _ outbox: inout Outbox) -> Bool {
        guard submission.request.mayBeLarge, outbox.largeAnswersMustWait || !isEmpty else {
            return false
        }
        requests[submission.reply.number.rawValue] = true
        add(.request(submission), &outbox)
        return true
    }

    /// Ends the waits of a connection: its request is answered at once.
    mutating func endWait(of connection: UInt64) {
        if requests[connection] != nil { requests[connection] = false }
    }

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

    mutating func add(_ work: Postponed, _ outbox: inout Outbox) {
        line.append(work)
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
}

/// The end of a client's connection, for its center.
struct Departure {
    let client: UInt64
    let end: ConnectionEnd
    /// The index up to which the log was applied when the connection ended; nil without a log.
    let appliedIndex: UInt64?
    let submission: Submission
}
