/// The brokers that share a log, as the log knows them.
struct NodeTable: Sendable {
    /// A broker, and the last of its lives.
    struct Node: Sendable {
        let name: [UInt8]
        var life: UInt64
        /// The number of that life in the names of connections and commands; no other life has it.
        var seat: UInt32
        /// Whether that life is not over.
        var isUp: Bool
        /// The level that its program knows.
        var level: UInt64
        /// The number of its last entry that counted.
        var lastNumber: UInt64
        /// The highest index that it is known to have applied.
        var appliedIndex: UInt64
    }

    /// How many brokers may share a log.
    static let limit = 16

    private(set) var nodes: [Node] = []
    private var lastSeat: UInt32 = 0

    /// The place of a broker, if the log ever had an entry of it.
    func place(of name: [UInt8]) -> Int? { nodes.firstIndex { $0.name == name } }

    /// The broker at a place.
    subscript(place: Int) -> Node {
        _read { yield nodes[place] }
        _modify { yield &nodes[place] }
    }

    /// The reason why a life may not begin; nil if it is later than all lives of its broker before.
    func reason(against life: UInt64, of name: [UInt8]) -> Shard.Skip? {
        guard let place = place(of: name) else {
            return nodes.count < Self.limit ? nil : .isOneTooMany(limit: Self.limit)
        }
        return life > nodes[place].life ? nil : .lifeIsOver
    }

    /// Begins a life.
    mutating func begin(_ life: UInt64, of name: [UInt8], level: UInt64) {
        lastSeat += 1
        let node = Node(
            name: name, life: life, seat: lastSeat, isUp: true, level: level, lastNumber: 0,
            appliedIndex: 0)
        if let place = place(of: name) { nodes[place] = node } else { nodes.append(node) }
    }

    /// The highest index that the life with this seat is known to have applied.
    ///
    /// It is 0 where the log has no such life, or a later one of its broker.
    func appliedIndex(ofSeat seat: UInt32) -> UInt64 {
        nodes.first { $0.seat == seat }?.appliedIndex ?? 0
    }

    /// The highest index that all live brokers are known to have applied; nil without any.
    var indexAppliedByAll: UInt64? { nodes.filter(\.isUp).map(\.appliedIndex).min() }

    /// Forgets the indexes that the brokers have applied: they belong to another past.
    mutating func forgetAppliedIndexes() {
        for place in nodes.indices { nodes[place].appliedIndex = 0 }  // Bound: brokers
    }

    /// Whether every broker that is up knows the rules of a level.
    func knows(_ level: UInt64) -> Bool { nodes.allSatisfy { !$0.isUp || $0.level >= level } }
}

extension NodeTable: Coded {
    init(_ known: NodeTable?, by coder: inout some Coder) throws(CodeError) {
        nodes = try coder(known?.nodes)
        lastSeat = try coder(known?.lastSeat)
    }
}

extension NodeTable.Node: Coded {
    init(_ known: NodeTable.Node?, by coder: inout some Coder) throws(CodeError) {
        name = try coder(known?.name)
        life = try coder(known?.life)
        seat = try coder(known?.seat)
        isUp = try coder(known?.isUp)
        level = try coder(known?.level)
        lastNumber = try coder(known?.lastNumber)
        appliedIndex = try coder(known?.appliedIndex)
    }
}
