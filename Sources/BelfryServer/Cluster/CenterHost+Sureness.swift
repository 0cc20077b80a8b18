import BelfryCenter
import BelfryWire

// This broker may be behind: another one may have answered a request whose entry is not applied
// here. So a request is not answered with 404 before an empty entry of this broker was applied,
// behind all entries that were answered until then.

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
    /// Whether a problem may come from this broker alone, which may lack answered entries.
    func mayBeBehind(_ problem: Problem) -> Bool {
        centers.log != nil && !part.isSure && problem.kind == .notFound
    }

    /// Appends an empty entry; the request begins again when that was applied.
    mutating func awaitLog(_ outbox: inout Outbox) {
        applied.id = centers.hand(.nothing, at: outbox.commandTime)
    }

    /// Continues an operation whose command had no center: one behind an empty entry begins again.
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
