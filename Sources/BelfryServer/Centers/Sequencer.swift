import BelfryCenter

/// What puts the commands of centers into one order, where several brokers share the centers.
///
/// A broker of its own has none: it applies each command at once.
protocol Sequencer: AnyObject {
    /// Whether commands are under way.
    var isWaiting: Bool { get }

    /// Takes a command.
    func submit(_ command: ShardCommand)

    /// The next command, in the order of all, that this turn applies; nil when there is no more.
    func next() -> ShardCommand?
}
