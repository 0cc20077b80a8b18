import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// Issued tickets: a single broker keeps them itself, brokers of a cluster in their log.

extension Outbox {
    /// The most tickets, or places for them, of a principal.
    var ticketShare: Int { shares.limits.principal?.ticketCount ?? TicketTerms.limit }

    /// The text of a new ticket, which cannot be guessed.
    mutating func newTicket() -> [UInt8] { random.text(byteCount: 16) }

    /// Makes a ticket that only this broker knows.
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
    /// The problem when no more tickets fit.
    static var tooManyTickets: Problem {
        Problem(
            .overloaded,
            "The broker has \(TicketTerms.limit) unused tickets, the limit; try again later."
        )
    }
}
