/// What lasts of an idempotency key.
public struct KeyRecord: Sendable, Equatable {
    /// The key, and the hash of its request.
    public let key: IdempotencyKey
    /// One receipt for each post, as they stood when they were last noted.
    public let receipts: [Receipt]
    /// For each receipt its observers, if the request asked for them.
    public let reports: [[ReportRow]]

    /// Joins the parts.
    public init(key: IdempotencyKey, receipts: [Receipt], reports: [[ReportRow]]) {
        self.key = key
        self.receipts = receipts
        self.reports = reports
    }
}
