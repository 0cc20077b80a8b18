import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// Tickets that are handed out: one broker keeps them by itself, several keep them in their log.

extension Outbox {
    /// How many tickets, or places for them, a principal may have.
    var ticketShare: Int { shares.limits.principal?.ticketCount ?? TicketTerms.limit }

    /// The text of a ticket, which nobody can guess.
    mutating func newTicket() -> [UInt8] { random.text(byteCount: 16) }

    /// Makes a ticket that this broker alone knows.
    mutating func keptTicket(for caller: Caller) throws(Problem) -> [UInt8] {
        let ticket = newTicket()
        let (share, now) = (ticketShare, loop.now.nanoseconds)
        let isKept = shared.tickets.withLock {
            $0.insert(
                SecretHash(of: ticket), for: caller.principal, holder: caller, share: share,
                now: now)
        }
        guard isKept else { throw .tooManyTickets }
        return ticket
    }

    /// The answer with a ticket.
    mutating func answer(ticket: [UInt8]) -> Answer {
        content.removeAll(keepingCapacity: true)
        Shape.append(
            ticket: ticket,
            expiresAt: loop.wallNow.milliseconds + TicketTerms.lifetime / 1_000_000, to: &content)
        var answer = Answer(status: 201, contentType: .json)
        answer.fields = [.noStore]
        return answer
    }
}

extension Problem {
    /// No more tickets fit.
    static var tooManyTickets: Problem {
        Problem(
            .overloaded,
            "The broker has \(TicketTerms.limit) unused tickets, the limit; try again later."
        )
    }
}
