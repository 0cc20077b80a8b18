/// What the work of the store's thread needs of a store besides keeping changes.
protocol CommitTarget: DurableStore, ~Copyable {
    /// Bytes that the ballast takes now; 0 when there is none.
    var ballastByteCount: Int { get }

    /// Makes the ballast as large as it can be.
    mutating func layBallast() throws(StoreError)

    /// Moves the log into the main file, and gives its room back to the disk.
    mutating func shortenLog() throws(StoreError)

    /// Gives the ballast's room back to the disk.
    mutating func giveUpBallast() throws(StoreError)

    /// Bytes in use after the last commit, which the limit of the store is for.
    var usedByteCount: Int { get }

    /// Why the log could not be shortened when that was tried last; told once.
    mutating func takeCheckpointError() -> StoreError?

    /// Notes that the life ends in order; nothing is committed after it.
    mutating func noteEnd() throws(StoreError)
}
