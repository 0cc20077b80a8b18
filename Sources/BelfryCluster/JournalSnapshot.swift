/// A shard after an entry, as bytes.
public struct JournalSnapshot: Sendable, Equatable {
    /// The index of that entry.
    public let index: UInt64
    /// The state of the shard.
    public let state: [UInt8]

    /// Joins both.
    public init(index: UInt64, state: [UInt8]) {
        self.index = index
        self.state = state
    }
}
