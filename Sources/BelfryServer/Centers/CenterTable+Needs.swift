import BelfryCenter

// The needs of centers, and the memory that they keep.

extension CenterTable {
    /// Whether the center at a position has work at the end of the turn.
    func needsTurnEnd(at position: Int) -> Bool {
        shard.centers[position].needs.turnEnd && !isDoing(.turnEnd, at: position)
    }

    /// Whether the center at a position has begun the end of a turn and not finished it.
    func turnGoesOn(at position: Int) -> Bool {
        shard.centers[position].needs.turnGoesOn && !isDoing(.turnEnd, at: position)
    }

    /// The centers that wait for an idle moment.
    var idlePositions: [Int] {
        hosted.indices.filter { shard.centers[$0].needs.idle && !isDoing(.idle, at: $0) }
    }

    /// The centers that have work due by this time.
    func positionsDue(at time: CommandTime) -> [Int] {
        hosted.indices.filter { isDue($0, at: time) }
    }

    /// Whether the center at a position has more work due than timers.
    ///
    /// Timers fire a share a turn: they may be many, and requests meanwhile do not wait for all.
    func timeGoesOn(at position: Int, _ time: CommandTime) -> Bool {
        shard.centers[position].needs.deadline <= time.monotonicNanoseconds
            && !isDoing(.time, at: position)
    }

    /// Whether the center at a position has work due by this time.
    private func isDue(_ position: Int, at time: CommandTime) -> Bool {
        shard.centers[position].needs.isDue(at: time) && !isDoing(.time, at: position)
    }

    /// The time of the first work of any center; nil when there is none.
    ///
    /// - Parameter time: now; it relates the two clocks.
    func earliestDeadline(at time: CommandTime) -> Int64? {
        let others = hosted.indices.filter { !isDoing(.time, at: $0) }
        let earliest = others.map { shard.centers[$0].needs.nextDeadline(at: time) }.min()
        return earliest == .max ? nil : earliest
    }

    /// The center that keeps the most of a kind.
    func largestKeeper(of kind: KeptKind) -> Int? {
        hosted.indices.max { kept(kind, at: $0) < kept(kind, at: $1) }
    }

    /// The center that keeps the most of a kind for an owner; nil where none keeps any.
    func largestKeeper(of kind: KeptKind, for owner: Owner) -> Int? {
        let largest = hosted.indices.max {
            kept(kind, at: $0, for: owner) < kept(kind, at: $1, for: owner)
        }
        return largest.flatMap { kept(kind, at: $0, for: owner) > 0 ? $0 : nil }
    }

    /// The bytes that a center keeps of a kind for an owner.
    func kept(_ kind: KeptKind, at position: Int, for owner: Owner) -> Int {
        let own = shard.centers[position].holdings(of: owner).memory[kind]
        return hosted[position].owner == owner
            ? own + shard.centers[position].keptMemory.ofCenter[kind] : own
    }

    /// The bytes that a center keeps of a kind, as last counted.
    func kept(_ kind: KeptKind, at position: Int) -> Int {
        shard.centers[position].keptMemory[kind]
    }

    /// The number of entries of a kind that a center can forget.
    func trimmableCount(of kind: KeptKind, at position: Int) -> Int {
        shard.centers[position].trimmableCount(of: kind)
    }

    /// The command that makes a center forget the oldest eighth of a kind.
    func trimAction(_ kind: KeptKind, at position: Int) -> Command.Action {
        let count = trimmableCount(of: kind, at: position)
        return .trim(kind, count: count - min(count, max(Self.leastTrim, count / 8)))
    }

    private static let leastTrim = 16
}
