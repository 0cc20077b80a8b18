import BelfryAccess
import BelfryCenter
import BelfryWire

/// The removal of queue entries that the caller may post (rule Q20).
struct Dequeue: Operation {
    static let answersFirst = true
    let request: DequeueRequest
    /// Whether a call asks; its answer always has a count.
    var isCall = false

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        let grants = submission.caller.grants
        guard grants.allowSome(.post, center: submission.center.span) else {
            throw Problem.lacking("post", submission.caller, center: submission.center)
        }
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noCenter
        }
        let scope = grants.scope(center: submission.center)
        switch request {
        case .entry(let id):
            host.submitCommand(.dequeueEntry(id, scope: scope), to: position, &outbox)
        case .matching(let name, let object, let mask):
            let match = QueueMatch(name: name, object: object, mask: mask, scope: scope)
            host.submitCommand(.dequeue(match), to: position, &outbox)
        }
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        if case .entry = request, !isCall { return .answer(.empty) }
        var count = 0
        if case .dequeued(let removed) = host.effects.outcome { count = removed }
        Shape.append(removedCount: count, to: &outbox.content)
        return .answer(.json)
    }
}
