public import BelfryCenter
internal import BelfryTLS

/// A shard after an entry, as bytes.
public struct JournalSnapshot: Sendable, Equatable {
    /// The index of that entry.
    public let index: UInt64
    /// The state of the shard.
    public let state: [UInt8]
    /// The SHA-256 of the state.
    let digest: [UInt8]

    /// Joins both.
    public init(index: UInt64, state: [UInt8]) {
        self.index = index
        self.state = state
        digest = Digest(of: state.span).bytes
    }

    /// Makes the bytes of a shard between two entries, which takes as long as it has much.
    public init(_ shard: Shard) {
        self.init(index: shard.logIndex, state: shard.snapshot())
    }
}
