// Observers are registered with their clients or later, and removed on request, with their clients
// or by another caller (rules O1 to O11).

extension NotificationCenter {
    /// Makes a client, with the observers that it has from its first moment.
    mutating func connect(
        _ registration: ClientRegistration, _ observers: [ObserverRegistration], since: UInt64?,
        at time: CommandTime, into effects: inout Effects
    ) throws(Refusal) {
        guard observers.count <= limits.clientObserverLimit else {
            throw .tooManyObservers(limit: limits.clientObserverLimit)
        }
        // Bound: registrations
        for observer in observers where !observer.role.isPlain { try checkAddress(of: observer) }
        if observers.contains(where: \.role.isFiltered) {
            try registry.checkFilters(
                of: observers, prefixLimit: limits.prefixLimit,
                conditionLimit: limits.conditionLimit)
        }
        var client = ClientTable.Client(registration, at: time)
        if registration.transport == .mailbox {
            // Without a reader the mailbox is disconnected.
            client.suspension = [.mailbox, .disconnected]
            client.disconnectedSince = time.monotonicNanoseconds
        }
        count(clientAt: registry.clients.add(client), 1)
        reports.append(.connected(client: registration.id, registration.transport))
        let rows = try register(observers, client: registration.id, since: since, time, &effects)
        effects.outcome = .registered(rows)
    }

    /// Registers observers of a client, and returns their rows in the order of the request.
    mutating func register(
        _ registrations: [ObserverRegistration], client: UInt64, since: UInt64?,
        _ time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) -> [ObserverRow] {
        guard let clientSlot = registry.clients.slot(of: client) else { throw .unknownClient }
        guard
            registry.clients[clientSlot].observers.count + registrations.count
                <= limits.clientObserverLimit
        else { throw .tooManyObservers(limit: limits.clientObserverLimit) }
        // The lease of a disconnected client has begun with the end of its connection (rule O7).
        if registry.clients[clientSlot].suspension.intersection([.disconnected, .mailbox])
            == .disconnected
        {
            let away = time.monotonicNanoseconds - registry.clients[clientSlot].disconnectedSince
            // Bound: registrations
            for registration in registrations where registration.terms.lease ?? .max <= away {
                throw .leaseIsOver(awayMilliseconds: away / 1_000_000)
            }
        }
        // Bound: registrations
        for registration in registrations where !registration.role.isPlain {
            try checkAddress(of: registration)
        }
        if registrations.contains(where: \.role.isFiltered) {
            try registry.checkFilters(
                of: registrations, prefixLimit: limits.prefixLimit,
                conditionLimit: limits.conditionLimit)
        }
        var slots: [UInt32] = []
        for registration in registrations {  // Bound: registrations
            if registration.role.isPlain {
                slots.append(add(registration, clientSlot: clientSlot, at: time, &effects))
                continue
            }
            let replaced = replaceHolders(
                of: registration, by: clientSlot, at: time, &effects)
            slots.append(add(registration, clientSlot: clientSlot, at: time, &effects))
            // Bound: holders
            for client in replaced { afterRemoval(from: client, at: time, &effects) }
        }
        if !registry.clients[clientSlot].suspension.isDisjoint(with: [.mailbox, .disconnected]) {
            scheduleLeases(of: clientSlot, at: time)
        }
        let waited = registry.clients[clientSlot].suspension.contains(.answering)
        let followsAnswers =
            registrations.first?.followsAnswers == true
            && registry.clients[clientSlot].suspension.isDisjoint(with: [.mailbox, .disconnected])
        if followsAnswers { registry.clients[clientSlot].suspension.insert(.answering) }
        let beginning = registrations.first?.beginning
        if since != nil || beginning != nil {
            begin(slots, beginning, since: since, at: time, &effects)
        }
        if values.isUsed { tellPresent(slots, since: since, at: time, &effects) }
        if asks.open.heldCount > 0 || !asks.open.sequel.isEmpty {
            showHeldBehindAnswer(to: clientSlot, at: time, &effects)
        }
        if followsAnswers {
            let mustWait = waited || archiveBox.value.readers[clientSlot] != nil
            if let notice = registry.clients.keepBehindAnswers(at: clientSlot, mustWait: mustWait) {
                effects.notices.append(notice)
            }
        }
        return slots.map { row(ofSlot: $0) }
    }

    private mutating func add(
        _ registration: ObserverRegistration, clientSlot: UInt32, at time: CommandTime,
        _ effects: inout Effects
    ) -> UInt32 {
        let slot = registry.observers.reserveSlot()
        let place = file(
            registration.name, registration.object, registration.role, registration.serial, slot)
        var observer = ObserverTable.Observer(
            serial: registration.serial, tokenHash: registration.tokenHash, client: clientSlot,
            place: place, selector: registry.selectors.retain(registration.selector),
            since: history.sequence,
            createdAt: time.wallMilliseconds, terms: registration.terms,
            isPlain: registration.role.deliversAtOnce)
        if registry.clients[clientSlot].suspension.contains(.mailbox) {
            // Before its client is noted: the time without a look is stored with it.
            observer.mailbox.lookedAt = time.monotonicNanoseconds
        }
        let isLasting = observer.isLasting
        registry.observers.fill(slot, with: observer, in: &registry.clients[clientSlot].observers)
        if isLasting { registry.clients[clientSlot].lastingCount += 1 }
        count(observerAt: slot, 1)
        if !registration.role.isPlain { reportHolder(at: slot, isHeld: true) }
        if isLasting {
            if registry.clients[clientSlot].lastingCount == 1 {
                noteClient(clientSlot, at: time, &effects)
            } else if registry.clients[clientSlot].suspension.contains(.mailbox) {
                noteLook(atClient: clientSlot, at: time, &effects)
            }
            noteObserver(slot, &effects)
        }
        return slot
    }

    /// Replays notifications above a number to new observers, and reports forgotten ones as gaps.
    ///
    /// Replayed notifications that a suspended client, or a mailbox, cannot get now are held.
    mutating func replayNotifications(
        above since: UInt64, from start: Int64 = .min, to slots: [UInt32], at time: CommandTime,
        _ effects: inout Effects
    ) {
        let slots = values.isUsed ? slots.filter { !isOfValue($0) } : slots
        guard since < history.sequence, let firstSlot = slots.first else { return }
        for slot in slots { registry.observers[slot].replaysAbove = since }  // Bound: since
        // A reader notes its losses by itself.
        for slot in slots where !archiveBox.value.isUsed {  // Bound: since
            let last = PastLosses.lostThrough(
                at: slot, from: start, wall: lastWallTime, archiveBox.value, registry, history)
            guard since < last else { continue }
            noteGap(
                GapRecord(reason: .unknown, count: nil, first: since + 1, last: last), at: slot,
                &effects)
        }
        let client = registry.observers[firstSlot].client
        let filters = slots.map { registry.filter(of: $0) }
        var found = emptyReplay(for: client)
        var work = FilterWork()
        history.replay.forEach(above: since) { notification in
            guard notification.expiresAt > time.monotonicNanoseconds, !notification.isKept,
                notification.postedAt >= start
            else { return }
            let place = registry.index.place(of: notification.content)
            for (slot, filter) in zip(slots, filters) {  // Bound: since
                switch filter.matches(place, notification.content, &work) {
                case true?: found.add(notification, to: slot)
                case nil: found.lose(.unread(notification.sequence), of: slot)
                case false?: break
                }
            }
        }
        hold(found, at: slots, of: client, &effects)
        // What a reader finds has its places between those.
        if archiveBox.value.isUsed { return }
        settle(client, at: time, &effects)
        noteReplayed(of: client, at: time, &effects)
    }
}

// MARK: - Removing

extension NotificationCenter {
    /// Removes one observer; its owner is told if another caller asked for the removal.
    mutating func removeObserver(
        _ serial: UInt64, by remover: Remover, at time: CommandTime, into effects: inout Effects
    ) throws(Refusal) {
        guard let slot = registry.observers.slot(of: serial) else {
            if let tombstone = registry.tombstones[serial] { throw .observerRemoved(tombstone) }
            throw .unknownObserver
        }
        let client = registry.observers[slot].client
        let tombstone = remove(slot, by: remover, reason: .removed, at: time, &effects)
        effects.outcome = .removed(1)
        // The owner is told unless it asked for the removal itself (rules O9 and C11).
        if remover != .client(registry.clients[client].id),
            registry.clients[client].suspension.isDisjoint(with: [.disconnected, .mailbox])
        {
            let route = registry.clients.route(at: client)
            effects.notices.append(
                .removed(
                    connection: route.connection, transport: route.transport, observer: serial,
                    tombstone))
        }
        afterRemoval(from: client, at: time, &effects)
    }

    /// Settles a client after a removal: the observer may have held it back, or been its last one.
    mutating func afterRemoval(
        from client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if leaveIfEmpty(client, "removed", at: time, &effects) { return }
        if registry.clients[client].suspension.isDisjoint(with: .mailbox),
            !registry.clients[client].suspension.isEmpty
        {
            settle(client, at: time, &effects)
        }
    }

    /// Removes observers by their registered filter: removing a name keeps a wildcard (rule O3).
    ///
    /// Without a criterion nothing is removed (rule O10); the wire refuses such a request before.
    mutating func removeObservers(
        of client: UInt64, _ filter: ObserverFilter, at time: CommandTime,
        into effects: inout Effects
    ) throws(Refusal) {
        guard let clientSlot = registry.clients.slot(of: client) else { throw .unknownClient }
        var removedCount = 0
        effects.outcome = .removed(0)
        guard !filter.isEmpty,
            let wanted = registry.index.place(ofName: filter.name, object: filter.object)
        else { return }
        for slot in registry.observerSlots(of: clientSlot) {  // Bound: client
            let place = registry.observers[slot].place
            if filter.name != nil, place.channel != wanted.channel { continue }
            if filter.object != nil, place.object != wanted.object { continue }
            if let terms = filter.terms, !terms.isPart(of: registry.observers.filter(at: slot)) {
                continue
            }
            if let target = filter.target, target != registry.observers.target(at: slot) {
                continue
            }
            if let selector = filter.selector,
                selector != registry.selectors.text(of: registry.observers[slot].selector)
            {
                continue
            }
            _ = remove(slot, by: .client(client), reason: .removed, at: time, &effects)
            removedCount += 1
        }
        effects.outcome = .removed(removedCount)
        if removedCount > 0 { afterRemoval(from: clientSlot, at: time, &effects) }
    }

    /// Removes a client with all of its observers, and closes its connection.
    mutating func removeClient(
        _ client: UInt64, by remover: Remover, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        guard let clientSlot = registry.clients.slot(of: client) else { throw .unknownClient }
        if schedule.usesTimers { releaseFarewells(of: client, at: clientSlot, at: time, &effects) }
        let slots = registry.observerSlots(of: clientSlot)
        for slot in slots {  // Bound: client
            _ = remove(slot, by: remover, reason: .clientRemoved, at: time, &effects)
        }
        if schedule.modeStack.leaveAll(ofClient: client) {
            schedule.queue.enter(mode: schedule.modeStack.current)
        }
        endWaitingForAsks(ofClient: client, at: time, &effects)
        let route = registry.clients.route(at: clientSlot)
        let isConnected =
            registry.clients[clientSlot].suspension.isDisjoint(with: [.disconnected, .mailbox])
        forget(clientSlot, at: time, &effects)
        reports.append(.left(client: client, "removed"))
        if values.isUsed { startLeases(ofClient: client, .closed, at: time, &effects) }
        effects.outcome = .removed(slots.count)
        if isConnected {
            effects.notices.append(
                .clientRemoved(connection: route.connection, transport: route.transport))
        }
    }

    /// Removes an observer, and the entries held for it; its tombstone remains.
    ///
    /// The asks of a responder walk again at the end of the command.
    mutating func remove(
        _ slot: UInt32, by remover: Remover, reason: RemovalReason, at time: CommandTime,
        _ effects: inout Effects
    ) -> Tombstone {
        discardEntries(of: slot, &effects)
        count(observerAt: slot, -1)
        let observer = registry.observers[slot]
        let client = observer.client
        if archiveBox.value.readers[client] != nil,
            !archiveBox.value.endReading(at: slot, of: client)
        {
            change(client, at: time) { $0.remove(.reading) }
        }
        if let reader = observer.mailbox.reader {
            effects.notices.append(
                .readerReplaced(connection: reader, isStream: observer.mailbox.readerIsStream))
            noteReaderGone(from: client, at: time)
        }
        if !observer.gaps.isEmpty { registry.clients[client].gapCount -= 1 }
        if !backlog.toldGaps.isEmpty { backlog.toldGaps[observer.serial] = nil }
        let tombstone = Tombstone(
            tokenHash: observer.tokenHash, removedAt: time.wallMilliseconds, removedBy: remover,
            reason: reason, name: registry.index.name(of: observer.place),
            object: registry.index.object(of: observer.place),
            terms: registry.observers.filter(at: slot))
        unfile(slot, isTold: reason != .connectionClosed, at: time, &effects)
        registry.selectors.release(observer.selector)
        registry.observers.remove(slot, from: &registry.clients[client].observers)
        registry.tombstones.append(tombstone, serial: observer.serial, limit: limits.tombstoneLimit)
        if observer.isLasting {
            registry.clients[client].lastingCount -= 1
            tell(.observerRemoved(serial: observer.serial, tombstone), &effects)
            if registry.clients[client].lastingCount == 0 {
                tell(.clientRemoved(registry.clients[client].id), &effects)
            }
        }
        return tombstone
    }

    /// Removes the held entries of an observer; the accounts of their posts count them as dropped.
    ///
    /// Entries without a waiting poster are first, so that a waiting one gets the final state of
    /// all.
    private mutating func discardEntries(of slot: UInt32, _ effects: inout Effects) {
        let entries = backlog.held.slots(of: registry.observers[slot].entries, in: .observer)
        let owed = entries.filter { backlog.held[$0].flags.contains(.unacknowledged) }
        // Bound: list
        for entry in entries where !backlog.held[entry].flags.contains(.unacknowledged) {
            let account = backlog.held[entry].account
            if account == .held || account == .coalesced {
                let id = backlog.held.notification(of: entry).id
                recount(id, report(of: entry, .dropped)) { receipt in
                    if account == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
                    receipt.dropped += 1
                }
            }
            unlink(entry, &effects)
        }
        for entry in owed { discard(owed: entry, &effects) }  // Bound: list
    }

    /// Removes an entry that was sent and not acknowledged.
    mutating func discard(owed entry: UInt32, _ effects: inout Effects) {
        let isCounted = backlog.held[entry].account == .delivered
        endWait(for: entry, outcome: .disconnected, &effects) { receipt in
            if isCounted { receipt.pending -= 1 }
        }
        unlink(entry, &effects)
    }
}
