/// The answer to an ask that was waited for.
public struct AskCompletion: Sendable, Equatable {
    /// The command: the ask, or a later one with the same key.
    public let command: CommandID
    /// The state of the ask.
    public let outcome: AskOutcome
    /// The form of the first answer, if this one replays it.
    public let replayedForm: UInt8?

    /// Joins the parts.
    public init(command: CommandID, outcome: AskOutcome, replayedForm: UInt8? = nil) {
        self.command = command
        self.outcome = outcome
        self.replayedForm = replayedForm
    }
}
