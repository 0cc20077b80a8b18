extension NotificationCenter {
    /// Finds out how much memory the center keeps, if that has changed by some bytes; tells the growth.
    ///
    /// Whoever gives it commands asks after a turn, and most turns change nearly nothing: what changed is
    /// measured roughly, by sums that the tables have at hand, before it is found out.
    ///
    /// - Complexity: O(1).
    public mutating func noteKept(ifChangedBy byteCount: Int) -> KeptMemory? {
        let count =
            4 * observers.count + held.entryCount + queue.count + replay.count + keys.count
            + fates.count + 4 * timers.count + 4 * asks.count + askFates.count + tombstones.count
            + index.channels.count + 2 * values.count + values.parts.count
        let measure =
            held.byteCount + queue.byteCount + timers.byteCount + replay.byteCount + keys.byteCount
            + asks.byteCount + askFates.byteCount + waiting.resultByteCount
            + ValueTable.documentCost * values.byteCount + index.channels.byteCount
            + Self.roughByteCount * count
        guard (measure - keptMeasure).magnitude >= byteCount else { return nil }
        keptMeasure = measure
        let before = keptMemory
        keptMemory = footprint
        return keptMemory - before
    }

    /// What a thing costs besides its text, about; an observer is four of them.
    private static var roughByteCount: Int { 64 }

    private var footprint: KeptMemory {
        var kept = KeptMemory()
        kept[.observers] =
            observers.footprint + addresses.footprint + targets.footprint + clients.footprint
            + index.footprint
            + selectors.footprint + watch.footprint
            + deadlines.footprint
            + Footprint.dictionary(
                capacity: lastWritten.capacity,
                stride: MemoryLayout<UInt32>.stride + MemoryLayout<LastWritten>.stride)
            + Footprint.dictionary(
                capacity: toldGaps.capacity,
                stride: MemoryLayout<UInt64>.stride
                    + ToldGap.limit * MemoryLayout<ToldGap>.stride + 32)
            + doubts.values.reduce(0) { $0 + $1.count * MemoryLayout<Doubt>.stride }
        kept[.channels] = index.channels.footprint
        kept[.replay] = replay.footprint
        kept[.keys] = keys.footprint
        kept[.fates] = fates.footprint + askFates.footprint
        kept[.tombstones] = tombstones.footprint
        kept[.held] = held.footprint + replaceableFootprint + heldActionsFootprint
        kept[.queue] =
            queue.footprint + timers.footprint + asks.footprint + waiting.resultByteCount
            + (usesValues ? values.footprint : 0)
        return kept
    }

    /// How many of a kind there are that ``Command/Action/trim(_:count:)`` can forget.
    public func trimmableCount(of kind: KeptKind) -> Int {
        switch kind {
        case .observers, .queue, .held: 0
        case .channels: index.channels.unobservedCount
        case .replay: replay.count
        case .keys: keys.count
        case .fates: max(fates.count, askFates.count)
        case .tombstones: tombstones.count
        }
    }

    /// Forgets the oldest of a kind until no more than so many of it are left.
    ///
    /// Observers, the queue and what is held lose nothing by it: what finds no room there is refused, or lost
    /// with a gap (``Command/Action/trimHeld(byteCount:)``).
    mutating func trim(
        _ kind: KeptKind, to count: Int, at time: CommandTime, _ effects: inout Effects
    ) {
        switch kind {
        case .observers, .queue, .held: break
        case .channels: index.forgetUnobserved(downTo: count)
        case .replay: replay.trim(toCount: count)
        case .keys:
            forgetKeys(keys.trim(toCount: count, limits: limits), &effects)
        case .fates:
            fates.trim(toCount: count)
            forgetAsks(askFates.trim(toCount: count), &effects)
        case .tombstones: tombstones.trim(to: count)
        }
    }

    /// What is known of actions besides their entries costs, about: selectors and paths are mostly shared with those
    /// who hold the addresses.
    private var heldActionsFootprint: Int {
        Footprint.dictionary(
            capacity: heldActions.capacity,
            stride: MemoryLayout<UInt32>.stride + MemoryLayout<HeldAction>.stride)
            + heldActions.count * HeldAction.listByteCount
    }

    /// What finds the replaceable notifications costs: a name and an object for each.
    private var replaceableFootprint: Int {
        Footprint.dictionary(
            capacity: replaceable.capacity,
            stride: MemoryLayout<ObservedKind>.stride + MemoryLayout<UInt32>.stride)
            + replaceable.count * 2 * Footprint.array(of: ObservedKind.usualByteCount)
    }
}
