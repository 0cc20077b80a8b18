// Questions that a broker asks a shard, to write the log that the shard applies.

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
    /// The brokers that the log has ever had an entry of; a broker has its rank by its place among those that are up.
    public var brokers: [LogBroker] { log.nodes.nodes.map(LogBroker.init) }

    /// A broker, if the log has ever had an entry of it.
    public func broker(_ name: [UInt8]) -> LogBroker? {
        log.nodes.place(of: name).map { LogBroker(log.nodes[$0]) }
    }

    /// The digest of the log up to an index (``chain``); nil where the shard does not remember it any more.
    public func chain(at index: UInt64) -> UInt64? { log.past[index]?.chain }

    /// Becomes the shard whose state this is, and keeps the secret of its hash tables.
    public mutating func restore(_ snapshot: [UInt8]) throws(CodeError) {
        self = try Shard(snapshot: snapshot, seed: seed)
    }

    /// When an entry is needed, in the time of the log, if nobody writes one: a center has something to do by itself then.
    public var dueTime: Int64 { log.touched.isEmpty ? log.dueAt : log.time }
}

extension LogBroker {
    fileprivate init(_ node: NodeTable.Node) {
        self.init(
            name: node.name, life: node.life, seat: node.seat, isUp: node.isUp,
            appliedIndex: node.appliedIndex)
    }
}
