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
        sequence = through
        restoredThrough = through
        self.marks = marks
        replay.begin(above: through)
        reservedSequence = through
        sequenceReserveAt = through
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
        for entry in clients.order.living  // Bound: start
        where clients[entry.slot].observerCount == 0 && !clients[entry.slot].isLasting {
            lastWritten[entry.slot] = nil
            clients.remove(entry.slot)
        }
        var kept = held.oldest
        while kept != HeldTable.none {  // Bound: start
            let next = held.next(after: kept)
            if held.holders(at: kept).isEmpty { held.discard(kept) }
            kept = next
        }
        // Bound: start
        for entry in clients.order.living { scheduleLeases(of: entry.slot, at: time) }
        // Restored observers change nothing for the watchers of names.
        watch.forget()
        reports.append(.didStart(epoch: epoch, isUnclean: !isComplete))
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
        client.isStoredAway = record.disconnectedFor > 0
        client.immediateSequence = record.immediateThrough
        client.storedImmediateSequence = record.immediateThrough
        let slot = clients.add(client)
        lastWritten[slot] = record.lastWritten
    }

    mutating func restore(_ record: ObserverRecord, isComplete: Bool) {
        guard let client = clients.slot(of: record.client) else { return }
        let slot = observers.reserveSlot()
        let place = file(record.name, record.object, record.role, record.serial, slot)
        var observer = ObserverTable.Observer(
            serial: record.serial, tokenHash: record.tokenHash, client: client, place: place,
            selector: selectors.retain(record.selector), since: record.since,
            createdAt: record.createdAt, terms: record.terms,
            isPlain: record.role.isPlain)
        observer.acknowledgedThrough = record.acknowledgedThrough
        observer.forgottenThrough = record.forgottenThrough
        observer.lookedAt = clients[client].disconnectedSince
        // A responder gets several names.
        let dispatched = lastDispatchedEarlier(of: record.role.isPlain ? record.name : nil)
        observer.writtenThrough = min(sequence, lastWritten[client]?.sequence ?? dispatched)
        observers.fill(slot, with: observer, after: clients[client].lastObserver)
        clients.noteObserver(slot, isLasting: true, at: client)
        if !isComplete, record.terms.suspensionBehavior == .drop, record.since < dispatched {
            let gap = GapRecord(
                reason: .unknown, count: nil, first: record.since + 1, last: dispatched)
            losses.add(gap)
            addGap(gap, at: slot)
        }
    }

    mutating func restore(_ tombstone: Tombstone, serial: UInt64) {
        tombstones.append(tombstone, serial: serial, limit: limits.tombstoneLimit)
    }

    mutating func restore(_ gap: GapRecord, of serial: UInt64) {
        var gap = gap
        gap.last = min(gap.last, sequence)
        guard let slot = observers.slot(of: serial), gap.first <= gap.last else { return }
        addGap(gap, at: slot)
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
        guard let slot = observers.slot(of: serial) else { return }
        let client = observers[slot].client
        var flags: HeldTable.Flags = [.redelivered, .stored]
        let content = held.notification(at: kept).content
        let terms = observers[slot].terms
        if terms.suspensionBehavior == .coalesce || terms.minInterval > 0 {
            flags.insert(.replaceable)
        }
        let entry = held.make(
            HeldTable.Entry(observer: slot, notification: kept, account: .none, flags: flags))
        held.noteStored(at: kept)
        held.append(entry, to: &observers[slot].entries, in: .observer)
        held.append(entry, to: &clients[client].held, in: .client)
        clients[client].heldByteCount += content.byteCount
        if flags.contains(.replaceable) {
            // Of several of a kind only the last one can be replaced, as before the restart.
            let kind = ObservedKind(observer: serial, content)
            if let earlier = replaceable[kind] { held[earlier].flags.remove(.replaceable) }
            replaceable[kind] = entry
        }
    }
}

extension NotificationCenter {
    /// Restores an action at its responder, which gets it again if it was sent before.
    mutating func restore(_ record: ActionRecord, kept: UInt32) {
        guard let slot = observers.slot(of: record.responder) else { return }
        let client = observers[slot].client
        let entry = held.make(
            HeldTable.Entry(
                observer: slot, notification: kept, account: .none,
                flags: [.redelivered, .stored, .action]))
        heldActions[entry] = HeldAction(
            row: record.row, selector: record.selector, acknowledges: record.acknowledges,
            path: record.path, shown: record.shown)
        held.noteStored(at: kept)
        held.append(entry, to: &observers[slot].entries, in: .observer)
        held.append(entry, to: &clients[client].held, in: .client)
        clients[client].heldByteCount += held.byteCount(of: entry)
    }

    /// Sorts restored actions among the other entries by their sequence numbers.
    mutating func orderActions() {
        for slot in Set(heldActions.keys.map { held[$0].observer }).sorted() {  // Bound: start
            let entries = held.slots(of: observers[slot].entries, in: .observer)
            observers[slot].entries = held.relink(inOrder(entries), in: .observer)
        }
        // Bound: start
        for client in Set(heldActions.keys.map { observers[held[$0].observer].client }).sorted() {
            relink(held.slots(of: clients[client].held, in: .client), of: client)
        }
    }
}

extension NotificationCenter {
    /// Restores a stored ask: it waits, or walks again with the first command (rule R20).
    mutating func restore(_ record: AskRecord, at time: CommandTime) {
        usesAsks = true
        let ask = OpenAsk(record, at: time)
        guard let slot = try? asks.add(ask, limit: .max, askerLimit: .max) else { return }
        addDeadline(at: ask.endsAt, .ask(slot: slot, ordinal: asks.lastOrdinal))
        asks.begin(slot, at: ask.content.address)
        guard !ask.isOnce || ask.shown.isEmpty, let path = path(to: record.observer, of: ask)
        else { return asks.orphan(slot) }
        asks.note(Walk(path: path, passing: FewList()), of: slot)
        asks.hold(slot, for: record.observer)
        // A mailbox gets its waiting ask, with or without a reader.
        if let observer = observers.slot(of: record.observer),
            clients[observers[observer].client].suspension.contains(.mailbox)
        {
            asks.orphan(slot)
        }
    }

    /// Restores the fates of ended asks, in the order of their forgetting.
    ///
    /// One whose time is over is forgotten with the first deadline, so that the store is told.
    mutating func restore(_ ends: [(ask: AskRecord, end: AskRecord.End)], at time: CommandTime) {
        if ends.isEmpty { return }
        usesAsks = true
        // Bound: start
        for (record, end) in ends.sorted(by: { $0.end.forgottenAt < $1.end.forgottenAt }) {
            let whole = limits.fateLifetime.wholeNanoseconds / 1_000_000
            let left = min(max(0, end.forgottenAt.subtracting(time.wallMilliseconds)), whole)
            askFates.append(
                AskFateTable.Fate(
                    OpenAsk(record, at: time), end.outcome,
                    forgottenAt: time.monotonicNanoseconds.adding(left * 1_000_000)))
        }
    }

    /// The walk to an observer that was shown an ask before the restart, if it still takes the ask.
    private func path(to serial: UInt64, of ask: OpenAsk) -> [[UInt8]]? {
        guard let observer = observers.slot(of: serial),
            let address = index.object(of: observers[observer].place)
        else { return nil }
        switch readiness(of: observer, ask.content.name) {
        case .never: return nil
        case .now, .later: break
        }
        var path = [ask.content.address]
        while let last = path.last, last != address {  // Bound: hops
            guard path.count <= limits.hopLimit,
                let holder = addresses.holders(of: last.span).first,
                let next = observers.responder(at: holder.slot)?.next
            else { return [ask.content.address, address] }
            path.append(next)
        }
        return path
    }
}
