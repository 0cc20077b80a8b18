/// A client that goes on after a new connection has taken it over.
public struct ResumedClient: Sendable, Equatable {
    /// The client.
    public let row: ClientRow
    /// Its observers in registration order.
    public let observers: [ObserverRow]
    /// How many notifications were held for it, those that are written now among them.
    public let heldCount: Int

    /// Joins the parts.
    public init(row: ClientRow, observers: [ObserverRow], heldCount: Int) {
        self.row = row
        self.observers = observers
        self.heldCount = heldCount
    }
}
