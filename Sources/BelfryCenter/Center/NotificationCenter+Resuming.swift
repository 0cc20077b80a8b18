// Connections end and are resumed: lasting state is suspended meanwhile (rules O7, D13, D14).

extension NotificationCenter {
    /// Ends a connection: lasting observers are suspended, the others removed (rules O7, D13).
    mutating func disconnect(
        _ id: UInt64, _ connection: ConnectionName, _ end: ConnectionEnd,
        _ written: WrittenThrough? = nil, at time: CommandTime, _ effects: inout Effects
    ) {
        guard let client = registry.clients.slot(of: id),
            registry.clients[client].connection == connection,
            !registry.clients[client].suspension.contains(.disconnected)
        else { return }
        var removedCount = endConnection(of: client, written, at: time, &effects)
        if schedule.usesTimers { beginFarewells(of: id, end, at: time, &effects) }
        if !registry.clients[client].isLasting {
            removedCount += registry.clients[client].observers.count
            let slots = registry.observerSlots(of: client)
            for slot in slots {  // Bound: client
                _ = remove(
                    slot, by: .broker, reason: .connectionClosed, at: time, &effects)
            }
            forget(client, at: time, &effects)
            reports.append(.left(client: id, "disconnected"))
        } else {
            let reads = archiveBox.value.readers[client] != nil
            change(client, at: time) { suspension in
                suspension.insert(reads ? [.disconnected, .reading] : .disconnected)
                suspension.subtract([.slow, .owing, .flushing, .paced, .answering])
            }
            registry.clients[client].disconnectedSince = time.monotonicNanoseconds
            scheduleLeases(of: client, at: time)
        }
        if values.isUsed {
            startLeases(ofClient: id, end, at: time, &effects)
        }
        effects.outcome = .removed(removedCount)
    }

    /// Ends the state of a connection: mode leases, and observers of its lifetime.
    ///
    /// Unacknowledged deliveries on it are held again.
    private mutating func endConnection(
        of client: UInt32, isTakenOver: Bool = false, _ written: WrittenThrough? = nil,
        at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        let id = registry.clients[client].id
        if schedule.modeStack.leaveAll(ofClient: id) {
            schedule.queue.enter(mode: schedule.modeStack.current)
        }
        holdUnacknowledged(of: client, &effects)
        // The client's responders lose their asks first: an own ask that ends after that makes no
        // room at them, so that no ask is shown on a connection that ends.
        loseConnection(of: client, isTakenOver: isTakenOver, at: time, &effects)
        endWaitingForAsks(ofClient: id, at: time, &effects)
        var removedCount = 0
        for slot in registry.observerSlots(of: client)  // Bound: client
        where !registry.observers[slot].isLasting {
            _ = remove(slot, by: .broker, reason: .connectionClosed, at: time, &effects)
            removedCount += 1
        }
        if let written { take(written, of: client, at: time, &effects) }
        noteWritten(client)
        return removedCount
    }

    /// Notes the last notification that was written to a client.
    ///
    /// A connection that breaks may end between the frames of one number for two observers; a stop
    /// in order writes all of them, but not the waiting present values, which no store has.
    mutating func noteWritten(_ client: UInt32) {
        var last: UInt64 = 0
        var count = 0
        for slot in registry.observerSlots(of: client) {  // Bound: client
            let written = registry.observers[slot].writtenThrough
            if written > last { (last, count) = (written, 0) }
            if written == last { count += 1 }
        }
        let isShared = last > 0 && count > 1 && !isTerminating
        registry.lastWritten[client] = LastWritten(
            sequence: last, isShared: isShared || valueWaits(for: client, through: last))
    }

    /// Whether a client may lack a change or a present value up to the last number written to it.
    ///
    /// It waits with no higher number than that, or it was written and may not have arrived.
    private func valueWaits(for client: UInt32, through last: UInt64) -> Bool {
        guard values.isUsed else { return false }
        let first = registry.clients[client].held.list.first
        if first != HeldTable.none, backlog.held.sequence(of: first) <= last { return true }
        // A stop in order writes all frames.
        return !isTerminating
            && registry.observerSlots(of: client)
                .contains { values.observers[$0]?.present.isInDoubt == true }
    }

    /// Holds unacknowledged deliveries before those never written; they will be redelivered (D14).
    private mutating func holdUnacknowledged(of client: UInt32, _ effects: inout Effects) {
        let sent = backlog.held.slots(
            of: registry.clients[client].debt.entries.list, in: .client)
        guard !sent.isEmpty else { return }
        let rest = backlog.held.slots(of: registry.clients[client].held.list, in: .client)
        for entry in sent {  // Bound: client
            let slot = backlog.held[entry].observer
            registry.observers[slot].debt.count -= 1
            if registry.observers[slot].debt.isTooMuch {
                registry.observers[slot].debt.isTooMuch = false
                registry.clients[client].debt.owingCount -= 1
            }
            backlog.held[entry].flags.remove(.unacknowledged)
            backlog.held[entry].flags.insert(.redelivered)
            if backlog.held[entry].flags.contains(.replayed) {
                registry.observers[slot].replayedCount += 1
            }
            noteExpiry(of: backlog.held[entry].notification)
            let isCounted = backlog.held[entry].account == .delivered
            endWait(for: entry, outcome: .disconnected, &effects) { receipt in
                if isCounted, receipt.pending > 0 { receipt.pending -= 1 }
            }
        }
        registry.clients[client].held.byteCount += registry.clients[client].debt.entries.byteCount
        registry.clients[client].debt.entries = HeldTable.ClientList()
        registry.clients[client].debt.isTooMuch = false
        relink(sent + rest, of: client)
    }

    /// Lets a new connection take over a client (Protocol.md section 6).
    mutating func resume(
        _ resumption: Resumption, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let newcomer = registry.clients.slot(of: resumption.newcomer) else {
            throw .unknownClient
        }
        guard registry.clients[newcomer].observers.count == 0,
            resumption.newcomer != resumption.client,
            !schedule.usesTimers || schedule.timers.slots(ofClient: resumption.newcomer).isEmpty
        else { throw .resumeTooLate }
        guard let client = registry.clients.slot(of: resumption.client) else {
            throw .unknownClient
        }
        guard registry.clients[client].transport.canResume else { throw .noMailbox }
        if !registry.clients[client].suspension.contains(.disconnected) {
            let route = registry.clients.route(at: client)
            effects.notices.append(
                .takenOver(connection: route.connection, transport: route.transport))
            _ = endConnection(
                of: client, isTakenOver: true, resumption.written, at: time, &effects)
        }
        let connection = registry.clients[newcomer].connection
        _ = endConnection(of: newcomer, at: time, &effects)
        let heldBefore = registry.clients[client].held.list.count
        forget(newcomer, at: time, &effects)
        reports.append(.left(client: resumption.newcomer, "resumed"))
        registry.clients[client].connection = connection
        registry.clients[client].leaseCheckAt = .max
        let reads = archiveBox.value.readers[client] != nil
        change(client, at: time) { suspension in
            if reads { suspension.insert(.reading) }
            suspension.subtract([.disconnected, .slow, .owing, .flushing, .paced, .answering])
        }
        if schedule.usesTimers { armFarewells(of: resumption.client, at: time, &effects) }
        let doubts = backlog.doubts.isEmpty ? [] : takeDoubts(of: client, &effects)
        if let after = resumption.after { replay(after: after, to: client, at: time, &effects) }
        if !doubts.isEmpty { settle(doubts, after: resumption.after, at: time, &effects) }
        if values.isUsed {
            takeOverLeases(of: resumption.newcomer, for: client, at: time, &effects)
            renewValues(of: client, after: resumption.after, at: time, &effects)
        }
        let rows = registry.observerSlots(of: client).map {
            row(ofSlot: $0)
        }
        registry.lastWritten[client] = nil
        noteClient(client, at: time, &effects)
        if archiveBox.value.readers[client] == nil {
            flush(client, at: time, &effects)
        } else {
            startReading(client, at: time, &effects)
            let members = archiveBox.value.readers[client]?.members ?? []
            for member in members { noteObserver(member.slot, &effects) }  // Bound: client
        }
        noteReplayed(of: client, at: time, &effects)
        effects.outcome = .resumed(
            ResumedClient(
                row: row(ofClientSlot: client), observers: rows, heldCount: heldBefore))
    }

    /// Makes the list of the waiting entries of a client, in dispatch order.
    mutating func relink(_ entries: [UInt32], of client: UInt32) {
        registry.clients[client].held.list = backlog.held.relink(inOrder(entries), in: .client)
    }

    /// Sorts entries by their sequence numbers, then by the registration of matched observers.
    ///
    /// The matched observer of an action is the one with the target (rule K2).
    func inOrder(_ entries: [UInt32]) -> [UInt32] {
        let places = entries.map { entry in
            let own = registry.observers[backlog.held[entry].observer].serial
            let action =
                backlog.held[entry].flags.contains(.action) ? backlog.heldActions[entry] : nil
            return (backlog.held.sequence(of: entry), action?.row ?? own, entry)
        }
        return places.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
    }

    /// Makes a client last for a farewell or for an entry with a lease, so that it can be resumed.
    mutating func retain(
        _ client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        registry.clients[client].lastingCount += 1
        if registry.clients[client].lastingCount == 1 { noteClient(client, at: time, &effects) }
    }

    /// Ends the effect of a farewell, or of an entry with a lease, that made its client last.
    mutating func release(_ client: UInt32, _ effects: inout Effects) {
        registry.clients[client].lastingCount -= 1
        if registry.clients[client].lastingCount == 0 {
            tell(.clientRemoved(registry.clients[client].id), &effects)
        }
    }

    /// Forgets a client without observers, whatever else may have kept it.
    mutating func forget(_ client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        if schedule.usesTimers {
            endTimers(ofClient: registry.clients[client].id, at: time, &effects)
        }
        if registry.clients[client].isLasting {
            tell(.clientRemoved(registry.clients[client].id), &effects)
        }
        count(clientAt: client, -1)
        registry.lastWritten[client] = nil
        if !backlog.doubts.isEmpty { backlog.doubts[client] = nil }
        archiveBox.value.readers[client] = nil
        registry.clients.remove(client)
    }
}
