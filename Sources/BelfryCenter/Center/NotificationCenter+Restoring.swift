extension NotificationCenter {
    /// Makes a center from an image, as ``CenterRestoration`` makes it from rows.
    ///
    /// - Parameter note: Gets the changes for the store: all that ended while the broker was down.
    public init(
        restoring image: CenterImage, limits: CenterLimits, seed: HashSeed, time: CommandTime,
        marks: DispatchMarks? = nil, note: (Change) -> Void = { _ in }
    ) {
        var restoration = CenterRestoration(
            of: image, limits: limits, seed: seed, time: time, marks: marks)
        image.forEachRow { restoration.take($0) }
        self = restoration.finish(note)
    }

    /// Restores the state of the center itself.
    mutating func beginRestoring(
        _ through: UInt64, _ marks: DispatchMarks?, at time: CommandTime
    ) {
        history.sequence = through
        history.restoredThrough = through
        self.history.marks = marks
        history.restoredAt = time.wallMilliseconds
        history.replay.begin(above: through, at: time.wallMilliseconds)
        history.reservedSequence = through
        history.sequenceReserveAt = through
        isStored = true
        lastTime = time.monotonicNanoseconds
        lastWallTime = time.wallMilliseconds
    }

    /// Ends the restoration: removes notifications without a holder, and computes what is due.
    ///
    /// - Returns: The changes that must last.
    mutating func endRestoring(isComplete: Bool, at time: CommandTime) -> [Change] {
        var effects = Effects()
        endRestoringValues(isComplete: isComplete, at: time, &effects)
        // A client that a start leaves out has nothing; each other one has something.
        for entry in registry.clients.order.living  // Bound: start
        where registry.clients[entry.slot].observers.count == 0
            && !registry.clients[entry.slot].isLasting
        {
            registry.lastWritten[entry.slot] = nil
            registry.clients.remove(entry.slot)
        }
        var kept = backlog.held.oldest
        while kept != HeldTable.none {  // Bound: start
            let next = backlog.held.next(after: kept)
            if backlog.held.holders(at: kept).isEmpty { backlog.held.discard(kept) }
            kept = next
        }
        // Bound: start
        for entry in registry.clients.order.living { scheduleLeases(of: entry.slot, at: time) }
        // Restored observers change nothing for the watchers of names.
        registry.watch.forget()
        reports.append(.didStart(epoch: history.epoch, isUnclean: !isComplete))
        noteNeeds()
        return effects.changes
    }

    mutating func restore(_ record: ClientRecord, at time: CommandTime) {
        var client = ClientTable.Client(
            id: record.id, connection: ConnectionName(node: 0, number: 0),
            transport: record.transport, sessionHash: record.sessionHash,
            principal: record.principal, connectedAt: record.connectedAt,
            stateSince: time.wallMilliseconds)
        client.suspension = .disconnected
        if record.isAsked { client.suspension.insert(.asked) }
        client.wasAsked = record.wasAsked
        if record.transport == .mailbox { client.suspension.insert(.mailbox) }
        client.disconnectedSince = time.monotonicNanoseconds - record.disconnectedFor
        client.immediateSequence = record.immediateThrough
        client.stored = ClientTable.Stored(record)
        let slot = registry.clients.add(client)
        registry.lastWritten[slot] = record.lastWritten
    }

    mutating func restore(_ record: ObserverRecord, isComplete: Bool) {
        guard let client = registry.clients.slot(of: record.client) else { return }
        let slot = registry.observers.reserveSlot()
        let place = file(record.name, record.object, record.role, record.serial, slot)
        var observer = ObserverTable.Observer(
            serial: record.serial, tokenHash: record.tokenHash, client: client, place: place,
            selector: registry.selectors.retain(record.selector), since: record.since,
            createdAt: record.createdAt, terms: record.terms,
            isPlain: record.role.deliversAtOnce)
        observer.replaysAbove = record.readsAbove ?? record.since
        observer.mailbox.acknowledgedThrough = record.acknowledgedThrough
        observer.mailbox.forgottenThrough = record.forgottenThrough
        observer.mailbox.lookedAt = registry.clients[client].disconnectedSince
        // A responder gets several names, and a grant may exclude the last post of a name.
        let isOfName = record.role.deliversAtOnce && record.role.filter?.grants.isEmpty != false
        let dispatched = history.lastDispatchedEarlier(of: isOfName ? record.name : nil)
        observer.writtenThrough = min(
            history.sequence, registry.lastWritten[client]?.sequence ?? dispatched)
        registry.observers.fill(slot, with: observer, in: &registry.clients[client].observers)
        registry.clients[client].lastingCount += 1
        if let start = record.readsAbove {
            var member = PastReader.Member(
                slot, after: start, nil, join: history.sequence, registry)
            member.isRestored = true
            archiveBox.value.read(member, of: client)
            registry.clients[client].suspension.insert(.reading)
        }
        if !isComplete, record.terms.suspensionBehavior == .drop, record.since < dispatched {
            let gap = GapRecord(
                reason: .unknown, count: nil, first: record.since + 1, last: dispatched)
            backlog.losses.add(gap)
            registry.addGap(gap, at: slot)
        }
    }

    mutating func restore(_ tombstone: Tombstone, serial: UInt64) {
        registry.tombstones.append(tombstone, serial: serial, limit: limits.tombstoneLimit)
    }

    mutating func restore(_ gap: GapRecord, of serial: UInt64) {
        var gap = gap
        gap.last = min(gap.last, history.sequence)
        guard let slot = registry.observers.slot(of: serial), gap.first <= gap.last else { return }
        registry.addGap(gap, at: slot)
    }

    /// Keeps a notification, and returns its slot.
    mutating func restore(_ record: NotificationRecord, at time: CommandTime) -> UInt32 {
        keep(
            Notification(
                id: record.notification.id, sequence: record.notification.sequence,
                postedAt: record.notification.postedAt, causedBy: record.notification.causedBy,
                content: record.notification.content,
                expiresAt: Self.end(of: record.timeToLive, time), isRestored: true))
    }

    /// Restores the entry of an observer for a kept notification.
    mutating func restoreEntry(of serial: UInt64, kept: UInt32) {
        guard let slot = registry.observers.slot(of: serial) else { return }
        let client = registry.observers[slot].client
        var flags: HeldTable.Flags = [.redelivered, .stored]
        let content = backlog.held.notification(at: kept).content
        let terms = registry.observers[slot].terms
        if terms.suspensionBehavior == .coalesce || terms.minInterval > 0 {
            flags.insert(.replaceable)
        }
        let entry = backlog.held.make(
            HeldTable.Entry(observer: slot, notification: kept, account: .none, flags: flags))
        backlog.held.noteStored(at: kept)
        backlog.held.append(entry, to: &registry.observers[slot].entries, in: .observer)
        addWaiting(entry, of: client)
        archiveBox.value.readers[client]?.noteHeld(backlog.held.sequence(of: entry), at: slot)
        if flags.contains(.replaceable) {
            // Of several of a kind only the last one can be replaced, as before the restart.
            let kind = ObservedKind(observer: serial, content)
            if let earlier = backlog.replaceable[kind] {
                backlog.held[earlier].flags.remove(.replaceable)
            }
            backlog.replaceable[kind] = entry
        }
    }
}

extension NotificationCenter {
    /// Restores an action at its responder, which gets it again if it was sent before.
    mutating func restore(_ record: ActionRecord, kept: UInt32) {
        guard let slot = registry.observers.slot(of: record.responder) else { return }
        let client = registry.observers[slot].client
        let entry = backlog.held.make(
            HeldTable.Entry(
                observer: slot, notification: kept, account: .none,
                flags: [.redelivered, .stored, .action]))
        backlog.heldActions[entry] = HeldAction(
            row: record.row, selector: record.selector, acknowledges: record.acknowledges,
            path: record.path, shown: record.shown)
        backlog.held.noteStored(at: kept)
        backlog.held.append(entry, to: &registry.observers[slot].entries, in: .observer)
        addWaiting(entry, of: client)
    }

    /// Sorts restored actions among the other entries by their sequence numbers.
    mutating func orderActions() {
        // Bound: start
        for slot in Set(backlog.heldActions.keys.map { backlog.held[$0].observer }).sorted() {
            let entries = backlog.held.slots(of: registry.observers[slot].entries, in: .observer)
            registry.observers[slot].entries = backlog.held.relink(inOrder(entries), in: .observer)
        }
        // Bound: start
        for client in Set(
            backlog.heldActions.keys.map { registry.observers[backlog.held[$0].observer].client }
        ).sorted() {
            relink(
                backlog.held.slots(of: registry.clients[client].held.list, in: .client), of: client)
        }
    }
}

extension NotificationCenter {
    /// Restores a stored ask: it waits, or walks again with the first command (rule R20).
    mutating func restore(_ record: AskRecord, at time: CommandTime) {
        asks.isUsed = true
        let ask = OpenAsk(record, at: time)
        guard let slot = try? asks.open.add(ask, limit: .max, askerLimit: .max) else { return }
        addDeadline(at: ask.endsAt, .ask(slot: slot, ordinal: asks.open.lastOrdinal))
        asks.open.begin(slot, at: ask.content.address)
        guard !ask.isOnce || ask.shown.isEmpty, let path = path(to: record.observer, of: ask)
        else { return asks.open.orphan(slot) }
        asks.open.note(Walk(path: path, passing: FewList()), of: slot)
        asks.open.hold(slot, for: record.observer)
        // A mailbox gets its waiting ask, with or without a reader.
        if let observer = registry.observers.slot(of: record.observer),
            registry.clients[registry.observers[observer].client].suspension.contains(.mailbox)
        {
            asks.open.orphan(slot)
        }
    }

    /// Restores the fates of ended asks, in the order of their forgetting.
    ///
    /// One whose time is over is forgotten with the first deadline, so that the store is told.
    mutating func restore(_ ends: [(ask: AskRecord, end: AskRecord.End)], at time: CommandTime) {
        if ends.isEmpty { return }
        asks.isUsed = true
        // Bound: start
        for (record, end) in ends.sorted(by: { $0.end.forgottenAt < $1.end.forgottenAt }) {
            let whole = limits.fateLifetime(ofStored: true) / 1_000_000
            let left = min(max(0, end.forgottenAt.subtracting(time.wallMilliseconds)), whole)
            asks.fates.append(
                AskFateTable.Fate(
                    OpenAsk(record, at: time), end.outcome,
                    forgottenAt: time.monotonicNanoseconds.adding(left * 1_000_000)),
                isKeptLonger: limits.askFateLifetime != limits.fateLifetime)
        }
    }

    /// The walk to an observer that was shown an ask before the restart, if it still takes the ask.
    private func path(to serial: UInt64, of ask: OpenAsk) -> [[UInt8]]? {
        guard let observer = registry.observers.slot(of: serial),
            let address = registry.index.object(of: registry.observers[observer].place)
        else { return nil }
        switch readiness(of: observer, ask.content.name) {
        case .never: return nil
        case .now, .later: break
        }
        var path = [ask.content.address]
        while let last = path.last, last != address {  // Bound: hops
            guard path.count <= limits.hopLimit,
                let holder = asks.addresses.holders(of: last.span).first,
                let next = registry.observers.responder(at: holder.slot)?.next
            else { return [ask.content.address, address] }
            path.append(next)
        }
        return path
    }
}
