/// The counters of a shard: each number is given once, where the log needs it.
struct ShardNumbers: Sendable, NumberSource {
    private var observers: UInt64 = 0
    private var clients: UInt64 = 0
    private var modes: UInt64 = 0

    mutating func next(_ kind: NumberedKind) -> UInt64 {
        switch kind {
        case .observer:
            observers += 1
            return observers
        case .client:
            clients += 1
            return clients
        case .mode:
            modes += 1
            return modes
        }
    }
}

extension ShardNumbers: Coded {
    init(_ known: ShardNumbers?, by coder: inout some Coder) throws(CodeError) {
        observers = try coder(known?.observers)
        clients = try coder(known?.clients)
        modes = try coder(known?.modes)
    }
}
