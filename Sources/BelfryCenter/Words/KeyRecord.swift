/// The stored record of an idempotency key.
public struct KeyRecord: Sendable, Equatable {
    /// The key, and the hash of its request.
    public let key: IdempotencyKey
    /// One receipt for each post, as they were when last noted.
    public let receipts: [Receipt]
    /// For each receipt its observers, if the request asked for them.
    public let reports: [[ReportRow]]
    /// The state of the ask, if the request was one.
    public let ask: AskOutcome?

    /// Joins the parts.
    public init(
        key: IdempotencyKey, receipts: [Receipt], reports: [[ReportRow]], ask: AskOutcome? = nil
    ) {
        self.key = key
        self.receipts = receipts
        self.reports = reports
        self.ask = ask
    }
}
