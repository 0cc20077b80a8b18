import BelfryCenter
import BelfryWire

// What is not here may be in the log already: another broker has answered who made it. So nobody is told that there is no such
// thing before an empty entry of this broker was applied, behind all that was answered until then.

/// A request that begins again once an empty entry was applied.
struct AskAgain: Operation {
    static let answersFirst = false
    static let isPromise = false

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {}

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending {
        host.perform(submission, &outbox) ? .written : .later
    }
}

extension CenterHost {
    /// Whether a problem may be one of this broker alone, which has not applied all that was answered.
    func mayBeBehind(_ problem: Problem) -> Bool {
        centers.log != nil && !part.isSure && problem.kind == .notFound
    }

    /// Appends an empty entry: what was kept for it begins again when that was applied.
    mutating func awaitLog(_ outbox: inout Outbox) {
        applied.id = centers.hand(.nothing, at: outbox.commandTime)
    }

    /// A command of no center was applied: what waited for an empty entry begins again.
    mutating func goOn(_ begun: consuming Pending, _ outbox: inout Outbox) {
        switch begun.operation {
        case is ChangeCluster, is MakeTicket:
            applied.isUnspread = true
            finish(begun.operation, begun, &outbox)
        case is AskAgain: _ = perform(begun.submission, &outbox)
        default: beginAgain(begun, &outbox)
        }
    }
}
