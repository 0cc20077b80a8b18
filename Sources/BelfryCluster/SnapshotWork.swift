import BelfryCenter

/// A snapshot that is being made: a shard may have so much that this takes seconds, which no loop has.
public protocol SnapshotWork {
    /// The finished snapshot; nil while the work goes on.
    var snapshot: JournalSnapshot? { get }
}

/// Work that is done at once.
struct DoneSnapshotWork: SnapshotWork {
    let snapshot: JournalSnapshot?

    init(_ shard: Shard) { snapshot = JournalSnapshot(shard) }
}
