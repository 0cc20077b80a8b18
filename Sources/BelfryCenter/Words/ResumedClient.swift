/// A client that continues on a new connection.
public struct ResumedClient: Sendable, Equatable {
    /// The client.
    public let row: ClientRow
    /// Its observers in registration order.
    public let observers: [ObserverRow]
    /// The number of notifications held for it, including those that are written now.
    public let heldCount: Int

    /// Joins the parts.
    public init(row: ClientRow, observers: [ObserverRow], heldCount: Int) {
        self.row = row
        self.observers = observers
        self.heldCount = heldCount
    }
}
