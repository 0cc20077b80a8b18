// Frames for many connections. Mostly the next frame of a turn goes to the same ones, right behind
// the last: then it is noted once for all of them, and for each when its slot is needed.

/// The connections that got the last frames, and the frames not yet in their slots.
struct FrameRow {
    /// The connections in the order of their frames; none when there is no row.
    var ids: [ConnectionID] = []
    /// The frames in the arena for all of them that are in none of their slots yet.
    var rest = 0..<0

    /// For how many connections the room is kept for the next row.
    private static let keptCount = 1 << 16

    /// Takes in a range that follows the last one to the same connections; false where it does not.
    mutating func extend(by range: Range<Int>, to others: [ConnectionID]) -> Bool {
        guard rest.upperBound == range.lowerBound, ids.count == others.count, !ids.isEmpty
        else { return false }
        // Without an early end, so that many are compared at once.
        var difference: UInt32 = 0
        for place in ids.indices {
            difference |= ids[place].index ^ others[place].index
            difference |= ids[place].generation ^ others[place].generation
        }
        guard difference == 0 else { return false }
        rest = rest.lowerBound..<range.upperBound
        return true
    }

    /// Begins a row with connections whose slots know all up to a place in the arena.
    mutating func begin(_ others: [ConnectionID], knowing end: Int) {
        ids.append(contentsOf: others)
        rest = end..<end
    }

    /// Ends the row.
    mutating func end() {
        ids.removeAll(keepingCapacity: ids.capacity <= Self.keptCount)
        rest = 0..<0
    }
}

extension EventLoop {
    /// Sends a range of `frames` to many connections when the turn ends, to each as a delivery.
    public mutating func sendFrames(_ range: Range<Int>, to ids: [ConnectionID]) {
        precondition(range.lowerBound >= 0 && range.upperBound <= frames.count, "not in the arena")
        guard !range.isEmpty, !row.extend(by: range, to: ids) else { return }
        settleRow()
        let countBefore = dirty.count
        if addFrames(range, to: ids) { row.begin(ids, knowing: range.upperBound) }
        if dirty.count - countBefore < ids.count { late.hasJoinedEarlier = true }
    }

    /// Adds the row's frames to the slot of each connection.
    ///
    /// The flush does this first, and so does any call that adds to the output of one of them, or
    /// closes it.
    mutating func settleRow() {
        guard !row.ids.isEmpty else { return }
        var settled = FrameRow()
        swap(&settled, &row)
        if !settled.rest.isEmpty { _ = addFrames(settled.rest, to: settled.ids) }
        settled.end()
        swap(&settled, &row)
    }

    /// Adds a range to the slots of connections; tells whether all of them got it as usual.
    private mutating func addFrames(_ range: Range<Int>, to ids: [ConnectionID]) -> Bool {
        var unusual: [ConnectionID] = []
        let byteLimit = configuration.connectionByteLimit
        Self.addFrames(range, to: ids, &slots, byteLimit: byteLimit, &dirty, &unusual)
        for id in unusual { sendFrames(range, to: id) }
        return unusual.isEmpty
    }

    /// Adds a range to the slots of connections; returns the newly dirty and the unusual ones.
    private static func addFrames(
        _ range: Range<Int>, to ids: [ConnectionID], _ slots: inout [ConnectionSlot],
        byteLimit: Int, _ dirty: inout [UInt32], _ unusual: inout [ConnectionID]
    ) {
        var slots = slots.mutableSpan
        for place in ids.indices {
            let id = ids[place]
            let index = Int(id.index)
            guard index < slots.count, slots[index].generation == id.generation else { continue }
            switch slots[index].addFrames(range, byteLimit: byteLimit) {
            case .extended: break
            case .begun: dirty.append(id.index)
            case .unusual: unusual.append(id)
            }
        }
    }
}
