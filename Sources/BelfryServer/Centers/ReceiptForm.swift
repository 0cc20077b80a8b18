/// How the answer to posts is written; an idempotency key keeps it for replays.
struct ReceiptForm: OptionSet, Sendable, Equatable {
    let rawValue: UInt8

    /// One object with all receipts, as for an array of posts.
    static let batch = ReceiptForm(rawValue: 1)
    /// One row an observer.
    static let observers = ReceiptForm(rawValue: 2)
    /// No content.
    static let minimal = ReceiptForm(rawValue: 4)
}
