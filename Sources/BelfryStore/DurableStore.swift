/// Something that keeps changes, and gives back what they amount to.
///
/// A file and its twin in memory pass one suite of tests.
public protocol DurableStore: ~Copyable {
    /// Keeps all changes or none of them, in their order.
    mutating func commit(_ changes: [StoreChange]) throws(StoreError)

    /// All that is kept.
    mutating func load() throws(StoreError) -> StoreImage
}
