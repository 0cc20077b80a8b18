/// Centers by name: what one log of commands has, and what each broker that reads that log applies.
///
/// It is a pure machine, as its centers are. A broker of its own has one for each loop, and lets it apply each command
/// at once. Where several brokers share a log, it applies the entries of that (`Shard+Entries.swift`).
///
/// A center has a position, which is that of another one after it has ended: the last one moves to it.
public struct Shard: Sendable {
    /// The limits that new centers have.
    public var limits: CenterLimits
    /// The centers, by position: another room looks at one here, since a look through a function would copy it.
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
    /// The center that ended last, until its host has taken it; not in the shard itself, which is moved at times.
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

    /// The position of a center, if there is one of that name.
    public func position(of name: [UInt8]) -> Int? { positions[name] }

    /// Makes a center, unless there is one of that name.
    ///
    /// - Parameter epoch: text that no other life of this center has.
    /// - Returns: its position.
    public mutating func makeCenter(_ name: [UInt8], epoch: [UInt8]) -> Int {
        if let position = positions[name] { return position }
        return take(NotificationCenter(name: name, epoch: epoch, limits: limits, seed: seed))
    }

    /// Takes a center that a store or a snapshot had; there is none of that name.
    ///
    /// - Returns: its position.
    public mutating func take(_ center: consuming NotificationCenter) -> Int {
        positions[center.name] = centers.count
        centers.append(center)
        centers[centers.count - 1].values.tagKey = tagKey
        return centers.count - 1
    }

    /// Ends a center: its name finds it no more, and the last center moves to its position.
    public mutating func endCenter(at position: Int) {
        positions[centers[position].name] = nil
        if position != centers.count - 1 {
            centers.swapAt(position, centers.count - 1)
            positions[centers[position].name] = position
        }
        ended = [centers.removeLast()]
    }

    /// Takes the center that ended last: its host counts off what it had.
    public mutating func takeEnded() -> NotificationCenter? { ended.popLast() }

    /// Takes the names away: none finds its center from now on.
    public mutating func close() { positions = [:] }

    /// Gives a center its next command; what that brought about is in `effects`.
    @inline(__always)
    public mutating func apply(
        _ command: borrowing Command, to position: Int, into effects: inout Effects
    ) {
        centers[position].apply(
            command, at: centers[position].appliedIndex + 1, into: &effects)
    }

    // MARK: What a center counts for this process alone

    /// Finds out how much more memory a center keeps than when that was found out last.
    public mutating func noteKept(at position: Int, ifChangedBy byteCount: Int) -> KeptMemory? {
        centers[position].noteKept(ifChangedBy: byteCount)
    }

    /// Takes how much more a center keeps for each owner than it told.
    public mutating func takeOwnedGrowth(at position: Int) -> [Owner: Holdings] {
        centers[position].takeOwnedGrowth()
    }

    /// Finds out for whom what a store has kept of a center counts.
    public mutating func assignOwners(
        at position: Int, _ ownerOf: (_ principal: [UInt8]) -> Owner
    ) {
        centers[position].assignOwners(ownerOf)
    }
}
