/// The settings of a journal that uses NATS JetStream for one log.
public struct NATSSettings: Sendable {
    /// The credentials of a broker at the server.
    public enum Credentials: Sendable, Equatable {
        /// Nothing, or the certificate of the connection.
        case none
        /// A user and a password.
        case user(String, password: String)
        /// A token.
        case token(String)
    }

    /// The name of the cluster in streams and subjects: letters, digits and hyphens.
    public let cluster: String
    /// The number of the shard, from 1 on.
    public let shard: Int
    /// The name of the broker, which no other one has: visible ASCII without blanks.
    public let node: String
    /// How many servers have a copy of the log and of the snapshots.
    public var replicaCount = 3
    /// The most room that the log takes in the engine, in bytes.
    public var logByteLimit = 4 << 30
    /// The most room that snapshots take in the engine, in bytes; one may have a third of it.
    public var snapshotByteLimit = 1 << 30
    /// The largest entry that the log must take, in bytes.
    public var entryByteLimit = 1 << 20
    /// The credentials of the broker.
    public var credentials = Credentials.none
    /// Whether nothing is said without TLS; where a server insists on it, it is spoken anyway.
    public var wantsTLS = false
    /// The version of the program, by which a server lists the connection.
    public var version = "0"

    /// The settings of a broker, all others as they begin.
    public init(cluster: String, shard: Int = 1, node: String) {
        self.cluster = cluster
        self.shard = shard
        self.node = node
    }

    // MARK: Those that nobody sets

    /// How long the name of a cluster may be, in bytes.
    static let clusterNameByteLimit = 64
    /// How long the name of a broker may be, in bytes.
    static let nodeNameByteLimit = 255
    /// How many shards a cluster has.
    static let shardLimit = 8
    /// The bytes of a message besides its entry: its header block has one id.
    static let headerByteCount = 384
    /// The oldest message that is known by its id again, in seconds.
    static let duplicateWindow = Duration.seconds(120)
    /// The bytes that may wait to be sent before nothing is added, unless one message has more.
    static let outputByteLimit = 16 << 20
    /// How many bytes of events wait for ``Journal/next()`` before others are dropped.
    static let eventByteLimit = 64 << 20
    /// The largest payload or header block, in bytes; no server has a larger `max_payload`.
    static let messageByteLimit = 64 << 20
    /// The largest header block that is read, in bytes; a message with a larger one is dropped.
    static let headerBlockByteLimit = 64 << 10
    /// The largest answer of JetStream in words, in bytes; a larger one is dropped.
    static let answerByteLimit = 256 << 10
    /// How many entries are asked for at a time.
    static let batchEntryLimit = 512
    /// How many bytes of entries are asked for at a time; the last entry may pass it.
    static let batchByteLimit = 4 << 20
    /// How often a copy that is behind the last entry is asked again before a read is given up.
    static let idleBatchLimit = 8
    /// How large a piece of a snapshot is, in bytes, or as large as the server's `max_payload`.
    static let pieceByteCount = 512 << 10
    /// How many pieces a snapshot has.
    static let pieceLimit = 4_096
    /// How many pieces are under way.
    static let pieceWindow = 4
    /// How often in a row the same broken snapshot is kept secret before it counts as none.
    static let brokenSnapshotLimit = 10
}
