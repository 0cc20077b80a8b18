/// The requirements of the store's thread for a store, besides keeping changes.
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

    /// Bytes of the log that the last commit left.
    var logByteCount: Int { get }

    /// Checks that all files are where they were opened.
    ///
    /// - Throws: `.displaced` when one is not: commits into it may be lost.
    func checkPlace() throws(StoreError)

    /// Gives back the memory that only a burst of commits needed.
    func giveMemoryBack()

    /// Commits as ``commit(_:)`` does, and leaves the log as long as it is.
    mutating func write(_ changes: [StoreChange]) throws(StoreError)

    /// Moves a log that has become long into the main file, and tells why it could not.
    mutating func moveLog() -> StoreError?

    /// Begins to make a copy of the store beside it; an earlier one must have ended.
    mutating func beginCopy() throws(StoreError)

    /// Copies more pages, and returns the file with the last of them; an error removes the copy.
    mutating func copyOn() throws(StoreError) -> BackupFile?

    /// Gives up a copy that is not whole, if there is one.
    mutating func endCopy() throws(StoreError)

    /// Notes that the life ends in order; nothing is committed after it.
    mutating func noteEnd() throws(StoreError)
}
