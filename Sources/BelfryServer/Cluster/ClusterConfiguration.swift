import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryWire

/// How a broker takes part in a cluster (Cluster.md).
public struct ClusterConfiguration: Sendable {
    /// The name of the cluster, which all of its brokers say.
    public var name = ""
    /// The name of the broker, which no other one of the cluster has.
    public var node = ""
    /// The servers of the engine.
    public var servers: [EngineServer] = []
    /// The monitoring ports of those servers; empty where nobody asks whether they write before they answer.
    public var monitors: [EngineServer] = []
    /// The revision of the limits of centers: all brokers of the cluster have those with the highest; the default is 1.
    public var revision = 1
    /// How many servers have a copy of the log; the default is 3.
    public var replicaCount = 3
    /// The most room that the log takes in the engine, in bytes; the default is 4 GiB.
    public var logByteLimit = 4 << 30
    /// The most room that snapshots take in the engine, in bytes; the default is 1 GiB.
    public var snapshotByteLimit = 1 << 30
    /// Who the broker is for the engine; empty where it shows no user.
    public var user = ""
    /// The file with the password of that user.
    public var passwordPath: String?
    /// The file with the token that the broker shows the engine.
    public var tokenPath: String?
    /// The PEM file of the authorities that the engine's certificates are checked by; nil for those of the machine.
    public var authoritiesPath: String?
    /// The PEM file of the certificate that the broker shows the engine.
    public var certificatePath: String?
    /// The PEM file of the key of that certificate.
    public var keyPath: String?
    /// For how long a broker is silent before another one ends its part; the default is 2.5 s.
    public var downAfter: Duration = .milliseconds(2_500)
    /// For how long a broker hears nothing before it ends its own part; the default is 2 s.
    public var fenceAfter: Duration = .seconds(2)
    /// For how long the log may stand still before clients are closed; the default is 30 s.
    public var quorumWait: Duration = .seconds(30)
    /// How many bytes of log lie behind a snapshot before the next; the default is 64 MiB.
    public var snapshotByteCount = 64 << 20

    /// A broker that takes part in no cluster yet.
    public init() {}

    /// Whether an option says that the broker takes part in a cluster.
    public var isWanted: Bool {
        !(servers.isEmpty && monitors.isEmpty && name.isEmpty && node.isEmpty)
    }

    /// Why it cannot be so; nil where it can.
    func fault() -> String? {
        if name.isEmpty { return "A cluster needs a name: say --cluster." }
        if node.isEmpty { return "A broker of a cluster needs a name of its own: say --node." }
        if user.isEmpty != (passwordPath == nil) {
            return
                "A user of the engine needs a password: say --engine-user and --engine-password-file."
        }
        if !user.isEmpty, tokenPath != nil {
            return "The engine takes a user or a token: say --engine-user or --engine-token-file."
        }
        if (certificatePath == nil) != (keyPath == nil) {
            return "A certificate needs its key: say --engine-cert and --engine-key."
        }
        if fenceAfter >= downAfter {
            return """
                A broker must end its own part before others do: --fence-after must be less than --down-after.
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
        settings.version = Server.version
        return settings
    }
}

extension ServerConfiguration {
    /// The largest entry that the engine of a cluster must take, in bytes.
    ///
    /// Whatever a request has as text is in its command; around each item of a batch there is more.
    var entryByteLimit: Int {
        let text = max(bodyByteLimit, messageByteLimit)
        return max(text + wireLimits.batchItemLimit * Self.itemByteGrowth + 4 << 10, 64 << 10)
    }

    /// By how many bytes an item of a batch may grow on its way into the log.
    private static let itemByteGrowth = 256
}
