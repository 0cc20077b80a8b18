import BelfryCenter
import BelfryLoop

/// What waits for a turn that has time for it, in the order in which it came.
struct PostponedWork {
    private var line = Line<Postponed>()
    /// The turn in which a connection ended last.
    private var departureTurn: UInt64 = .max
    /// The connections whose requests wait, each with whether it waits for something still.
    private var requests: [UInt64: Bool] = [:]
    /// The unfinished input of all connections, to which frames belong that were left to a later turn.
    private let unfinishedTotal: ByteTotal

    init(unfinishedTotal: ByteTotal) {
        self.unfinishedTotal = unfinishedTotal
    }

    var isEmpty: Bool { line.count == 0 }

    /// Takes what has waited longest.
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

    /// Notes that a connection waits for nothing any more: its request is answered at once.
    mutating func endWait(of connection: UInt64) {
        if requests[connection] != nil { requests[connection] = false }
    }

    /// Leaves the calls of a frame, from one on, to another turn.
    ///
    /// - Returns: whether there is room for its text: it counts as unfinished input, of which frames that
    ///   are left have a quarter at most.
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

    /// Whether a center hears later of a connection that has ended: of the first of a turn it hears at once, of
    /// others while the turn has time.
    mutating func departuresMustWait(_ outbox: inout Outbox) -> Bool {
        if departureTurn != outbox.counters.turns {
            departureTurn = outbox.counters.turns
            if isEmpty { return false }
        }
        return !outbox.life.isStopping && (!isEmpty || outbox.turnIsFull)
    }
}

/// One thing that waits for a turn that has time for it.
enum Postponed {
    /// A center is to hear that the connection of a client has ended.
    case departure(Departure)
    /// A request is to be performed whose answer may be large.
    case request(Submission)
    /// The calls of a frame are to be performed, from one on.
    case calls(CallFrame, from: Int)
}

/// The end of a client's connection, of which its center is to hear.
struct Departure {
    let client: UInt64
    let end: ConnectionEnd
    /// How far the log was applied when the connection ended; nil without a log.
    let appliedIndex: UInt64?
    let submission: Submission
}
