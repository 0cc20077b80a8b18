import BelfryCenter
import BelfryCluster
import BelfryWire

/// What puts the commands of centers into one order, where several brokers share the centers.
///
/// A broker of its own has none: it applies each command at once.
protocol Sequencer: AnyObject {
    /// Whether what comes next comes with one of the next turns, and nothing else wakes the loop.
    var needsTurns: Bool { get }

    /// Whether commands are under way.
    var isWaiting: Bool { get }

    /// Takes a command.
    ///
    /// - Returns: the name under which it comes back.
    func submit(_ action: ShardCommand.Action, at time: CommandTime) -> CommandID

    /// The next thing that has happened, in the order of all; nil when there is no more in this turn.
    ///
    /// - Parameters:
    ///   - shard: where commands are applied.
    ///   - effects: where a step leaves what it brought about.
    func next(_ shard: inout Shard, into effects: inout Effects) -> SequencerEvent?
}

/// One thing that becomes of commands, or of the log that they are in.
enum SequencerEvent {
    /// The shard has applied one, of this broker or another, or has done something by itself.
    case step(Shard.Step)
    /// One of this broker was not applied, or nobody knows.
    case failed(CommandID, CommandFailure)
    /// A command of this broker cannot be applied.
    case refused(CommandID, Problem)
    /// A snapshot is the shard now.
    case restored
    /// The broker takes part in the log from here on.
    case began
    /// Another broker has come or gone, or has ended the part of this one.
    case broker([UInt8], BrokerChange)
    /// The broker does not take part in the log any more, until it begins again: its clients must go.
    case fenced(FenceReason)
    /// The broker has left the log in order.
    case left
    /// The broker cannot go on with the log.
    case stopped(StopReason)
}
