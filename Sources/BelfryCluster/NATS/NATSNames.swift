import BelfryNATS

/// The names of the streams and subjects of one log.
struct NATSNames {
    let log: StreamName
    let snapshots: StreamName
    /// The subject to which entries are published.
    let logSubject: Subject
    /// The subject on which the engine publishes the messages that it has stored.
    let pushSubject: Subject
    let beatSubject: Subject
    let pieceSubject: Subject
    /// The subject of the manifest behind the pieces of a whole snapshot.
    let wholeSubject: Subject

    /// Makes the names.
    ///
    /// A cluster has neither a dot nor an underscore in its name, so that no other cluster or shard
    /// comes to the same.
    init(_ settings: NATSSettings) throws(NATSFailure) {
        let cluster = settings.cluster
        guard 1...NATSSettings.clusterNameByteLimit ~= cluster.utf8.count,
            cluster.utf8.allSatisfy(\.isOfClusterName)
        else { throw .invalidClusterName }
        guard 1...NATSSettings.shardLimit ~= settings.shard else {
            throw .invalidShard(settings.shard, limit: NATSSettings.shardLimit)
        }
        let isFirst = settings.shard == 1
        let stream = "BELFRY_\(cluster)" + (isFirst ? "" : "_\(settings.shard)")
        let prefix = "belfry.\(cluster)." + (isFirst ? "" : "\(settings.shard).")
        do throws(NATSError) {
            log = try StreamName(stream)
            snapshots = try StreamName(stream + "_SNAP")
            logSubject = try Subject(prefix + "log")
            pushSubject = try Subject(prefix + "rep")
            beatSubject = try Subject(prefix + "beat")
            pieceSubject = try Subject(prefix + "snap.piece")
            wholeSubject = try Subject(prefix + "snap.whole")
        } catch {
            throw .invalidClusterName
        }
    }

    /// The settings of the stream of the log.
    func logConfiguration(_ settings: NATSSettings) -> StreamConfiguration {
        var config = configuration(log, [logSubject], settings)
        config.discard = .new
        config.maxBytes = settings.logByteLimit
        config.republish = .init(source: logSubject, destination: pushSubject)
        return config
    }

    /// The settings of the stream of snapshots.
    func snapshotConfiguration(_ settings: NATSSettings) -> StreamConfiguration {
        var config = configuration(snapshots, [pieceSubject, wholeSubject], settings)
        config.discard = .old
        config.maxBytes = settings.snapshotByteLimit
        return config
    }

    private func configuration(
        _ name: StreamName, _ subjects: [Subject], _ settings: NATSSettings
    ) -> StreamConfiguration {
        var config = StreamConfiguration(name: name, subjects: subjects)
        config.numReplicas = settings.replicaCount
        config.allowDirect = true
        config.denyDelete = true
        config.duplicateWindow = NATSSettings.duplicateWindow
        return config
    }
}

extension UInt8 {
    fileprivate var isOfClusterName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
