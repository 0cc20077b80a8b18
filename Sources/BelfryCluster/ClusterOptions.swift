import BelfryCenter

/// The settings of a broker that shares a log; times are in nanoseconds.
public struct ClusterOptions: Sendable {
    /// The name of the broker, which no other one has.
    public let node: [UInt8]
    /// The highest rules that this program knows.
    public var level = Shard.levelSix
    /// For how long a broker is silent before another one ends its life.
    public var downAfter: Int64 = 2_500_000_000
    /// For how long a broker hears nothing before it ends its own life; less than ``downAfter``.
    public var fenceAfter: Int64 = 2_000_000_000
    /// The longest that the log may make no progress before clients are closed.
    public var quorumWait: Int64 = 30_000_000_000
    /// How many bytes of log lie behind a snapshot before the next.
    public var snapshotByteCount = 64 << 20
    /// For how long a snapshot is the last one.
    public var snapshotInterval: Int64 = 600_000_000_000
    /// How many commands an entry has.
    public var commandLimit = 4_096
    /// The largest entry that the engine is known to take, in bytes.
    public var entryByteLimit = 1 << 20

    /// The settings of a broker of that name, all others as they begin.
    public init(node: [UInt8]) { self.node = node }

    // MARK: Fixed limits

    /// The time between two beats of a broker.
    static let beatInterval: Int64 = 500_000_000
    /// By how much later each broker of the next rank does what the first has not done.
    static let rankInterval: Int64 = 200_000_000
    /// The time until an entry that the log has not shown is appended again for the first time.
    ///
    /// Each later time it is twice as long, up to ``longestRetryInterval``.
    static let retryInterval: Int64 = 400_000_000
    /// The longest time until an entry is appended once more.
    static let longestRetryInterval: Int64 = 1_500_000_000
    /// How long a command waits for its turn in the log before it is refused.
    static let patience: Int64 = 1_500_000_000
    /// The time after which the outcome of a command under way is reported as unknown.
    static let unknownAfter: Int64 = 8_000_000_000
    /// After how long a question to the journal without an answer is asked again.
    static let askInterval: Int64 = 1_000_000_000
    /// For how long an entry that others know may be on its way.
    static let pushPatience: Int64 = 200_000_000
    /// A gap between two ticks from which on a broker believes that it stood still itself.
    static let standstill: Int64 = 1_000_000_000
    /// How many snapshots in a row may not go up to where the log begins.
    static let uselessLoadLimit = 3
    /// How many entries of a broker are under way.
    static let entryLimit = 4
    /// How many bytes of commands an entry has, unless one alone has more.
    static let gatheredByteLimit = 512 << 10
    /// How many bytes an entry has besides its commands, at most.
    static let envelopeByteCount = 1 << 10
    /// How many commands wait for the log.
    static let waitingLimit = 65_536
    /// How many bytes of commands wait for the log.
    static let waitingByteLimit = 64 << 20
}

extension ClusterOptions {
    /// The largest command, in bytes of an entry: a larger one would never fit into the log.
    var commandByteLimit: Int { entryByteLimit - Self.envelopeByteCount }
}
