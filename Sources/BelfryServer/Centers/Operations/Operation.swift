import BelfryCenter
import BelfryWire

/// The work of one command on behalf of a caller, in two steps.
///
/// It begins with the request, and is finished when the command was applied. In between, other
/// commands may be applied: facts about the center must be read again. Mostly a command is applied
/// at once, and both steps follow each other.
protocol Operation {
    /// Whether the answer goes before the command's effects.
    ///
    /// A client must know its observer before deliveries for it come. A post is answered behind its
    /// observers.
    static var answersFirst: Bool { get }
    /// Whether the answer waits until the command's changes are stored.
    static var isPromise: Bool { get }

    /// Checks the request, and submits the command.
    mutating func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem)

    /// Fills the answer with the command's effects, which are in the host.
    ///
    /// It is not called for a command that was refused.
    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) throws(Problem) -> Ending
}

extension Operation {
    static var isPromise: Bool { true }

    /// Answers without content.
    func finish(
        _ answer: inout Answer, _ host: inout CenterHost, _ submission: Submission,
        _ context: inout LoopContext
    ) -> Ending {
        answer.becomeEmpty()
        return .answered
    }
}

/// The end of an operation.
enum Ending {
    /// The answer was filled.
    case answered
    /// The answer was written.
    case written
    /// The answer comes when the posts are complete, in this form, or when the ask is over (nil).
    case waiting(ReceiptForm?)
    /// The answer comes later.
    case later
}
