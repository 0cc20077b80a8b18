// Entries leave the queue: at the end of a turn, in an idle moment, by a dequeue, or by time.

extension NotificationCenter {
    /// Posts the asap entries of the current mode that were there when the turn ended (rule Q11).
    ///
    /// It stops behind the entry that reaches the limit of work, and the next call continues:
    /// entries that are enqueued meanwhile do not belong to the turn.
    mutating func endTurn(workLimit: Int, at time: CommandTime, _ effects: inout Effects) {
        if watch.hasCrossings { reportChannels(workLimit: workLimit) }
        queue.beginSnapshot()
        var work = 0
        while work < workLimit || work == 0, let entry = queue.takeAsap() {  // Share: asap
            work += Work.ofEntry(byteCount: entry.content.byteCount)
            work += post(entry, at: time, &effects)
        }
        queue.endSnapshotIfOver()
    }

    /// Posts one idle entry of the current mode (rule Q13).
    mutating func postIdle(at time: CommandTime, _ effects: inout Effects) {
        if let entry = queue.takeIdle() { _ = post(entry, at: time, &effects) }
    }

    /// Posts an entry, unless its time is over; returns how many observers it matched.
    private mutating func post(
        _ entry: NotificationQueue.Entry, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        noteDequeued(entry.id, &effects)
        guard entry.expiresAt > time.monotonicNanoseconds else {
            fates.update(entry.id) { $0.state = .expired }
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
        let entries = queue.take(match)
        for entry in entries { noteRemoval(entry, &effects) }  // Bound: dequeue
        effects.outcome = .dequeued(entries.count + dequeueTimers(match, at: time, &effects))
    }

    /// Removes one entry, or one timer.
    mutating func dequeue(
        _ id: NotificationID, _ scope: PostScope, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        if let entry = queue.take(id, scope: scope) {
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
        fates.update(entry.id) { $0.state = .dequeued }
    }

    // MARK: Modes

    /// Puts a mode lease on the stack (rule Q16).
    mutating func enter(_ entry: ModeEntry, at time: CommandTime) throws(Refusal) {
        if let client = entry.client, clients.slot(of: client) == nil { throw .unknownClient }
        try modeStack.enter(entry, limit: limits.modeStackLimit, at: time.monotonicNanoseconds)
        queue.enter(mode: modeStack.current)
    }

    /// Ends a mode lease at any place of the stack.
    mutating func leaveMode(_ serial: UInt64) throws(Refusal) {
        guard modeStack.leave(serial) else { throw .unknownMode }
        queue.enter(mode: modeStack.current)
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
        effects.changes.append(.center(CenterRecord(epoch: epoch)))
        reserveMoreSequence(&effects)
    }

    /// Reports the present state of a queue entry.
    mutating func noteQueued(
        _ id: NotificationID, at time: CommandTime, _ effects: inout Effects
    ) {
        guard limits.isDurable, let entry = queue.entry(id) else { return }
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
        guard limits.isDurable, clients[client].isLasting else { return }
        let record = record(of: client, at: time)
        clients[client].storedImmediateSequence = record.immediateThrough
        clients[client].isStoredAway = record.disconnectedFor > 0
        tell(.client(record), &effects)
    }

    /// Notes a look into a mailbox: its lease begins anew, also for the store.
    mutating func noteLook(
        atClient client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if clients[client].isStoredAway { noteClient(client, at: time, &effects) }
    }

    /// Stores how far a lasting client is written in spite of suspension, if that has changed.
    mutating func noteImmediate(
        _ client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if clients[client].immediateSequence == clients[client].storedImmediateSequence { return }
        noteClient(client, at: time, &effects)
    }

    private func record(of client: UInt32, at time: CommandTime) -> ClientRecord {
        let row = clients[client]
        let now = time.monotonicNanoseconds
        var away: Int64 = 0
        if row.suspension.contains(.mailbox) {
            // The latest look at any observer: a lease may last longer than it must, never less.
            let slots = observers.slots(from: row.lastObserver)
            away =
                slots.map { observers[$0].reader == nil ? now - observers[$0].lookedAt : 0 }.min()
                ?? 0
        } else if row.suspension.contains(.disconnected) {
            away = now - row.disconnectedSince
        }
        return ClientRecord(
            id: row.id, transport: row.transport, sessionHash: row.sessionHash,
            principal: row.principal, isAsked: row.suspension.contains(.asked),
            wasAsked: row.wasAsked, connectedAt: row.connectedAt, disconnectedFor: away,
            immediateThrough: row.immediateSequence, lastWritten: lastWritten[client])
    }

    /// Reports the present state of a lasting observer.
    mutating func noteObserver(_ slot: UInt32, _ effects: inout Effects) {
        guard isLasting(slot) else { return }
        let observer = observers[slot]
        tell(
            .observer(
                ObserverRecord(
                    serial: observer.serial, client: clients[observer.client].id,
                    tokenHash: observer.tokenHash, name: index.name(of: observer.place),
                    object: index.object(of: observer.place),
                    selector: selectors.text(of: observer.selector), terms: observer.terms,
                    since: observer.since, createdAt: observer.createdAt,
                    acknowledgedThrough: observer.acknowledgedThrough,
                    forgottenThrough: observer.forgottenThrough, role: observers.role(at: slot))),
            &effects)
    }

    /// Stops the center: asap entries are posted (rule Q23).
    mutating func terminate(at time: CommandTime, _ effects: inout Effects) {
        // A center that stops slowly gets the command twice: the second one covers the time
        // between.
        if !isTerminating { reports.append(.willTerminate) }
        isTerminating = true
        // First the rest of a turn, and then all entries behind it.
        if queue.snapshotGoesOn() { endTurn(workLimit: .max, at: time, &effects) }
        endTurn(workLimit: .max, at: time, &effects)
        tellOpenAsks(&effects)
    }

    /// Notes that brokers of a log have returned to the center, which it reports at the turn's end.
    mutating func noteStart() {
        reports.append(.didStart(epoch: epoch, isUnclean: !isTerminating))
        isTerminating = false
        noteNeeds()
    }

    /// Reports the state that only this life knew, after the center's last report of itself.
    mutating func tellEnd(at time: CommandTime, _ effects: inout Effects) {
        guard limits.isDurable, isStored else { return }
        noteRestoredTimers(at: time, &effects)
        for entry in clients.order.living {  // Bound: drain
            guard clients[entry.slot].isLasting else { continue }
            if clients[entry.slot].suspension.isDisjoint(with: [.disconnected, .mailbox]) {
                noteWritten(entry.slot)
            }
            noteClient(entry.slot, at: time, &effects)
            guard clients[entry.slot].gapCount > 0 else { continue }
            for slot in observers.slots(from: clients[entry.slot].lastObserver)  // Bound: drain
            where observers[slot].isLasting {
                for gap in observers[slot].gaps {  // Bound: drain
                    tell(.gap(observer: observers[slot].serial, gap), &effects)
                }
            }
        }
    }
}
