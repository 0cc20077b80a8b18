import BelfryCenter
import BelfryWire

/// What one command of a center does for somebody: it begins when that is asked for, and is finished when the
/// command was applied.
///
/// Between the two nothing holds that was known of the center: other commands may be applied first.
/// Mostly a command is applied at once, and both follow each other.
protocol Operation {
    /// Whether the answer goes before what the command brought about: a client must know its observer
    /// before that is called.  A post is answered behind its observers.
    static var answersFirst: Bool { get }
    /// Whether the answer waits until what the command has changed is stored.
    static var isPromise: Bool { get }

    /// Checks what is asked for, and submits the command.
    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem)

    /// Makes the answer of what the command brought about, which is in the effects of the host.
    ///
    /// A command that was refused does not come here.
    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending
}

extension Operation {
    static var isPromise: Bool { true }
}

/// How an operation ends.
enum Ending {
    /// With an answer, whose content is in the outbox.
    case answer(Answer)
    /// The answer was written.
    case written
    /// The answer comes when the posts are complete, in this form, or without one when the ask is over.
    case waiting(ReceiptForm?)
    /// The answer comes later.
    case later
}
