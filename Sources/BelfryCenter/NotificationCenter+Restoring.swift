extension NotificationCenter {
    /// Makes a center out of what a store has of it; all of its clients are disconnected.
    ///
    /// Whatever was held or queued may have been delivered before, and says so. If the last life did
    /// not end in order, nobody knows what observers that drop have lost: they are told a gap.
    public init(
        restoring image: CenterImage, limits: CenterLimits, seed: HashSeed, time: CommandTime
    ) {
        self.init(name: image.name, epoch: image.epoch, limits: limits, seed: seed)
        restore(image, at: time)
    }

    private mutating func restore(_ image: CenterImage, at time: CommandTime) {
        sequence = image.sequence
        restoredSequence = image.sequence
        reservedSequence = image.sequence
        sequenceReserveAt = image.sequence
        isStored = true
        lastTime = time.monotonicNanoseconds
        for record in image.clients { restore(record, at: time) }
        for record in image.observers { restore(record, isComplete: image.isComplete) }
        for (serial, tombstone) in image.tombstones {
            tombstones.append(tombstone, serial: serial, limit: limits.tombstoneLimit)
        }
        restoreHeld(image, at: time)
        for (serial, gap) in image.gaps {
            guard let slot = observers.slot(of: serial) else { continue }
            addGap(gap, at: slot)
        }
        for record in image.queue { queue.restore(record, at: time) }
        for record in image.keys {
            keys.restore(record, at: time.monotonicNanoseconds, limits: limits)
        }
        for entry in clients.order.entries { scheduleLeases(of: entry.slot, at: time) }
        noteNeeds()
    }

    private mutating func restore(_ record: ClientRecord, at time: CommandTime) {
        var client = ClientTable.Client(
            id: record.id, connection: ConnectionName(node: 0, number: 0),
            transport: record.transport, sessionHash: record.sessionHash,
            principal: record.principal, connectedAt: record.connectedAt,
            stateSince: time.wallMilliseconds)
        client.suspension = .disconnected
        if record.isAsked { client.suspension.insert(.asked) }
        if record.transport == .mailbox { client.suspension.insert(.mailbox) }
        client.disconnectedSince = time.monotonicNanoseconds - record.disconnectedFor
        client.isStoredAway = record.disconnectedFor > 0
        client.immediateSequence = record.immediateThrough
        client.storedImmediateSequence = record.immediateThrough
        clients.add(client)
    }

    private mutating func restore(_ record: ObserverRecord, isComplete: Bool) {
        guard let client = clients.slot(of: record.client) else { return }
        let slot = observers.reserveSlot()
        let place = index.add(
            name: record.name, object: record.object, serial: record.serial, slot: slot)
        var observer = ObserverTable.Observer(
            serial: record.serial, tokenHash: record.tokenHash, client: client, place: place,
            selector: selectors.retain(record.selector), since: record.since,
            createdAt: record.createdAt, terms: record.terms)
        observer.acknowledgedThrough = record.acknowledgedThrough
        observer.forgottenThrough = record.forgottenThrough
        observer.lookedAt = clients[client].disconnectedSince
        observer.writtenThrough = sequence
        observers.fill(slot, with: observer, after: clients[client].lastObserver)
        clients.noteObserver(slot, isLasting: true, at: client)
        if !isComplete, record.terms.suspensionBehavior == .drop, record.since < sequence {
            let gap = GapRecord(
                reason: .unknown, count: nil, first: record.since + 1, last: sequence)
            losses.add(gap)
            addGap(gap, at: slot)
        }
    }

    private mutating func restoreHeld(_ image: CenterImage, at time: CommandTime) {
        var position = image.held.startIndex
        for record in image.notifications {
            let notification = Notification(
                id: record.notification.id, sequence: record.notification.sequence,
                postedAt: record.notification.postedAt, causedBy: record.notification.causedBy,
                content: record.notification.content,
                expiresAt: Self.end(of: record.timeToLive, time), isRestored: true)
            let kept = keep(notification)
            while position < image.held.endIndex,
                image.held[position].sequence <= notification.sequence
            {
                if image.held[position].sequence == notification.sequence {
                    restoreEntry(
                        of: image.held[position].observer, notification, kept: kept)
                }
                position += 1
            }
            if held.holders(at: kept).isEmpty { held.discard(kept) }
        }
    }

    private mutating func restoreEntry(
        of serial: UInt64, _ notification: Notification, kept: UInt32
    ) {
        guard let slot = observers.slot(of: serial) else { return }
        let client = observers[slot].client
        var flags: HeldTable.Flags = [.redelivered, .stored]
        let kind = ObservedKind(observer: serial, notification.content)
        let terms = observers[slot].terms
        if terms.suspensionBehavior == .coalesce || terms.minInterval > 0 {
            flags.insert(.replaceable)
        }
        let entry = held.make(
            HeldTable.Entry(observer: slot, notification: kept, account: .none, flags: flags))
        held.noteStored(at: kept)
        held.append(entry, to: &observers[slot].entries, in: .observer)
        held.append(entry, to: &clients[client].held, in: .client)
        clients[client].heldByteCount += notification.content.byteCount
        if flags.contains(.replaceable) { replaceable[kind] = entry }
    }
}
