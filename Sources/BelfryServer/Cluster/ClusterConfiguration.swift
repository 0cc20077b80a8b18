import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryWire

/// The options of a broker in a cluster (Cluster.md).
public struct ClusterConfiguration: Sendable {
    /// The name of the cluster, the same for all of its brokers.
    public var name = ""
    /// The name of the broker, unique in the cluster.
    public var node = ""
    /// The servers of the engine.
    public var servers: [EngineServer] = []
    /// The monitoring ports of those servers; empty where their writing to disk is not checked.
    public var monitors: [EngineServer] = []
    /// The revision of the limits of centers; the default is 1.
    ///
    /// All brokers of the cluster adopt the limits with the highest revision.
    public var revision = 1
    /// The number of servers with a copy of the log; the default is 3.
    public var replicaCount = 3
    /// The most room for the log in the engine, in bytes; the default is 4 GiB.
    public var logByteLimit = 4 << 30
    /// The most room for snapshots in the engine, in bytes; the default is 1 GiB.
    public var snapshotByteLimit = 1 << 30
    /// User name for the engine; empty without one.
    public var user = ""
    /// The file with the password of that user.
    public var passwordPath: String?
    /// The file with the broker's token for the engine.
    public var tokenPath: String?
    /// The PEM file of the authorities for the engine's certificates; nil for those of the machine.
    public var authoritiesPath: String?
    /// The PEM file of the broker's certificate for the engine.
    public var certificatePath: String?
    /// The PEM file of the key of that certificate.
    public var keyPath: String?
    /// The silence of a broker after which another one ends its part; the default is 2.5 s.
    public var downAfter: Duration = .milliseconds(2_500)
    /// The silence of the engine after which a broker ends its own part; the default is 2 s.
    public var fenceAfter: Duration = .seconds(2)
    /// The time without progress of the log after which clients are closed; the default is 30 s.
    public var quorumWait: Duration = .seconds(30)
    /// The bytes of log between two snapshots; the default is 64 MiB.
    public var snapshotByteCount = 64 << 20

    /// A configuration without a cluster.
    public init() {}

    /// Whether an option asks for a cluster.
    public var isWanted: Bool {
        !(servers.isEmpty && monitors.isEmpty && name.isEmpty && node.isEmpty)
    }

    /// The reason why the options contradict each other; nil where they do not.
    func fault() -> String? {
        if name.isEmpty { return "A cluster needs a name: say --cluster." }
        if node.isEmpty { return "A broker of a cluster needs a name of its own: say --node." }
        if user.isEmpty != (passwordPath == nil) {
            return """
                A user of the engine needs a password: say --engine-user and --engine-password-file.
                """
        }
        if !user.isEmpty, tokenPath != nil {
            return "The engine takes a user or a token: say --engine-user or --engine-token-file."
        }
        if (certificatePath == nil) != (keyPath == nil) {
            return "A certificate needs its key: say --engine-cert and --engine-key."
        }
        if fenceAfter >= downAfter {
            return """
                A broker must end its own part before others do: --fence-after must be less than \
                --down-after.
                """
        }
        return nil
    }

    /// The settings of the broker's part in the log.
    ///
    /// - Parameter entryByteLimit: the largest entry, in bytes.
    func options(entryByteLimit: Int) -> ClusterOptions {
        var options = ClusterOptions(node: Array(node.utf8))
        options.entryByteLimit = entryByteLimit
        options.downAfter = downAfter.nanoseconds
        options.fenceAfter = fenceAfter.nanoseconds
        options.quorumWait = quorumWait.nanoseconds
        options.snapshotByteCount = snapshotByteCount
        return options
    }

    /// The settings of the journal.
    ///
    /// - Parameter entryByteLimit: the largest entry, in bytes.
    func settings(entryByteLimit: Int) -> NATSSettings {
        var settings = NATSSettings(cluster: name, node: node)
        settings.replicaCount = replicaCount
        settings.logByteLimit = logByteLimit
        settings.snapshotByteLimit = snapshotByteLimit
        settings.entryByteLimit = entryByteLimit
        settings.wantsTLS = wantsTLS
        settings.version = Release.version
        return settings
    }
}

extension ServerConfiguration {
    /// The largest entry that the engine of a cluster must take, in bytes.
    ///
    /// All text of a request is in its command; each item of a batch needs more around it.
    var entryByteLimit: Int {
        let text = max(bodyByteLimit, messageByteLimit)
        return max(text + wireLimits.batchItemLimit * Self.itemByteGrowth + 4 << 10, 64 << 10)
    }

    /// The most bytes by which an item of a batch grows on its way into the log.
    private static let itemByteGrowth = 256
}
