import BelfryCenter
import BelfryCluster
import BelfryJSON

/// The state of a broker in its cluster (`GET /v1/cluster`).
struct ClusterStatus {
    let node: String
    let life: UInt64
    /// The reason why it takes no commands; nil where it does.
    let reason: String?
    let index: UInt64
    /// The number of entries that the log is known to have and that are not applied yet.
    let lag: UInt64
    /// The digest of the log up to the index: brokers with the same entries have the same digest.
    let digest: UInt64
    let level: UInt64
    let brokers: [LogBroker]
    /// The name of the server that leads the log, if it is known.
    let leader: String
    /// Whether the engine's servers write to their disks before they answer; nil if unknown.
    let syncsAlways: Bool?

    /// Appends the status as JSON.
    func append(to json: inout [UInt8]) {
        var writer = JSONWriter()
        writer.beginObject(into: &json)
        writer.member("node", string: node, into: &json)
        // Half of these numbers are not exact as numbers of JavaScript.
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
        // The client protocol of the engine does not say so: --engine-monitor does.
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
    /// The state of the broker in its cluster; nil without one.
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
