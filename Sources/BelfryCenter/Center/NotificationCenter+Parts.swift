import BelfryJSON

// Parts of values that end: by `ttl`, or because their client is disconnected (rules V16 and V17).

extension NotificationCenter {
    /// Adds the lifetime of a written place; the caller has retained the client of a lease.
    mutating func addPart(
        _ lifetime: ValueLifetime, _ write: ValueWrite, _ slot: UInt32, at time: CommandTime
    ) {
        let part = values.makePart(at: write.path, of: slot)
        if let timeToLive = lifetime.timeToLive {
            let milliseconds = max(1, timeToLive / 1_000_000)
            values.parts.setEnd(
                part, at: time.monotonicNanoseconds.adding(timeToLive),
                wall: time.wallMilliseconds.adding(milliseconds), timeToLive: milliseconds)
        }
        if let lease = lifetime.lease, let client = write.client {
            values.parts.setLease(
                part, ValueRecord.Lease(client: client, nanoseconds: lease))
        }
        scheduleEnd(of: part)
    }

    /// Removes a part, whose place is unlimited from now on, or empty.
    ///
    /// A disconnected client that has nothing else is removed with its last entry.
    mutating func removePart(_ slot: UInt32, at time: CommandTime, _ effects: inout Effects) {
        guard let part = values.parts[slot] else { return }
        values.removePart(slot, part)
        guard let lease = part.lease, let client = registry.clients.slot(of: lease.client) else {
            return
        }
        release(client, &effects)
        _ = leaveIfEmpty(client, "disconnected", at: time, &effects)
    }

    private mutating func scheduleEnd(of slot: UInt32) {
        guard let part = values.parts[slot], part.endsAt != .max else { return }
        addDeadline(at: part.endsAt, .part(slot: slot, ordinal: part.ordinal))
    }

    /// Whether a deadline ends a part, without a later one.
    func isDue(_ slot: UInt32, ordinal: UInt64, at now: Int64) -> Bool {
        values.parts.isAlive(slot, ordinal: ordinal)
            && values.parts[slot].map { $0.endsAt <= now } ?? false
    }

    /// Ends a part whose time is over, with a change like any other; returns the work that it was.
    mutating func endPart(
        _ slot: UInt32, ordinal: UInt64, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        guard isDue(slot, ordinal: ordinal, at: time.monotonicNanoseconds) else { return 0 }
        let deliveryCount = effects.deliveries.count
        endPart(slot, at: time, &effects)
        return Work.ofEnd + effects.deliveries.count - deliveryCount
    }

    private mutating func endPart(
        _ slot: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard let part = values.parts[slot] else { return }
        let value = part.value
        let path = values[value].trie.path(of: part.node)
        for ended in values[value].trie.parts(below: path) {  // Bound: parts
            removePart(ended, at: time, &effects)
        }
        // A missing value changes nothing, but for the part.
        guard values[value].document?.value(at: path) != nil else {
            recount(valueAt: value)
            noteValue(value, at: time, &effects)
            return values.releaseIfUnused(value)
        }
        let byteCountBefore = values[value].document?.byteCount
        let edit = values.remove(path, of: value)
        _ = tell(
            ValueChange(
                id: madeID(part.ordinal, at: time), edit: edit, value: value,
                byteCountBefore: byteCountBefore), at: time, &effects)
        recount(valueAt: value)
        values.releaseIfUnused(value)
    }

    /// Starts the leases of a disconnected client; on code 1000 its entries end now (rule V17).
    mutating func startLeases(
        ofClient client: UInt64, _ end: ConnectionEnd, at time: CommandTime,
        _ effects: inout Effects
    ) {
        for slot in values.parts.slots(ofClient: client) {  // Bound: parts
            guard let lease = values.parts[slot]?.lease else { continue }
            let nanoseconds =
                end == .brokerLeft
                ? max(lease.nanoseconds, Self.leastLeaseAfterRestart) : lease.nanoseconds
            if end == .closed || nanoseconds == 0 {
                endPart(slot, at: time, &effects)
            } else {
                values.parts.setLeaseEnd(
                    slot, at: time.monotonicNanoseconds.adding(nanoseconds))
                scheduleEnd(of: slot)
            }
        }
    }

    /// Stops the leases of a client that is back: its entries stay.
    ///
    /// It also gets the entries that it wrote as the newcomer, from now on and in the store.
    mutating func takeOverLeases(
        of newcomer: UInt64, for client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        let id = registry.clients[client].id
        let taken = values.parts.slots(ofClient: newcomer)
        values.parts.move(from: newcomer, to: id)
        for slot in taken {  // Bound: parts
            retain(client, at: time, &effects)
            if let part = values.parts[slot] { noteValue(part.value, at: time, &effects) }
        }
        for slot in values.parts.slots(ofClient: id) {  // Bound: parts
            values.parts.setLeaseEnd(slot, at: .max)
        }
    }

    /// The parts of a value as a store keeps them, in the order of setting.
    func partRecords(of slot: UInt32) -> [ValueRecord.Part] {
        guard values[slot].trie.partCount > 0 else { return [] }
        let parts = values[slot].trie.parts(below: .whole).compactMap { values.parts[$0] }
        return parts.sorted { $0.ordinal < $1.ordinal }.map { part in
            ValueRecord.Part(
                path: values[slot].trie.path(of: part.node), expiresAt: part.expiresAtWall,
                timeToLive: part.timeToLive, lease: part.lease)
        }
    }

    /// An identifier, unique in the center, for a notification that was not posted.
    func madeID(_ number: UInt64, at time: CommandTime) -> NotificationID {
        var digest = FixedDigest()
        digest.add(history.epoch)
        digest.add(name)
        digest.add(history.sequence)
        digest.add(number)
        let mixed = digest.finish()
        return NotificationID(
            milliseconds: time.wallMilliseconds, place: mixed,
            random: mixed &* 0x9E37_79B9_7F4A_7C15)
    }

    /// The shortest time that an entry outlives a restart while its client is not back.
    static let leastLeaseAfterRestart: Int64 = 30_000_000_000
}

// After a restart.
extension NotificationCenter {
    /// Restores the stored value of an object; its leases run anew (rule V17).
    mutating func restore(_ record: ValueRecord, at time: CommandTime) {
        values.isUsed = true
        let slot = values.makeSlot(of: record.object)
        values[slot].document = record.document
        values.noteRestored(slot, changedSequence: record.changedSequence)
        values[slot].changedAt = record.changedAt
        values.noteDocument(at: slot, byteCountBefore: nil)
        for stored in record.parts {  // Bound: start
            let part = values.makePart(at: stored.path, of: slot)
            if let expiresAt = stored.expiresAt {
                let left = max(0, expiresAt - time.wallMilliseconds)
                values.parts.setEnd(
                    part, at: time.monotonicNanoseconds.adding(left * 1_000_000),
                    wall: expiresAt, timeToLive: stored.timeToLive)
            }
            if let lease = stored.lease {
                values.parts.setLease(part, lease)
                if let client = registry.clients.slot(of: lease.client) {
                    registry.clients[client].lastingCount += 1
                }
                let nanoseconds = max(lease.nanoseconds, Self.leastLeaseAfterRestart)
                values.parts.setLeaseEnd(
                    part, at: time.monotonicNanoseconds.adding(nanoseconds))
            }
            scheduleEnd(of: part)
        }
    }

    /// Ends the restoration of values: marks mailboxes that may have missed a change (rule V10).
    mutating func endRestoringValues(
        isComplete: Bool, at time: CommandTime, _ effects: inout Effects
    ) {
        guard values.isUsed else { return }
        values.gone.forget(through: history.sequence)
        // A life that ended in order has stored all numbers that it used.
        var numbers = isComplete ? [history.sequence] : []
        // Bound: start
        for entry in values.order.living { numbers.append(values[entry.slot].changedSequence) }
        values.storedNumbers = StoredNumbers(numbers, through: history.sequence)
        for entry in registry.observers.order.living {  // Bound: start
            guard let observed = values.observers[entry.slot] else { continue }
            // A missing value may have existed.
            let value = observed.value
            if values[value].document == nil {
                values.noteRestored(value, changedSequence: history.sequence)
            }
            let changed = values[value].changedSequence
            values[value].trie.noteChange(of: observed.node, at: changed)
            let client = registry.observers[entry.slot].client
            guard registry.clients[client].transport == .mailbox else {
                values.observers[entry.slot]?.present.isRestored = true
                continue
            }
            let read = registry.observers[entry.slot].mailbox.acknowledgedThrough
            // A reader that has read nothing above its registration may have missed that there was
            // no value.
            let hasInitial = read < registry.observers[entry.slot].since || read == 0
            guard
                hasInitial && observed.terms.sendsInitial
                    || mayHaveChanged(above: read, at: entry.slot)
            else { continue }
            markPresent(entry.slot, isRedelivered: true, at: time, &effects)
        }
        // Parts that ended while the broker was down are removed before any client reads (rule
        // V16).
        for part in values.parts.over(at: time.monotonicNanoseconds) {  // Bound: start
            endPart(part, at: time, &effects)
        }
    }
}
