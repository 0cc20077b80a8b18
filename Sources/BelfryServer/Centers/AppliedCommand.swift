import BelfryCenter

/// The command that was submitted or applied last.
struct AppliedCommand {
    var id = CommandID(node: 0, incarnation: 0, counter: 0)
    /// The position of the center that the last applied command was for.
    var position = 0
    /// The number of the client, or of the mode lease, that the command makes.
    var number: UInt64 = 0
    /// The result of a command out of a log.
    var result: Shard.Result?
    /// Whether some of its effects are not sent yet.
    var isUnspread = false
}
