extension NotificationCenter {
    /// Measures the memory of the center if it has changed by some bytes; tells whether it has.
    ///
    /// The host asks after a turn, and most turns change nearly nothing: the change is estimated,
    /// by sums that the tables have at hand, before the memory is measured.
    ///
    /// - Parameter growth: The growth is added here: most calls have none to return.
    /// - Complexity: O(1).
    public mutating func noteKept(
        ifChangedBy byteCount: Int, addingTo growth: inout KeptMemory
    ) -> Bool {
        var count =
            4 * registry.observers.count + backlog.held.entryCount + schedule.queue.count
            + history.replay.count + history.keys.count + history.fates.count
            + registry.tombstones.count + registry.index.channels.count
        var measure =
            backlog.held.byteCount + schedule.queue.byteCount + history.replay.byteCount
            + history.keys.byteCount + backlog.waiting.resultByteCount
            + (backlog.paces.isEmpty ? 0 : backlog.paces.footprint)
            + registry.index.channels.byteCount + registry.tombstones.textFootprint
        if schedule.usesTimers {
            count += 4 * schedule.timers.count
            measure += schedule.timers.byteCount
        }
        if asks.isUsed {
            count += 4 * asks.open.count + asks.fates.count
            measure += asks.open.byteCount + asks.fates.byteCount
        }
        if values.isUsed { measure += values.footprint }
        if archiveBox.value.isUsed {
            count += 2 * archiveBox.value.rows.count
            measure += archiveBox.value.rows.byteCount
        }
        if registry.index.hasFilters { measure += registry.index.filterFootprint }
        measure += Self.roughByteCount * count
        guard (measure - memory.measure).magnitude >= byteCount else { return false }
        memory.measure = measure
        let before = memory.kept
        memory.kept = footprint
        growth += memory.kept - before
        return true
    }

    /// The bytes of an item besides its text, about; an observer counts as four items.
    private static var roughByteCount: Int { 64 }

    /// The cost of all that is stored: each part knows its own (decision 124).
    ///
    /// A test finds a table that is left out.
    private var footprint: KeptMemory {
        var kept = KeptMemory()
        registry.addFootprint(to: &kept)
        history.addFootprint(to: &kept)
        backlog.addFootprint(to: &kept)
        schedule.addFootprint(to: &kept)
        asks.addFootprint(to: &kept)
        kept[.queue] += values.footprint
        kept[.archives] += archiveBox.footprint
        kept[.observers] +=
            dispatching.matched.slots.footprint + memory.owned.footprint
            + reports.footprint
        return kept
    }

    /// The number of items of a kind that ``Command/Action/trim(_:count:)`` can forget.
    public func trimmableCount(of kind: KeptKind) -> Int {
        switch kind {
        case .observers, .queue, .held, .archives: 0
        case .channels: registry.index.channels.unobservedCount
        case .replay: history.replay.count
        case .keys: history.keys.count
        case .fates: max(history.fates.count, asks.fates.count, backlog.paces.count)
        case .tombstones: registry.tombstones.count
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
        case .observers, .queue, .held, .archives: break
        case .channels: registry.index.forgetUnobserved(downTo: count)
        case .replay: history.replay.trim(toCount: count)
        case .keys:
            forgetKeys(history.keys.trim(toCount: count, limits: limits), &effects)
        case .fates:
            history.fates.trim(toCount: count)
            forgetAsks(asks.fates.trim(toCount: count), &effects)
            backlog.paces.trim(to: count, at: time.monotonicNanoseconds)
        case .tombstones: registry.tombstones.trim(to: count)
        }
    }
}
