import BelfryCenter

/// The command that was submitted or applied last.
struct AppliedCommand {
    var id = CommandID(node: 0, incarnation: 0, counter: 0)
    /// The center of the one that was applied.
    var position = 0
    /// The number of the client, or of the mode lease, that it has made.
    var number: UInt64 = 0
    /// How it has ended, where it came out of a log.
    var result: Shard.Result?
    /// Whether something of what it brought about is not on its way yet.
    var isUnspread = false
}
