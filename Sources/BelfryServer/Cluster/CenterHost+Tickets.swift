import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWire

// Tickets in the log of a cluster (decision 107): any broker makes one, and one broker accepts it.

/// Issues a ticket for the credentials of a request, where brokers share a log (POST /v1/tickets).
struct MakeTicket: Operation {
    static let answersFirst = false
    static let isPromise = false
    /// The part of the caller's credentials by which other brokers know them.
    let shown: [UInt8]
    private var ticket: [UInt8] = []

    init(shown: [UInt8]) { self.shown = shown }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        guard host.centers.level >= Shard.levelTwo else {
            ticket = try outbox.keptTicket(for: submission.caller)
            host.effects.reset()
            host.applied.result = .done
            host.applied.isUnspread = true
            return
        }
        ticket = outbox.newTicket()
        host.applied.id = host.centers.hand(
            .makeTicket(
                SecretHash(of: ticket), principal: submission.caller.principal, shown: shown,
                share: outbox.ticketShare), at: outbox.commandTime)
        outbox.loop.takeAnotherTurn()
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending {
        guard host.applied.result == .done else { throw .tooManyTickets }
        return .answer(outbox.answer(ticket: ticket))
    }
}

/// The tickets in requests that the log may have.
struct TicketUses {
    /// A ticket, and the digest by which a request waits for the verdict.
    struct Use {
        let hash: SecretHash
        let digest: TokenDigest
    }

    /// The tickets that are being used up.
    var underWay: [CommandID: Use] = [:]
    /// Unknown tickets, and the empty entry behind which all tickets issued before it are known.
    var looking: (entry: CommandID, uses: [Use])?
    /// The tickets that came after that entry was written.
    var next: [Use] = []

    var isEmpty: Bool { underWay.isEmpty && looking == nil }
}

extension CenterHost {
    /// Uses up the ticket of a request; the verdict comes as mail.
    ///
    /// A client without credentials makes the log longer by one empty entry at a time, however many
    /// tickets it sends.
    mutating func use(_ hash: SecretHash, _ digest: TokenDigest, _ outbox: inout Outbox) {
        let use = TicketUses.Use(hash: hash, digest: digest)
        if let problem = logProblem { return outbox.tell(.unknown(problem), of: use) }
        guard centers.level >= Shard.levelTwo else {
            return outbox.tell(.bad(.refusedToken(.unknownKey)), of: use)
        }
        if !beginUse(use, &outbox) {
            tickets.next.append(use)
            lookForNext(&outbox)
        }
    }

    /// Submits the use of a ticket that the log has.
    private mutating func beginUse(_ use: TicketUses.Use, _ outbox: inout Outbox) -> Bool {
        guard centers.shard.hasTicket(use.hash) else { return false }
        let end = centers.shard.logTime + TicketTerms.lifetime
        tickets.underWay[
            centers.hand(.useTicket(use.hash, until: end), at: outbox.commandTime)] = use
        outbox.loop.takeAnotherTurn()
        return true
    }

    /// Looks for unknown tickets behind an empty entry: another broker may have issued them.
    private mutating func lookForNext(_ outbox: inout Outbox) {
        guard tickets.looking == nil, !tickets.next.isEmpty else { return }
        tickets.looking = (centers.hand(.nothing, at: outbox.commandTime), tickets.next)
        tickets.next = []
        outbox.loop.takeAnotherTurn()
    }

    /// Decides on the tickets that wait for an applied command.
    mutating func takeTickets(_ step: Shard.Step, _ outbox: inout Outbox) {
        guard !tickets.isEmpty, let id = step.id else { return }
        if let use = tickets.underWay.removeValue(forKey: id) {
            if case .used(let shown) = step.result {
                outbox.tell(.used(shown: shown), of: use)
            } else {
                outbox.tell(.bad(.refusedToken(.unknownKey)), of: use)
            }
        }
        guard let looking = tickets.looking, looking.entry == id else { return }
        tickets.looking = nil
        for use in looking.uses where !beginUse(use, &outbox) {  // Bound: waiting
            outbox.tell(.bad(.refusedToken(.unknownKey)), of: use)
        }
        lookForNext(&outbox)
    }

    /// Decides on the tickets that wait for a command that failed, or has an unknown outcome.
    mutating func failTickets(
        _ id: CommandID, _ problem: Problem, mayHappen: Bool, _ outbox: inout Outbox
    ) {
        if let use = tickets.underWay.removeValue(forKey: id) {
            outbox.tell(.unknown(mayHappen ? .ticketMayBeUsed : problem), of: use)
        }
        guard let looking = tickets.looking, looking.entry == id else { return }
        tickets.looking = nil
        for use in looking.uses { outbox.tell(.unknown(problem), of: use) }  // Bound: waiting
        lookForNext(&outbox)
    }
}

extension Outbox {
    /// Sends the verdict to the requests that show a ticket.
    fileprivate func tell(_ verdict: Verdict, of use: TicketUses.Use) {
        _ = shared.mailboxes[number].post(.verdict(use.digest, verdict))
    }
}

extension Problem {
    /// The problem of a ticket whose use was submitted and is not in the log in time.
    fileprivate static var ticketMayBeUsed: Problem {
        Problem(
            .outcomeUnknown,
            """
            The cluster did not confirm in time whether this ticket was used; request another \
            ticket.
            """)
    }
}
