public import BelfryCenter

/// Something that must last, of one center or of the whole broker.
public enum StoreChange: Sendable, Equatable {
    /// Changes of the center with this name, in their order; its first one is its ``CenterRecord``.
    case center(name: [UInt8], changes: [Change])
    /// The center with this name, which had nothing any more, has ended: a later one is another.
    case centerEnded(name: [UInt8])
    /// Observers' serial numbers up to this one may be used.
    case observersReserved(through: UInt64)
    /// Client numbers up to this one may be used.
    case clientsReserved(through: UInt64)
    /// Serial numbers of mode leases up to this one may be used.
    case modesReserved(through: UInt64)
    /// A life has begun, for which there was no room at its start.
    case lifeBegan(incarnation: UInt64)
    /// Every center has a new epoch: the store is a copy no more.
    case epochsRenewed
    /// This life of the broker ends in order, and nothing follows.
    case cleanEnd

    /// One change of the center with this name.
    public static func center(name: [UInt8], _ change: Change) -> StoreChange {
        .center(name: name, changes: [change])
    }
}

/// The changes of one turn of one loop for the store.
public struct StoreBatch: Sendable {
    /// The loop.
    public let loop: Int
    /// The number under which the loop is told that the batch is committed.
    public let ticket: UInt64
    /// The changes that must last, in the order in which they happened.
    public let changes: [StoreChange]
    /// How many changes there are, those of centers counted one by one.
    public let changeCount: Int
    /// The most bytes that committing it may add to the log.
    let weight: Int
    /// The most bytes that it may add to the main file, once the log is moved.
    let growth: Int
    /// Whether the turn is committed when this is: it is not a piece that others follow.
    let endsTurn: Bool

    /// Joins the parts.
    public init(loop: Int, ticket: UInt64, changes: [StoreChange]) {
        self.init(loop: loop, ticket: ticket, changes: changes, endsTurn: true)
    }

    init(loop: Int, ticket: UInt64, changes: [StoreChange], endsTurn: Bool) {
        self.loop = loop
        self.ticket = ticket
        self.changes = changes
        self.endsTurn = endsTurn
        changeCount = changes.reduce(0) { $0 + $1.count }
        weight = changes.reduce(0) { $0 + $1.weight }
        growth = changes.reduce(0) { $0 + $1.growth }
    }
}

/// The failure that a commit must survive.
public enum Durability: Sendable, Equatable, CaseIterable {
    /// The loss of power: each commit waits for the disk.
    case power
    /// The end of the process, also by kill -9: the system has the committed data.
    case process
}

/// The limits of a store.
public struct StoreLimits: Sendable, Equatable {
    /// Bytes in use, past which nothing new is promised; the default is 1 GiB.
    public var byteLimit = 1 << 30
    /// Removed observers that are remembered, of all centers; the default is 100,000.
    public var tombstoneLimit = 100_000
    /// How many bytes of them a start reads, the newest first: their texts, and 128 for each.
    ///
    /// The default is 128 MiB.
    public var tombstoneByteLimit = 128 << 20
    /// Bytes that are kept free for a full disk; the default is 32 MiB.
    ///
    /// Where there is no room for that many, a half, a fourth, … or a 64th of them must do.
    public var ballastByteCount = 32 << 20

    /// Takes the defaults.
    public init() {}
}
