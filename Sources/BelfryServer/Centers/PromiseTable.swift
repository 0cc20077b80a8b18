import BelfryLoop
import BelfrySystem

/// The answers of one loop that wait until what they promise is stored.
///
/// What a turn changes is stored under one ticket, and tickets are committed in their order. An
/// answer to an HTTP request of this loop waits in its connection, which is corked; all other
/// answers are parked here, and deliveries pass them. An answer whose ticket is not committed in
/// time is given up, and its caller is told that nobody knows (decision 113).
struct PromiseTable {
    /// The ticket of this turn.
    private(set) var ticket: UInt64 = 1
    /// Whether something that must last has changed in this turn.
    private var turnHasChanges = false
    /// Everything up to this ticket is stored.
    private(set) var committedTicket: UInt64 = 0
    /// The batch of calls that is performed, behind whose answers its client's frames stay.
    var batch: CallBatch?
    /// The ticket that the answer in the making waits for; 0 is none.
    var awaitedTicket: UInt64 = 0
    /// The blocks of numbers that the store was asked for, by ticket.
    private var requested = Line<(ticket: UInt64, numbers: NumberRequest)>()
    /// The connections of this loop that are corked, with the first answer that waits there.
    private var corked = Line<Waiting<Reply>>()
    /// Answers that are kept.
    private var parked = Line<Waiting<Parked>>()
    /// Asks that are shown once they are stored: nobody waits for that.
    private var announced = Line<(ticket: UInt64, asks: AnnouncedAsks)>()
    /// Comes when the time of the oldest answer is over, or before.
    private var timer = SharedTimer(.promises)

    /// An answer that waits for a ticket, with the time since when it waits.
    struct Waiting<Content> {
        let ticket: UInt64
        let since: MonotonicTime
        let content: Content
    }

    /// What waits here for a ticket.
    enum Parked {
        /// An answer.
        case answer(ParkedAnswer)
        /// What is held for a client, which goes on behind its answers.
        case flush(of: UInt64, ConnectionNumber)
    }

    /// Whether something was handed to the store and is not committed yet.
    var isWaiting: Bool { committedTicket + 1 < ticket }

    /// How many answers wait, or connections with several of them.
    var waitingCount: Int { corked.count + parked.count }

    /// Something that must last has changed in this turn.
    mutating func noteChanges() { turnHasChanges = true }

    /// The answer in the making waits for what has changed in this turn.
    mutating func awaitTurn() { awaitedTicket = ticket }

    /// The answer in the making waits for all that has changed so far.
    mutating func awaitEverything() {
        awaitedTicket = max(awaitedTicket, ticketOfEverything)
    }

    /// The ticket with which all that has changed so far is stored; 0 where nothing waits.
    var ticketOfEverything: UInt64 {
        turnHasChanges ? ticket : isWaiting ? ticket - 1 : 0
    }

    /// Takes the ticket for what is handed to the store; the next turn has another one.
    mutating func takeTicket() -> UInt64 {
        turnHasChanges = false
        ticket += 1
        return ticket - 1
    }

    /// Keeps in mind which numbers may be given when a ticket is committed.
    mutating func await(_ numbers: NumberRequest, until ticket: UInt64) {
        requested.append((ticket, numbers))
    }

    /// Keeps an answer.
    mutating func park(_ content: Parked, until ticket: UInt64, _ outbox: inout Outbox) {
        parked.append(Waiting(ticket: ticket, since: outbox.loop.now, content: content))
        armTimer(&outbox)
    }

    /// Keeps in mind that the connection of an answer is corked.
    mutating func noteCork(_ reply: Reply, until ticket: UInt64, _ outbox: inout Outbox) {
        // The next answers of a turn line up behind the first.
        if let last = corked.last, last.ticket == ticket,
            last.content.connection == reply.connection
        {
            return
        }
        corked.append(Waiting(ticket: ticket, since: outbox.loop.now, content: reply))
        armTimer(&outbox)
    }

    /// Keeps in mind which asks may be shown when a ticket is committed.
    mutating func await(_ asks: AnnouncedAsks, until ticket: UInt64) {
        announced.append((ticket, asks))
    }

    /// Answers are given up in the order in which they came: a timer for the oldest does for all.
    private mutating func armTimer(_ outbox: inout Outbox) {
        if timer.isArmed { return }
        timer.arm(at: outbox.loop.now + outbox.configuration.storeAnswerTimeout, &outbox)
    }

    /// Everything up to this ticket is stored.
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

    /// The timer has come; it is set again for the oldest answer that is left.
    mutating func meetTimer(_ outbox: inout Outbox) {
        timer.noteMet()
        let timeout = outbox.configuration.storeAnswerTimeout
        giveUp(since: outbox.loop.now - timeout, &outbox)
        let oldest = [corked.first?.since, parked.first?.since].compactMap { $0 }.min()
        timer.armAgain(at: oldest.map { $0 + timeout }, &outbox)
    }
}

/// Asks of a center that may be shown, up to a number.
struct AnnouncedAsks {
    let center: [UInt8]
    let number: UInt64
}

/// An answer that is encoded, and kept until what it promises is stored.
struct ParkedAnswer {
    let bytes: [UInt8]
    let reply: Reply
    let sequel: Sequel
}
