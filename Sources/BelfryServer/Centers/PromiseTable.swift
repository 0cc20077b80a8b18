/// The answers of one loop that wait until what they promise is stored.
///
/// What a turn changes is stored under one ticket, and tickets are committed in their order. An
/// answer to an HTTP request of this loop waits in its connection, which callers cork; all other
/// answers are parked here, and deliveries pass them.
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
    /// Answers that are kept, by ticket.
    private var parked = Line<(ticket: UInt64, content: Parked)>()

    /// What waits for a ticket.
    enum Parked {
        /// An answer.
        case answer(ParkedAnswer)
        /// What is held for a client, which goes on behind its answers.
        case flush(of: UInt64, ConnectionNumber)
        /// Asks of a center that are shown, up to a number.
        case asks(center: [UInt8], through: UInt64)
    }

    /// Whether something was handed to the store and is not committed yet.
    var isWaiting: Bool { committedTicket + 1 < ticket }

    /// How many answers are kept.
    var parkedCount: Int { parked.count }

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
    mutating func park(_ content: Parked, until ticket: UInt64) {
        parked.append((ticket, content))
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

    /// The next answer that may be sent.
    mutating func nextAnswer() -> Parked? {
        guard let first = parked.first, first.ticket <= committedTicket else { return nil }
        return parked.removeFirst().content
    }
}

/// An answer that is encoded, and kept until what it promises is stored.
struct ParkedAnswer {
    let bytes: [UInt8]
    let reply: Reply
    let sequel: Sequel
}
