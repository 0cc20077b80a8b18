// The queue leaves: at the end of a turn, in an idle moment, by a dequeue, or when time is up.

extension NotificationCenter {
    /// Posts the asap entries of the current mode that were there when the turn ended (rule Q11).
    ///
    /// It stops behind the entry with which it has done so much work, and the next one goes on: what
    /// is enqueued meanwhile is not among them.
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

    /// Posts an entry, unless its time is over; tells how many observers it matched.
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

    /// Ends a mode lease, wherever it stands on the stack.
    mutating func leaveMode(_ serial: UInt64) throws(Refusal) {
        guard modeStack.leave(serial) else { throw .unknownMode }
        queue.enter(mode: modeStack.current)
    }

    // MARK: What must last

    /// Tells what must last; the first time the center itself must.
    mutating func tell(_ change: Change, _ effects: inout Effects) {
        guard limits.isDurable else { return }
        noteCenter(&effects)
        effects.changes.append(change)
    }

    /// From the first change on the center itself must last, and its numbers are reserved.
    mutating func noteCenter(_ effects: inout Effects) {
        guard !isStored else { return }
        isStored = true
        effects.changes.append(.center(CenterRecord(epoch: epoch)))
        reserveMoreSequence(&effects)
    }

    /// Tells a queue entry as it is now.
    mutating func noteQueued(
        _ id: NotificationID, at time: CommandTime, _ effects: inout Effects
    ) {
        guard limits.isDurable, let entry = queue.entry(id) else { return }
        tell(.queued(entry.record(at: time)), &effects)
    }

    /// Tells that a queue entry is gone.
    mutating func noteDequeued(_ id: NotificationID, _ effects: inout Effects) {
        tell(.dequeued(id), &effects)
    }

    /// Tells a client that lasts as it is now.
    mutating func noteClient(
        _ client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard limits.isDurable, clients[client].isLasting else { return }
        let record = record(of: client, at: time)
        clients[client].storedImmediateSequence = record.immediateThrough
        clients[client].isStoredAway = record.disconnectedFor > 0
        tell(.client(record), &effects)
    }

    /// Somebody looked into a mailbox: its lease begins anew, also for the store.
    mutating func noteLook(
        atClient client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if clients[client].isStoredAway { noteClient(client, at: time, &effects) }
    }

    /// A client that lasts may be written more, or less, in spite of suspension than was noted.
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
            // The observer that was looked at last: a lease may last longer than it must, never less.
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

    /// Tells an observer that lasts as it is now.
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

    /// The center stops: asap entries go out (rule Q23).
    mutating func terminate(at time: CommandTime, _ effects: inout Effects) {
        // A center that stops slowly is told so twice: what came between is told the second time.
        if !isTerminating { reports.append(.willTerminate) }
        isTerminating = true
        // What a turn has left, and then all that came behind it.
        if queue.snapshotGoesOn() { endTurn(workLimit: .max, at: time, &effects) }
        endTurn(workLimit: .max, at: time, &effects)
        tellOpenAsks(&effects)
    }

    /// Brokers that share a log have come back to the center: it reports that with the end of the turn.
    mutating func noteStart() {
        reports.append(.didStart(epoch: epoch, isUnclean: !isTerminating))
        isTerminating = false
        noteNeeds()
    }

    /// Tells what only this life knew, after the center's last report of itself.
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
