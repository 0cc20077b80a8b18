public import BelfryCenter

/// Something that keeps changes, and gives back what they amount to.
///
/// A file and its twin in memory pass one suite of tests.
public protocol DurableStore: ~Copyable {
    /// Keeps all changes or none of them, in their order.
    mutating func commit(_ changes: [StoreChange]) throws(StoreError)

    /// Tells all that is kept, piece by piece: it may be more than fits into memory twice.
    ///
    /// What concerns all centers comes first. Behind each center come its rows, in the order in which
    /// ``CenterRestoration`` takes them.
    mutating func load(_ tell: (StoredPiece) -> Void) throws(StoreError)
}

/// A piece of what a store keeps.
public enum StoredPiece: Sendable {
    /// What concerns all centers, without these, and how many rows they have together.
    case broker(StoreImage, rowCount: Int)
    /// A center without its rows, and how many it has.
    case center(CenterImage, CenterSize)
    /// A row of the center that was told last: the change that made it.
    case row(Change)
}

extension DurableStore where Self: ~Copyable {
    /// All that is kept in one image, without what belongs to observers or notifications that are gone.
    public mutating func load() throws(StoreError) -> StoreImage {
        var image = StoreImage()
        try load { piece in
            switch piece {
            case .broker(let found, _): image = found
            case .center(let center, _): image.centers.append(center)
            case .row(let change): image.centers[image.centers.count - 1].apply(change)
            }
        }
        for index in image.centers.indices { image.centers[index].dropStrays() }
        return image
    }
}
