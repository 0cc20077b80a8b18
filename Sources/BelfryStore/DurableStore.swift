/// Something that keeps changes, and gives back what they amount to.
///
/// A file and its twin in memory pass one suite of tests.
public protocol DurableStore: ~Copyable {
    /// Keeps all changes or none of them, in their order.
    mutating func commit(_ changes: [StoreChange]) throws(StoreError)

    /// All that is kept; the observer is told how far the reading has come.
    mutating func load(
        observing observe: (LoadProgress) -> Void
    ) throws(StoreError) -> StoreImage
}

extension DurableStore where Self: ~Copyable {
    /// All that is kept.
    public mutating func load() throws(StoreError) -> StoreImage { try load { _ in } }
}

/// How far the reading of a store has come.
public enum LoadProgress: Sendable {
    /// So many rows are to be read.
    case found(rowCount: Int)
    /// So many more were read.
    case read(rowCount: Int)
}
