import BelfryCenter
import BelfryCluster
import BelfryWire

/// The part that orders the commands of centers, where several brokers share the centers.
///
/// A broker of its own has none: it applies each command at once.
protocol Sequencer: AnyObject {
    /// Whether the next event needs another turn, and nothing else wakes the loop.
    var needsTurns: Bool { get }

    /// Whether commands are under way.
    var isWaiting: Bool { get }

    /// Submits a command.
    ///
    /// - Returns: the name of the command, by which it is returned.
    func submit(_ action: ShardCommand.Action, at time: CommandTime) -> CommandID

    /// The next event, in the common order; nil when there is no more in this turn.
    ///
    /// - Parameters:
    ///   - shard: the shard that commands are applied to.
    ///   - effects: the effects of a step.
    func next(_ shard: inout Shard, into effects: inout Effects) -> SequencerEvent?
}

/// An event about commands, or about the log that they are in.
enum SequencerEvent {
    /// The shard has applied a command, of this broker or another, or has acted by itself.
    case step(Shard.Step)
    /// A command of this broker was not applied, or its outcome is unknown.
    case failed(CommandID, CommandFailure)
    /// A command of this broker cannot be applied.
    case refused(CommandID, Problem)
    /// A snapshot has replaced the shard.
    case restored
    /// The broker takes part in the log from here on.
    case began
    /// Another broker has come or gone, or has ended the part of this one.
    case broker([UInt8], BrokerChange)
    /// The broker's part in the log has ended until it begins again: its clients must go.
    case fenced(FenceReason)
    /// The broker has left the log in order.
    case left
    /// The broker cannot continue with the log.
    case stopped(StopReason)
}
