import BelfryCenter

/// The part of the log that this broker has applied, and how far the log is known to go.
struct AppliedLog {
    /// The last entry that was applied.
    private(set) var last: AppliedMark
    /// The entry whose steps are under way, and why it has none.
    private(set) var current: (entry: Entry, skip: Shard.Skip?)?
    /// The highest index that the log is known to have.
    private(set) var knownIndex: UInt64 = 0
    private var recent = RecentEntries()

    init(at now: Int64) { last = AppliedMark(index: 0, chain: 0, appliedAt: now) }

    var nextIndex: UInt64 { last.index + 1 }

    /// How many entries are known and not applied.
    var lag: UInt64 { knownIndex - min(knownIndex, last.index) }

    /// Records that the log has an index.
    mutating func learn(_ index: UInt64) { knownIndex = max(knownIndex, index) }

    /// Begins the steps of the next entry.
    mutating func begin(_ entry: Entry, skip: Shard.Skip?) {
        recent.record(entry, at: nextIndex)
        current = (entry, skip)
    }

    /// Leaves the steps of an entry that are under way.
    mutating func abandonCurrent() { current = nil }

    /// Moves to the entry, or the snapshot, that the shard has behind it now.
    mutating func advance(to shard: borrowing Shard, at now: Int64) {
        current = nil
        last = AppliedMark(index: shard.logIndex, chain: shard.chain, appliedAt: now)
    }

    /// Continues behind the entry of a recovery, where nothing later is known any more.
    mutating func restart(behind entry: Entry, _ shard: borrowing Shard, at now: Int64) {
        advance(to: shard, at: now)
        knownIndex = last.index
        recent = RecentEntries()
        recent.record(entry, at: last.index)
    }

    /// Whether an entry is the one that was applied at an index; nil where that is forgotten.
    func has(_ entry: Entry, at index: UInt64) -> Bool? { recent.has(entry, at: index) }

    /// Whether an entry is known that has not come within the time of its push.
    func isMissingEntries(at now: Int64) -> Bool {
        knownIndex > last.index && now - last.appliedAt >= ClusterOptions.pushPatience
    }
}
