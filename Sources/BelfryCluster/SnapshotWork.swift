import BelfryCenter

/// A snapshot in the making, off the loops: it takes seconds for a large shard.
public protocol SnapshotWork {
    /// The finished snapshot; nil while the work continues.
    var snapshot: JournalSnapshot? { get }
}

/// Work that is done at once.
struct DoneSnapshotWork: SnapshotWork {
    let snapshot: JournalSnapshot?

    init(_ shard: Shard) { snapshot = JournalSnapshot(shard) }
}
