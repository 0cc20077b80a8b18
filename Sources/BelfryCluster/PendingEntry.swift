import BelfryCenter

/// An entry of this broker that it has not applied yet.
struct PendingEntry {
    /// The entry, which stays the same each time that it is appended.
    ///
    /// It must say nothing of the past that is later than its commands: a connection that ends
    /// while the entry is under way was written less than the broker has applied by then.
    private(set) var entry: Entry
    /// Which attempt is under way.
    var attempt: UInt64 = 0
    /// How often it was appended.
    var appendCount = 0
    /// How long it is, in bytes.
    var byteCount = 0
    /// When it was appended first.
    var firstAppendedAt: Int64 = 0
    /// When it was appended last; nil while it waits for the entry before it.
    var appendedAt: Int64?
    /// Whether its commands were reported as of unknown outcome.
    var isGivenUp = false

    init(_ entry: Entry) { self.entry = entry }

    var number: UInt64 { entry.number }
    var commands: [Entry.Numbered] { entry.commands }

    /// The time without an answer after which it is appended again.
    ///
    /// An engine without a leader loses entries.
    var retryInterval: Int64 {
        min(
            ClusterOptions.longestRetryInterval,
            ClusterOptions.retryInterval << Int64(min(max(appendCount, 1), 4) - 1))
    }

    /// Removes the commands that the log will never have.
    mutating func keepWhatMustHappen() {
        entry = Entry(
            node: entry.node, life: entry.life, number: entry.number,
            appliedIndex: entry.appliedIndex, chain: entry.chain, elapsed: entry.elapsed,
            wallMilliseconds: entry.wallMilliseconds,
            commands: entry.commands.filter(\.action.mustHappen))
    }
}
