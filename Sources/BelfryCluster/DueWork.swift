import BelfryCenter

/// The work that a center does by itself when the time of the log has come: an entry must pass it.
struct DueWork {
    /// The last index behind which this broker has written such an entry.
    private var writtenIndex: UInt64?
    private var dueSince: Int64?

    /// Decides whether this broker writes the entry now: none of an earlier rank has done so.
    mutating func claim(
        _ shard: borrowing Shard, behind applied: AppliedMark, rank: Int, at now: Int64
    ) -> Bool {
        guard writtenIndex != applied.index else { return false }
        // Entries have the time in milliseconds.
        let logTime = shard.logTime + max(0, now - applied.appliedAt) / 1_000_000 * 1_000_000
        guard shard.dueTime <= logTime else {
            dueSince = nil
            return false
        }
        let since = dueSince ?? now
        dueSince = since
        guard now - since >= Int64(rank) * ClusterOptions.rankInterval else { return false }
        writtenIndex = applied.index
        dueSince = nil
        return true
    }
}
