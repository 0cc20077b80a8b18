import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWire

/// Issues a ticket for the credentials of a request, where brokers share a log (POST /v1/tickets).
struct MakeTicket: Operation {
    static let answersFirst = false
    static let isPromise = false
    /// The part of the caller's credentials by which other brokers know them.
    let shown: [UInt8]
    private var ticket: [UInt8] = []

    init(shown: [UInt8]) { self.shown = shown }

    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        guard host.centers.level >= Shard.levelTwo else {
            ticket = try context.keptTicket(for: submission.caller)
            host.effects.reset()
            host.applied.result = .done
            host.applied.isUnspread = true
            return
        }
        ticket = context.newTicket()
        host.applied.id = host.centers.hand(
            .makeTicket(
                SecretHash(of: ticket), principal: submission.caller.principal, shown: shown,
                share: context.ticketShare), at: context.commandTime)
        context.loop.takeAnotherTurn()
    }

    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) throws(Problem) -> Ending {
        guard host.applied.result == .done else { throw .tooManyTickets }
        context.append(ticket: ticket, to: &answer)
        return .answered
    }
}
