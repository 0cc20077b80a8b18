import BelfryLoop
import BelfrySystem

/// The answers of one loop that wait until their promises are stored.
///
/// The changes of a turn are stored under one ticket, and tickets are committed in their order. An
/// answer to an HTTP request of this loop waits in its connection, which is corked; all other
/// answers are parked here, and deliveries pass them. An answer whose ticket is not committed in
/// time is given up, and its caller is told that the outcome is unknown (decision 113).
struct PromiseTable {
    /// The ticket of this turn.
    private(set) var ticket: UInt64 = 1
    /// Whether this turn has changes to store.
    private var turnHasChanges = false
    /// The ticket up to which everything is stored.
    private(set) var committedTicket: UInt64 = 0
    /// The batch of calls in progress, behind whose answers its client's frames stay.
    var batch: CallBatch?
    /// The batches of connections whose frames stay behind them, also while their rest waits.
    private var open: [UInt64: CallBatch] = [:]
    /// The blocks of numbers that the store was asked for, by ticket.
    private var requested = Line<(ticket: UInt64, numbers: NumberRequest)>()
    /// The corked connections of this loop, with the first answer that waits in each.
    private var corked = Line<Waiting<Reply>>()
    /// The parked answers.
    private var parked = Line<Waiting<Parked>>()
    /// Asks that are shown once they are stored; no request waits for them.
    private var announced = Line<(ticket: UInt64, asks: AnnouncedAsks)>()
    /// The timer for the end of the oldest answer's time, or earlier.
    private var timer = SharedTimer(.promises)

    /// An answer that waits for a ticket, with the time since when it waits.
    struct Waiting<Content> {
        let ticket: UInt64
        let since: MonotonicTime
        let content: Content
    }

    /// An entry that waits here for a ticket.
    enum Parked {
        /// An answer.
        case answer(ParkedAnswer)
        /// The held deliveries of a client, which follow its answers.
        case flush(of: UInt64, ConnectionNumber)
    }

    /// Whether the store has uncommitted changes of this loop.
    var isWaiting: Bool { committedTicket + 1 < ticket }

    /// The number of waiting answers, or of connections with several of them.
    var waitingCount: Int { corked.count + parked.count }

    /// Keeps the frames of a client behind the answers of the batch that its connection has sent.
    ///
    /// - Returns: Whether there is such a batch: the frames go on behind its answers.
    mutating func keep(_ client: UInt64, behindBatchOn connection: ConnectionNumber) -> Bool {
        guard let batch, batch.hold(client, connection) else {
            return open[connection.rawValue]?.hold(client, connection) ?? false
        }
        open[connection.rawValue] = batch
        return true
    }

    /// Records that nothing stays behind the answers of a batch any more.
    mutating func close(_ batch: CallBatch) { open[batch.reply.number.rawValue] = nil }

    /// Records that this turn has changes to store.
    mutating func noteChanges() { turnHasChanges = true }

    /// The ticket that stores all changes so far; 0 when nothing waits.
    var ticketOfEverything: UInt64 {
        turnHasChanges ? ticket : isWaiting ? ticket - 1 : 0
    }

    /// Takes the ticket for a batch of changes; the next turn has another one.
    mutating func takeTicket() -> UInt64 {
        turnHasChanges = false
        ticket += 1
        return ticket - 1
    }

    /// Keeps the numbers that may be given when a ticket is committed.
    mutating func await(_ numbers: NumberRequest, until ticket: UInt64) {
        requested.append((ticket, numbers))
    }

    /// Parks an answer.
    mutating func park(_ content: Parked, until ticket: UInt64, _ context: inout LoopContext) {
        parked.append(Waiting(ticket: ticket, since: context.loop.now, content: content))
        armTimer(&context)
    }

    /// Records that the connection of an answer is corked.
    mutating func noteCork(_ reply: Reply, until ticket: UInt64, _ context: inout LoopContext) {
        // The next answers of a turn line up behind the first.
        if let last = corked.last, last.ticket == ticket,
            last.content.connection == reply.connection
        {
            return
        }
        corked.append(Waiting(ticket: ticket, since: context.loop.now, content: reply))
        armTimer(&context)
    }

    /// Keeps the asks that may be shown when a ticket is committed.
    mutating func await(_ asks: AnnouncedAsks, until ticket: UInt64) {
        announced.append((ticket, asks))
    }

    /// Arms one timer for all: answers are given up in the order in which they came.
    private mutating func armTimer(_ context: inout LoopContext) {
        if timer.isArmed { return }
        timer.arm(at: context.loop.now + context.configuration.storeAnswerTimeout, &context)
    }

    /// Records that everything up to this ticket is stored.
    mutating func commit(_ ticket: UInt64) {
        committedTicket = max(committedTicket, ticket)
    }

    /// The next numbers that may be given.
    mutating func nextNumbers() -> NumberRequest? {
        guard let first = requested.first, first.ticket <= committedTicket else { return nil }
        return requested.removeFirst().numbers
    }

    /// The next connection that may be uncorked.
    mutating func nextCorked() -> Reply? {
        guard let first = corked.first, first.ticket <= committedTicket else { return nil }
        return corked.removeFirst().content
    }

    /// The next answer that may be sent.
    mutating func nextAnswer() -> Parked? {
        guard let first = parked.first, first.ticket <= committedTicket else { return nil }
        return parked.removeFirst().content
    }

    /// The next asks that may be shown.
    mutating func nextAsks() -> AnnouncedAsks? {
        guard let first = announced.first, first.ticket <= committedTicket else { return nil }
        return announced.removeFirst().asks
    }

    // MARK: Answers that are given up

    /// The next connection whose answer has waited since a time, or for longer.
    mutating func nextCorked(since time: MonotonicTime) -> Reply? {
        guard let first = corked.first, first.since <= time else { return nil }
        return corked.removeFirst().content
    }

    /// The next kept answer that has waited since a time, or for longer.
    mutating func nextAnswer(since time: MonotonicTime) -> Parked? {
        guard let first = parked.first, first.since <= time else { return nil }
        return parked.removeFirst().content
    }

    /// Gives up the answers whose time is over, and sets the timer for the oldest of the others.
    mutating func meetTimer(_ context: inout LoopContext) {
        timer.noteMet()
        let timeout = context.configuration.storeAnswerTimeout
        giveUp(since: context.loop.now - timeout, &context)
        let oldest = [corked.first?.since, parked.first?.since].compactMap { $0 }.min()
        timer.armAgain(at: oldest.map { $0 + timeout }, &context)
    }
}

/// Asks of a center that may be shown, up to a number.
struct AnnouncedAsks {
    let center: [UInt8]
    let number: UInt64
}
