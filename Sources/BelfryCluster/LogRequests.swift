/// A broker's requests for entries and snapshots, and whether the snapshots are of use.
struct LogRequests {
    private var readAskedAt: Int64?
    /// The first index that the log has, as far as is known.
    private(set) var firstKnownIndex: UInt64 = 0
    /// How many snapshots in a row ended before the first index of the log.
    private var uselessSnapshotCount = 0

    /// Records a request for entries, unless one is under way.
    ///
    /// - Returns: whether the request must be sent.
    mutating func beginRead(at now: Int64) -> Bool {
        if let readAskedAt, now - readAskedAt < ClusterOptions.askInterval { return false }
        readAskedAt = now
        return true
    }

    /// Records that no request for entries is under way any more.
    mutating func finishRead() { readAskedAt = nil }

    /// Records that the log begins with an index, so that a snapshot must go up to there.
    mutating func requireSnapshot(to index: UInt64) { firstKnownIndex = index }

    /// Counts a snapshot by whether the log continues behind it.
    ///
    /// An answer may be late: the next snapshot is a newer one, where there is one.
    ///
    /// - Returns: whether there is still hope for one that goes up to the log.
    mutating func acceptSnapshot(nextIndex: UInt64) -> Bool {
        uselessSnapshotCount = nextIndex < firstKnownIndex ? uselessSnapshotCount + 1 : 0
        return uselessSnapshotCount != ClusterOptions.uselessLoadLimit
    }
}
