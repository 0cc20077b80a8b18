import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWire

// Tickets in the log of a cluster (decision 107): any broker makes one, and one broker accepts it.

/// The tickets in requests that the log may have.
struct TicketUses {
    /// A ticket, and the digest by which a request waits for the verdict.
    struct Use {
        let hash: SecretHash
        let digest: TokenDigest
    }

    /// The tickets that are being used up.
    private var underWay: [CommandID: Use] = [:]
    /// Unknown tickets, and the empty entry behind which all tickets issued before it are known.
    private var looking: (entry: CommandID, uses: [Use])?
    /// The tickets that came after that entry was written.
    private var next: [Use] = []

    private var isEmpty: Bool { underWay.isEmpty && looking == nil }

    /// Uses up the ticket of a request; the verdict comes as mail.
    ///
    /// A client without credentials makes the log longer by one empty entry at a time, however many
    /// tickets it sends.
    mutating func redeem(
        _ hash: SecretHash, _ digest: TokenDigest, _ centers: inout CenterTable,
        _ context: inout LoopContext
    ) {
        let use = Use(hash: hash, digest: digest)
        if let reason = centers.log?.unavailability {
            return context.tell(.unknown(Problem(reason)), of: use)
        }
        guard centers.level >= Shard.levelTwo else {
            return context.tell(.bad(.refusedToken(.unknownKey)), of: use)
        }
        if !submit(use, &centers, &context) {
            next.append(use)
            lookForNext(&centers, &context)
        }
    }

    /// Submits the use of a ticket that the log has.
    private mutating func submit(
        _ use: Use, _ centers: inout CenterTable, _ context: inout LoopContext
    ) -> Bool {
        guard centers.shard.hasTicket(use.hash) else { return false }
        let end = centers.shard.logTime + TicketTerms.lifetime
        underWay[
            centers.hand(.useTicket(use.hash, until: end), at: context.commandTime)] = use
        context.loop.takeAnotherTurn()
        return true
    }

    /// Looks for unknown tickets behind an empty entry: another broker may have issued them.
    private mutating func lookForNext(
        _ centers: inout CenterTable, _ context: inout LoopContext
    ) {
        guard looking == nil, !next.isEmpty else { return }
        looking = (centers.hand(.nothing, at: context.commandTime), next)
        next = []
        context.loop.takeAnotherTurn()
    }

    /// Decides on the tickets that wait for an applied command.
    mutating func decide(
        behind step: Shard.Step, _ centers: inout CenterTable, _ context: inout LoopContext
    ) {
        guard !isEmpty, let id = step.id else { return }
        if let use = underWay.removeValue(forKey: id) {
            if case .used(let shown) = step.result {
                context.tell(.used(shown: shown), of: use)
            } else {
                context.tell(.bad(.refusedToken(.unknownKey)), of: use)
            }
        }
        guard let looking, looking.entry == id else { return }
        self.looking = nil
        for use in looking.uses where !submit(use, &centers, &context) {  // Bound: waiting
            context.tell(.bad(.refusedToken(.unknownKey)), of: use)
        }
        lookForNext(&centers, &context)
    }

    /// Decides on the tickets that wait for a command that failed, or has an unknown outcome.
    mutating func fail(
        _ id: CommandID, _ problem: Problem, mayHappen: Bool, _ centers: inout CenterTable,
        _ context: inout LoopContext
    ) {
        if let use = underWay.removeValue(forKey: id) {
            context.tell(.unknown(mayHappen ? .ticketMayBeUsed : problem), of: use)
        }
        guard let looking, looking.entry == id else { return }
        self.looking = nil
        for use in looking.uses { context.tell(.unknown(problem), of: use) }  // Bound: waiting
        lookForNext(&centers, &context)
    }
}

extension LoopContext {
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
