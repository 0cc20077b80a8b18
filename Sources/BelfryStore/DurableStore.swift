public import BelfryCenter

/// A store that keeps changes, and returns the state that they make.
///
/// A file and its twin in memory pass one suite of tests.
public protocol DurableStore: ~Copyable {
    /// Keeps all changes or none of them, in their order.
    mutating func commit(_ changes: [StoreChange]) throws(StoreError)

    /// Loads all stored state, piece by piece: it may be more than fits into memory twice.
    ///
    /// The facts of all centers come first. Behind each center come its rows, in the order in which
    /// ``CenterRestoration`` takes them.
    mutating func load(_ tell: (consuming StoredPiece) -> Void) throws(StoreError)
}

/// A piece of what a store keeps.
public enum StoredPiece: Sendable {
    /// The facts of all centers, without the centers; a store that begins again repeats them.
    case broker(StoreImage)
    /// A center without its rows.
    case center(CenterImage)
    /// A row of the center that was told last: the change that made it.
    case row(Change)
}

extension DurableStore where Self: ~Copyable {
    /// Loads everything in one image, without rows of observers or notifications that are gone.
    public mutating func load() throws(StoreError) -> StoreImage {
        var image = StoreImage()
        try load { image.take($0) }
        image.dropStrays()
        return image
    }
}
