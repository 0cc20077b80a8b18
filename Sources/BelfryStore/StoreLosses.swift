/// The losses that a start with damage accepted.
public struct StoreLosses: Equatable, Sendable {
    /// Pages of the log that could not be read, or were missing.
    public var pageCount = 0
    /// Commits of which these pages were, at least.
    public var commitCount = 0
    /// Rows that have changed since they were written, or belonged to such rows, by table.
    public var rows: [StoreError.Table: Int] = [:]
    /// How many rows were saved of a main file whose structure was broken; nil when it was sound.
    public var savedRowCount: Int?
    /// The tables of it that could not be read to their ends: their row counts are unknown.
    public var unreadableTables: [StoreError.Table] = []

    /// Whether nothing was lost.
    public var isEmpty: Bool { pageCount == 0 && rows.isEmpty && savedRowCount == nil }
}
