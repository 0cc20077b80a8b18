// Questions of a broker to a shard, for writing the log that the shard applies.

/// A broker that shares a log, as the log knows it.
public struct LogBroker: Sendable, Equatable {
    /// Its name.
    public let name: [UInt8]
    /// The last of its lives.
    public let life: UInt64
    /// The number that stands for that life in the names of connections and commands.
    public let seat: UInt32
    /// Whether that life is not over.
    public let isUp: Bool
    /// The highest index that it is known to have applied.
    public let appliedIndex: UInt64
}

extension Shard {
    /// The brokers in the log; the rank of a broker is its place among those that are up.
    public var brokers: [LogBroker] { log.nodes.nodes.map(LogBroker.init) }

    /// A broker, if the log ever had an entry of it.
    public func broker(_ name: [UInt8]) -> LogBroker? {
        log.nodes.place(of: name).map { LogBroker(log.nodes[$0]) }
    }

    /// The digest of the log up to an index (``chain``); nil for one that is forgotten.
    public func chain(at index: UInt64) -> UInt64? { log.past[index]?.chain }

    /// Replaces the shard by this state, and keeps the secret of its hash tables.
    public mutating func restore(_ snapshot: [UInt8]) throws(CodeError) {
        self = try Shard(snapshot: snapshot, seed: seed)
    }

    /// The time of the log at which a center is due, so that some broker must write an entry.
    public var dueTime: Int64 { log.touched.isEmpty ? log.dueAt : log.time }
}

extension LogBroker {
    fileprivate init(_ node: NodeTable.Node) {
        self.init(
            name: node.name, life: node.life, seat: node.seat, isUp: node.isUp,
            appliedIndex: node.appliedIndex)
    }
}
