import BelfryCenter

// The memory of centers, and its owners.

extension CenterTable {
    /// Counts the memory of a center again, if it has changed by some bytes.
    mutating func noteKept(at position: Int, ifChangedBy byteCount: Int = 0) {
        takeOwned(at: position)
        var growth = KeptMemory()
        guard shard.noteKept(at: position, ifChangedBy: byteCount, addingTo: &growth) else {
            return
        }
        keptGrowth.add(growth)
        let owner = hosted[position].owner
        if owner != .none {
            var more = Holdings()
            more.memory = growth.ofCenter
            keptGrowth.add([owner: more])
        }
    }

    /// Counts the memory of all centers again.
    mutating func noteAllKept() {
        for position in hosted.indices { noteKept(at: position) }  // Bound: centers
    }

    /// The change in bytes, about, past which a center's memory is counted again.
    static let leastKeptChange = 4 << 10

    /// Takes the growth of a center's memory by owner.
    @inline(__always)
    private mutating func takeOwned(at position: Int) {
        if hasOwners { keptGrowth.add(shard.takeOwnedGrowth(at: position)) }
    }

    /// Counts a center, or with -1 its end, for its owner, with its own memory.
    mutating func countCenter(_ sign: Int, at position: Int) {
        countCenter(sign, of: shard.centers[position], at: position)
    }

    /// Counts a center that the table may have no more, for its owner there.
    mutating func countCenter(
        _ sign: Int, of center: borrowing NotificationCenter, at position: Int
    ) {
        var more = Holdings()
        let kept = center.keptMemory.ofCenter
        more.memory = sign > 0 ? kept : KeptMemory() - kept
        more.centerCount = sign
        keptGrowth.add([hosted[position].owner: more])
    }

    /// Assigns the restored contents of a center to owners.
    mutating func assignOwners(at position: Int, _ ownerOf: (_ principal: [UInt8]) -> Owner) {
        shard.assignOwners(at: position, ownerOf)
        takeOwned(at: position)
    }
}
