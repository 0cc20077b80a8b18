/// The three steps that every change of a queue is made of, and the journal that undoes them.
extension NotificationQueue {
    /// One step, with the data for undoing it.
    enum Step: Sendable {
        case inserted(slot: UInt32)
        case removed(slot: UInt32, Entry)
        case replaced(slot: UInt32, Entry)
    }

    /// The steps of an open batch.
    struct Journal: Sendable {
        var steps: [Step] = []
        let nextPlace: UInt64
    }

    /// Puts an entry into a free slot.
    mutating func insert(_ entry: Entry) {
        let slot = freeSlots.popLast() ?? UInt32(slots.count)
        if Int(slot) == slots.count { slots.append(Slot()) }
        fill(slot, with: entry)
        journal?.steps.append(.inserted(slot: slot))
    }

    /// Removes the entry of a slot, and returns it.
    mutating func removeEntry(at slot: UInt32) -> Entry {
        let entry = empty(slot)
        if journal == nil {
            freeSlots.append(slot)
        } else {
            // The slot stays free for undoing until the batch is over.
            journal?.steps.append(.removed(slot: slot, entry))
        }
        settleTimers()
        return entry
    }

    /// Puts an entry in the place of the one in a slot, which has the same identifier and place.
    mutating func replaceEntry(at slot: UInt32, by entry: Entry) {
        guard let old = slots[Int(slot)].entry else { return }
        exchange(old, for: entry, at: slot)
        journal?.steps.append(.replaced(slot: slot, old))
        settleTimers()
    }
}

// MARK: - Batches

extension NotificationQueue {
    /// Opens a batch: additions and removals from now on are a trial that its end undoes.
    ///
    /// Modes are not part of a batch.
    mutating func beginBatch() {
        precondition(journal == nil, "one batch at a time")
        journal = Journal(nextPlace: nextPlace)
    }

    /// Ends the batch; the queue is as it was before.
    mutating func undoBatch() {
        guard let ended = journal else { return }
        journal = nil
        nextPlace = ended.nextPlace
        for step in ended.steps.reversed() {  // Bound: batch, similar
            switch step {
            case .inserted(let slot):
                _ = empty(slot)
                freeSlots.append(slot)
            case .removed(let slot, let entry):
                fill(slot, with: entry)
            case .replaced(let slot, let entry):
                if let new = slots[Int(slot)].entry { exchange(new, for: entry, at: slot) }
            }
        }
        settleTimers()
    }
}

// MARK: - The tables

extension NotificationQueue {
    private mutating func fill(_ slot: UInt32, with entry: Entry) {
        slots[Int(slot)].entry = entry
        count += 1
        byteCount += entry.content.byteCount
        count(entry, 1)
        kinds.insert(entry.content, at: slot)
        modeLists.insert(
            slot, place: entry.place, isIdle: entry.style == .idle, modes: entry.modes)
        if entry.modes.count > 1 { slots[Int(slot)].entry?.modes = modeLists.shared(entry.modes) }
        positions.insert(entry.id, at: UInt64(slot)) { Self.id(in: slots[Int($0)]) }
        setExpiry(at: slot, to: entry.expiresAt)
        setPromotion(at: slot, to: entry.promotesAt)
    }

    /// Adds an entry to the memory of its owner, or subtracts a removed one with -1.
    private mutating func count(_ entry: Entry, _ sign: Int) {
        owned.add(
            sign * entry.content.byteCount, cost: sign * entry.cost, of: .queue, for: entry.owner)
    }

    private mutating func empty(_ slot: UInt32) -> Entry {
        guard let entry = slots[Int(slot)].entry else {
            preconditionFailure("a slot that is emptied has an entry")
        }
        setExpiry(at: slot, to: .max)
        setPromotion(at: slot, to: .max)
        positions.remove(entry.id, at: UInt64(slot))
        modeLists.remove(slot)
        kinds.remove(at: slot)
        byteCount -= entry.content.byteCount
        count(entry, -1)
        count -= 1
        slots[Int(slot)].entry = nil
        return entry
    }

    private mutating func exchange(_ old: Entry, for new: Entry, at slot: UInt32) {
        slots[Int(slot)].entry = new
        byteCount += new.content.byteCount - old.content.byteCount
        count(old, -1)
        count(new, 1)
        if !old.content.isSameKind(as: new.content) {
            kinds.remove(at: slot)
            kinds.insert(new.content, at: slot)
        }
        // Modes of an entry only ever become more, so that their number says whether they differ.
        if old.style != new.style || old.modes.count != new.modes.count {
            modeLists.remove(slot)
            modeLists.insert(
                slot, place: new.place, isIdle: new.style == .idle, modes: new.modes)
        }
        if old.expiresAt != new.expiresAt { setExpiry(at: slot, to: new.expiresAt) }
        if old.promotesAt != new.promotesAt { setPromotion(at: slot, to: new.promotesAt) }
    }

    static func id(in slot: Slot) -> NotificationID {
        slot.entry?.id ?? NotificationID(high: 0, low: 0)
    }

    private mutating func setExpiry(at slot: UInt32, to time: Int64) {
        let isSet = slots[Int(slot)].expiryStamp != 0
        slots[Int(slot)].expiryStamp = addTimer(at: time, slot, isExpiry: true, replacing: isSet)
    }

    private mutating func setPromotion(at slot: UInt32, to time: Int64) {
        let isSet = slots[Int(slot)].promotionStamp != 0
        slots[Int(slot)].promotionStamp = addTimer(
            at: time, slot, isExpiry: false, replacing: isSet)
    }

    /// Adds a deadline, and returns its stamp; 0 for a time that never comes.
    private mutating func addTimer(
        at time: Int64, _ slot: UInt32, isExpiry: Bool, replacing isSet: Bool
    ) -> UInt64 {
        if isSet { timerCount -= 1 }
        guard time != Int64.max else { return 0 }
        timerCount += 1
        lastStamp += 1
        timers.add(at: time, key: Timer(slot: slot, stamp: lastStamp, isExpiry: isExpiry))
        return lastStamp
    }

    /// Discards deadlines that no longer count.
    ///
    /// Those are the ones before the first that counts, and all of them when they are the majority.
    mutating func settleTimers() {
        if timers.count == 0 { return }
        timers.dropUnwanted { Self.isAlive($0, in: slots) }
        if timers.isSparse(livingCount: timerCount) {
            timers.compact { Self.isAlive($0, in: slots) }
        }
    }

    private static func isAlive(_ timer: Timer, in slots: [Slot]) -> Bool {
        let slot = Int(timer.slot)
        return timer.stamp
            == (timer.isExpiry ? slots[slot].expiryStamp : slots[slot].promotionStamp)
    }
}
