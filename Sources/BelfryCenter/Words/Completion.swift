/// The answer to a command whose caller waited for it.
public struct Completion: Sendable, Equatable {
    /// The command: the post, or a later one with the same key.
    public let command: CommandID
    /// One receipt for each post, in its order.
    public let receipts: [Receipt]
    /// For each receipt its observers, if the command asked for them.
    public let reports: [[ReportRow]]
    /// The form of the first answer, if this one replays it.
    public let replayedForm: UInt8?

    /// Joins the parts.
    public init(
        command: CommandID, receipts: [Receipt], reports: [[ReportRow]], replayedForm: UInt8? = nil
    ) {
        self.command = command
        self.receipts = receipts
        self.reports = reports
        self.replayedForm = replayedForm
    }
}
