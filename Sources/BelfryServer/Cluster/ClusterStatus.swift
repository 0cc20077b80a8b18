import BelfryCenter
import BelfryCluster
import BelfryJSON

/// How a broker stands with its cluster (`GET /v1/cluster`).
struct ClusterStatus {
    let node: String
    let life: UInt64
    /// Why it takes nothing; nil where it does.
    let reason: String?
    let index: UInt64
    /// How many entries the log is known to have that were not applied yet.
    let lag: UInt64
    /// The digest of the log up to the index: brokers that have applied the same have the same.
    let digest: UInt64
    let level: UInt64
    let brokers: [LogBroker]
    /// The name of the server that leads the log, if it is known.
    let leader: String
    /// Whether the servers of the engine write to their disks before they answer, if that is known.
    let syncsAlways: Bool?

    /// Appends it as JSON.
    func append(to json: inout [UInt8]) {
        var writer = JSONWriter()
        writer.beginObject(into: &json)
        writer.member("node", string: node, into: &json)
        // Half of these numbers are no whole numbers of JavaScript.
        writer.member("life", string: "\(life)", into: &json)
        writer.member("ready", bool: reason == nil, into: &json)
        if let reason { writer.member("reason", string: reason, into: &json) }
        writer.member("index", integer: index, into: &json)
        writer.member("lag", integer: lag, into: &json)
        writer.member("digest", string: String(digest, radix: 16), into: &json)
        writer.member("level", integer: level, into: &json)
        writer.key("nodes", into: &json)
        writer.beginArray(into: &json)
        for broker in brokers {
            writer.beginObject(into: &json)
            writer.member(
                "name", string: String(decoding: broker.name, as: UTF8.self), into: &json)
            writer.member("up", bool: broker.isUp, into: &json)
            writer.member("p", integer: broker.appliedIndex, into: &json)
            writer.endObject(into: &json)
        }
        writer.endArray(into: &json)
        writer.key("engine", into: &json)
        writer.beginObject(into: &json)
        if leader.isEmpty {
            writer.member(null: "leader", into: &json)
        } else {
            writer.member("leader", string: leader, into: &json)
        }
        // No client of the engine can ask that: --engine-monitor does.
        switch syncsAlways {
        case true?: writer.member("sync", string: "always", into: &json)
        case false?: writer.member("sync", string: "interval", into: &json)
        case nil: writer.member(null: "sync", into: &json)
        }
        writer.endObject(into: &json)
        writer.endObject(into: &json)
    }
}

extension ServerLoop {
    /// How the broker stands with its cluster; nil for a broker of its own.
    var clusterStatus: ClusterStatus? {
        guard let log = host.centers.log else { return nil }
        let shard = host.centers.shard
        return ClusterStatus(
            node: String(decoding: log.replicated.options.node, as: UTF8.self),
            life: log.replicated.life, reason: log.unavailability?.word, index: shard.logIndex,
            lag: log.replicated.lag,
            digest: shard.chain, level: shard.level, brokers: shard.brokers,
            leader: engine?.journal.leader ?? "", syncsAlways: monitor?.syncsAlways)
    }
}
