// Entries leave the queue: at the end of a turn, in an idle moment, by a dequeue, or by time.

extension NotificationCenter {
    /// Posts the asap entries of the current mode that were there when the turn ended (rule Q11).
    ///
    /// It stops behind the entry that reaches the limit of work, and the next call continues:
    /// entries that are enqueued meanwhile do not belong to the turn.
    mutating func endTurn(workLimit: Int, at time: CommandTime, _ effects: inout Effects) {
        if registry.watch.hasCrossings { reportChannels(workLimit: workLimit) }
        schedule.queue.beginSnapshot()
        var work = 0
        while work < workLimit || work == 0, let entry = schedule.queue.takeAsap() {  // Share: asap
            work += Work.ofEntry(byteCount: entry.content.byteCount)
            work += post(entry, at: time, &effects)
        }
        schedule.queue.endSnapshotIfOver()
    }

    /// Posts one idle entry of the current mode (rule Q13).
    mutating func postIdle(at time: CommandTime, _ effects: inout Effects) {
        if let entry = schedule.queue.takeIdle() { _ = post(entry, at: time, &effects) }
    }

    /// Posts an entry, unless its time is over; returns how many observers it matched.
    private mutating func post(
        _ entry: NotificationQueue.Entry, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        noteDequeued(entry.id, &effects)
        guard entry.expiresAt > time.monotonicNanoseconds else {
            history.fates.update(entry.id) { $0.state = .expired }
            return 0
        }
        // The fate of the entry becomes the account of the notification.
        dispatch(Dispatch(entry), at: time, into: &effects)
        return Int(effects.receipts.last?.matched ?? 0)
    }

    /// Removes entries; they are not posted (rule Q20).
    mutating func dequeue(
        _ match: QueueMatch, at time: CommandTime, _ effects: inout Effects
    ) {
        let entries = schedule.queue.take(match)
        for entry in entries { noteRemoval(entry, &effects) }  // Bound: dequeue
        effects.outcome = .dequeued(entries.count + dequeueTimers(match, at: time, &effects))
    }

    /// Removes one entry, or one timer.
    mutating func dequeue(
        _ id: NotificationID, _ scope: PostScope, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        if let entry = schedule.queue.take(id, scope: scope) {
            noteRemoval(entry, &effects)
        } else if !dequeueTimer(id, scope, at: time, &effects) {
            throw .unknownEntry
        }
        effects.outcome = .dequeued(1)
    }

    mutating func noteRemoval(
        _ entry: NotificationQueue.Entry, _ effects: inout Effects
    ) {
        noteDequeued(entry.id, &effects)
        history.fates.update(entry.id) { $0.state = .dequeued }
    }

    // MARK: Modes

    /// Puts a mode lease on the stack (rule Q16).
    mutating func enter(_ entry: ModeEntry, at time: CommandTime) throws(Refusal) {
        if let client = entry.client, registry.clients.slot(of: client) == nil {
            throw .unknownClient
        }
        try schedule.modeStack.enter(
            entry, limit: limits.modeStackLimit, at: time.monotonicNanoseconds)
        schedule.queue.enter(mode: schedule.modeStack.current)
    }

    /// Ends a mode lease at any place of the stack.
    mutating func leaveMode(_ serial: UInt64) throws(Refusal) {
        guard schedule.modeStack.leave(serial) else { throw .unknownMode }
        schedule.queue.enter(mode: schedule.modeStack.current)
    }

    // MARK: What must last

    /// Reports a change that must last; the first one also stores the center itself.
    mutating func tell(_ change: Change, _ effects: inout Effects) {
        guard limits.isDurable else { return }
        noteCenter(&effects)
        effects.changes.append(change)
    }

    /// Stores the center itself with its first change, and reserves its numbers.
    mutating func noteCenter(_ effects: inout Effects) {
        guard !isStored else { return }
        isStored = true
        effects.changes.append(.center(CenterRecord(epoch: history.epoch)))
        reserveMoreSequence(&effects)
    }

    /// Reports the present state of a queue entry.
    mutating func noteQueued(
        _ id: NotificationID, at time: CommandTime, _ effects: inout Effects
    ) {
        guard limits.isDurable, let entry = schedule.queue.entry(id) else { return }
        tell(.queued(entry.record(at: time)), &effects)
    }

    /// Reports the removal of a queue entry.
    mutating func noteDequeued(_ id: NotificationID, _ effects: inout Effects) {
        tell(.dequeued(id), &effects)
    }

    /// Reports the present state of a lasting client.
    mutating func noteClient(
        _ client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard limits.isDurable, registry.clients[client].isLasting else { return }
        let record = record(of: client, at: time)
        registry.clients[client].stored = ClientTable.Stored(record)
        tell(.client(record), &effects)
    }

    /// Notes a look into a mailbox: its lease begins anew, also for the store.
    mutating func noteLook(
        atClient client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if registry.clients[client].stored.isAway { noteClient(client, at: time, &effects) }
    }

    /// Stores how far a lasting client is written in spite of suspension, if that has changed.
    mutating func noteImmediate(
        _ client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if registry.clients[client].immediateSequence
            == registry.clients[client].stored.immediateThrough
        {
            return
        }
        noteClient(client, at: time, &effects)
    }

    private func record(of client: UInt32, at time: CommandTime) -> ClientRecord {
        let row = registry.clients[client]
        let now = time.monotonicNanoseconds
        var away: Int64 = 0
        if row.suspension.contains(.mailbox) {
            // The latest look at any observer: a lease may last longer than it must, never less.
            let slots = registry.observers.slots(of: row.observers)
            away =
                slots.map { now - (registry.observers[$0].mailbox.unreadSince ?? now) }.min() ?? 0
        } else if row.suspension.contains(.disconnected) {
            away = now - row.disconnectedSince
        }
        return ClientRecord(
            id: row.id, transport: row.transport, sessionHash: row.sessionHash,
            principal: row.principal, isAsked: row.suspension.contains(.asked),
            wasAsked: row.wasAsked, connectedAt: row.connectedAt, disconnectedFor: away,
            immediateThrough: row.immediateSequence, lastWritten: registry.lastWritten[client])
    }

    /// Reports the present state of a lasting observer.
    mutating func noteObserver(_ slot: UInt32, _ effects: inout Effects) {
        guard isLasting(slot) else { return }
        let observer = registry.observers[slot]
        tell(
            .observer(
                ObserverRecord(
                    serial: observer.serial, client: registry.clients[observer.client].id,
                    tokenHash: observer.tokenHash, name: registry.index.name(of: observer.place),
                    object: registry.index.object(of: observer.place),
                    selector: registry.selectors.text(of: observer.selector), terms: observer.terms,
                    since: observer.since, createdAt: observer.createdAt,
                    acknowledgedThrough: observer.mailbox.acknowledgedThrough,
                    forgottenThrough: observer.mailbox.forgottenThrough,
                    role: registry.observers.role(at: slot),
                    readsAbove: archiveBox.value.readers[observer.client]?.placeInNextLife(
                        of: slot))),
            &effects)
    }

    /// Stops the center: asap entries are posted (rule Q23).
    mutating func terminate(at time: CommandTime, _ effects: inout Effects) {
        // A center that stops slowly gets the command twice: the second one covers the time
        // between.
        if !isTerminating { reports.append(.willTerminate) }
        isTerminating = true
        // First the rest of a turn, and then all entries behind it.
        if schedule.queue.snapshotGoesOn() { endTurn(workLimit: .max, at: time, &effects) }
        endTurn(workLimit: .max, at: time, &effects)
        tellOpenAsks(&effects)
    }

    /// Notes that brokers of a log have returned to the center, which it reports at the turn's end.
    mutating func noteStart() {
        reports.append(.didStart(epoch: history.epoch, isUnclean: !isTerminating))
        isTerminating = false
        noteNeeds()
    }

    /// Reports the state that only this life knew, after the center's last report of itself.
    mutating func tellEnd(at time: CommandTime, _ effects: inout Effects) {
        guard limits.isDurable, isStored else { return }
        noteRestoredTimers(at: time, &effects)
        for entry in registry.clients.order.living {  // Bound: drain
            guard registry.clients[entry.slot].isLasting else { continue }
            if registry.clients[entry.slot].suspension.isDisjoint(with: [.disconnected, .mailbox]) {
                noteWritten(entry.slot)
            }
            noteClient(entry.slot, at: time, &effects)
            guard registry.clients[entry.slot].gapCount > 0 else { continue }
            for slot in registry.observerSlots(of: entry.slot)  // Bound: drain
            where registry.observers[slot].isLasting {
                for gap in registry.observers[slot].gaps {  // Bound: drain
                    tell(.gap(observer: registry.observers[slot].serial, gap), &effects)
                }
            }
        }
    }
}
