extension NotificationCenter {
    /// Measures the memory of the center if it has changed by some bytes; returns the growth.
    ///
    /// The host asks after a turn, and most turns change nearly nothing: the change is estimated,
    /// by sums that the tables have at hand, before the memory is measured.
    ///
    /// - Complexity: O(1).
    public mutating func noteKept(ifChangedBy byteCount: Int) -> KeptMemory? {
        let count =
            4 * observers.count + held.entryCount + queue.count + replay.count + keys.count
            + fates.count + 4 * timers.count + 4 * asks.count + askFates.count + tombstones.count
            + index.channels.count
        let measure =
            held.byteCount + queue.byteCount + timers.byteCount + replay.byteCount + keys.byteCount
            + asks.byteCount + askFates.byteCount + waiting.resultByteCount
            + (usesValues ? values.footprint : 0) + (paces.isEmpty ? 0 : paces.footprint)
            + index.channels.byteCount + Self.roughByteCount * count
        guard (measure - keptMeasure).magnitude >= byteCount else { return nil }
        keptMeasure = measure
        let before = keptMemory
        keptMemory = footprint
        return keptMemory - before
    }

    /// The bytes of an item besides its text, about; an observer counts as four items.
    private static var roughByteCount: Int { 64 }

    /// The cost of all that is stored: each table knows its own (decision 124).
    ///
    /// A test finds a table that is left out.
    private var footprint: KeptMemory {
        var kept = KeptMemory()
        kept[.observers] =
            observers.footprint + addresses.footprint + targets.footprint + clients.footprint
            + (index.footprint - index.channels.footprint) + selectors.footprint
            + watch.footprint + deadlines.footprint
            + lastWritten.footprint + toldGaps.footprint + doubts.footprint + marks.footprint
            + matched.footprint + owned.footprint + reports.footprint
        kept[.channels] = index.channels.footprint
        kept[.replay] = replay.footprint
        kept[.keys] = keys.footprint
        kept[.fates] = fates.footprint + askFates.footprint + paces.footprint
        kept[.tombstones] = tombstones.footprint
        kept[.held] = held.footprint + replaceable.footprint + heldActions.footprint
        kept[.queue] =
            queue.footprint + modeStack.footprint + timers.footprint + asks.footprint
            + waiting.footprint + values.footprint
        return kept
    }

    /// The number of items of a kind that ``Command/Action/trim(_:count:)`` can forget.
    public func trimmableCount(of kind: KeptKind) -> Int {
        switch kind {
        case .observers, .queue, .held: 0
        case .channels: index.channels.unobservedCount
        case .replay: replay.count
        case .keys: keys.count
        case .fates: max(fates.count, askFates.count, paces.count)
        case .tombstones: tombstones.count
        }
    }

    /// Forgets the oldest items of a kind until no more than so many are left.
    ///
    /// Observers, the queue and held notifications lose nothing by it: where they have no room, new
    /// ones are refused, or lost with a gap (``Command/Action/trimHeld(byteCount:)``).
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
            paces.trim(to: count, at: time.monotonicNanoseconds)
        case .tombstones: tombstones.trim(to: count)
        }
    }
}
