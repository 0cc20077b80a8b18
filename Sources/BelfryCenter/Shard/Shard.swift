/// Centers by name: the state that one log of commands determines.
///
/// It is a pure machine, as its centers are. A broker without a cluster has one for each loop,
/// which applies each command at once. Where several brokers share a log, each has one that applies
/// its entries (`Shard+Entries.swift`).
///
/// Positions identify centers; when a center ends, the last one moves to its position.
public struct Shard: Sendable {
    /// The limits that new centers have.
    public var limits: CenterLimits
    /// The centers, by position: other rooms read one here, as a function would return a copy.
    public internal(set) var centers: [NotificationCenter] = []
    private var positions: [[UInt8]: Int] = [:]
    let seed: HashSeed
    /// The key of the tags of all values.
    public var tagKey = TagKey.known {
        // Bound: centers
        didSet { for place in centers.indices { centers[place].values.tagKey = tagKey } }
    }
    /// The state of the log that it applies.
    var log = ShardLog()
    /// The center that ended last, until its host takes it; outside the shard, which may be moved.
    private var ended: [NotificationCenter] = []

    /// Makes a shard without a center.
    ///
    /// - Parameters:
    ///   - limits: the limits that new centers have.
    ///   - seed: the secret of this process for its hash tables.
    public init(limits: CenterLimits, seed: HashSeed) {
        self.limits = limits
        self.seed = seed
    }

    /// How many centers there are.
    public var count: Int { centers.count }

    /// The position of the center of a name, if there is one.
    public func position(of name: [UInt8]) -> Int? { positions[name] }

    /// Makes a center, unless there is one of that name.
    ///
    /// - Parameter epoch: text that no other life of this center has.
    /// - Returns: its position.
    public mutating func makeCenter(_ name: [UInt8], epoch: [UInt8]) -> Int {
        if let position = positions[name] { return position }
        return take(NotificationCenter(name: name, epoch: epoch, limits: limits, seed: seed))
    }

    /// Adds a center from a store or a snapshot; there must be none of that name.
    ///
    /// - Returns: its position.
    public mutating func take(_ center: consuming NotificationCenter) -> Int {
        positions[center.name] = centers.count
        centers.append(center)
        centers[centers.count - 1].values.tagKey = tagKey
        return centers.count - 1
    }

    /// Ends a center: its name is free, and the last center moves to its position.
    public mutating func endCenter(at position: Int) {
        positions[centers[position].name] = nil
        if position != centers.count - 1 {
            centers.swapAt(position, centers.count - 1)
            positions[centers[position].name] = position
        }
        ended = [centers.removeLast()]
    }

    /// Returns the center that ended last: its host subtracts its memory.
    public mutating func takeEnded() -> NotificationCenter? { ended.popLast() }

    /// Removes all names: none finds its center from now on.
    public mutating func close() { positions = [:] }

    /// Gives a center its next command; the results are in `effects`.
    @inline(__always)
    public mutating func apply(
        _ command: borrowing Command, to position: Int, into effects: inout Effects
    ) {
        centers[position].apply(
            command, at: centers[position].appliedIndex + 1, into: &effects)
    }

    // MARK: What a center counts for this process alone

    /// Measures the growth of a center's memory since the last measurement.
    public mutating func noteKept(
        at position: Int, ifChangedBy byteCount: Int, addingTo growth: inout KeptMemory
    ) -> Bool {
        centers[position].noteKept(ifChangedBy: byteCount, addingTo: &growth)
    }

    /// Returns the growth of a center's memory by owner since the last call.
    public mutating func takeOwnedGrowth(at position: Int) -> [Owner: Holdings] {
        centers[position].takeOwnedGrowth()
    }

    /// Assigns the owners of a center's stored memory.
    public mutating func assignOwners(
        at position: Int, _ ownerOf: (_ principal: [UInt8]) -> Owner
    ) {
        centers[position].assignOwners(ownerOf)
    }
}
