/// A number that stands for the whole state of a center: equal states have equal numbers.
///
/// It is SipHash-1-3 with a key that is the same in every process, over all fields in one order.
/// Text is preceded by its length and an optional by whether it is there, so that no two different
/// states write the same words.
struct StateDigest {
    private var state = SipState(HashSeed(0x6265_6c66_7279_2e64, 0x6967_6573_742e_7631))

    /// The number for what was added so far.
    func finish() -> UInt64 {
        var copy = state
        return copy.finish()
    }

    mutating func add(_ word: UInt64) { state.absorb(word) }
    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
    mutating func add(_ number: Int) { add(Int64(number)) }
    mutating func add(_ number: UInt32) { add(UInt64(number)) }
    mutating func add(_ flag: Bool) { add(flag ? 1 as UInt64 : 0) }

    mutating func add(_ bytes: Span<UInt8>) {
        add(bytes.count)
        var word: UInt64 = 0
        var shift: UInt64 = 0
        for index in bytes.indices {
            word |= UInt64(bytes[index]) << shift
            shift += 8
            if shift == 64 {
                add(word)
                word = 0
                shift = 0
            }
        }
        if shift > 0 { add(word) }
    }

    mutating func add(_ bytes: [UInt8]) { add(bytes.span) }

    mutating func add(_ bytes: [UInt8]?) {
        add(bytes != nil)
        if let bytes { add(bytes) }
    }

    mutating func add(_ hash: SecretHash) {
        add(hash.high)
        add(hash.low)
    }

    mutating func add(_ id: NotificationID) {
        add(id.high)
        add(id.low)
    }

    mutating func add(_ receipt: Receipt) {
        add(receipt.id)
        add(receipt.sequence)
        switch receipt.state {
        case .posted: add(0 as UInt64)
        case .queued: add(1 as UInt64)
        case .coalesced(let id):
            add(2 as UInt64)
            add(id)
        case .dequeued: add(3 as UInt64)
        case .expired: add(4 as UInt64)
        }
        for count in [
            receipt.matched, receipt.delivered, receipt.held, receipt.coalesced, receipt.dropped,
            receipt.acknowledged, receipt.refused, receipt.pending, receipt.dequeued,
        ] { add(count) }
    }

    mutating func add(_ remover: Remover) {
        switch remover {
        case .client(let id):
            add(0 as UInt64)
            add(id)
        case .principal(let principal):
            add(1 as UInt64)
            add(principal)
        case .broker:
            add(2 as UInt64)
        }
    }
}

// MARK: - The digest of a center

extension NotificationCenter {
    /// A number that is equal for centers that were fed the same commands, in every process.
    ///
    /// It covers all that can be seen of the center now or later: its name and epoch, sequence
    /// number, applied index, limits, clients, observers, channels, tombstones, the replay ring and
    /// the fates of posts. It does not depend on the ``HashSeed``.
    ///
    /// - Complexity: linear in the whole state; it is for tests and for comparing machines.
    public func digest() -> UInt64 {
        var digest = StateDigest()
        digest.add(name)
        digest.add(epoch)
        digest.add(sequence)
        digest.add(appliedIndex)
        addLimits(to: &digest)
        addClients(to: &digest)
        addObservers(to: &digest)
        addChannels(to: &digest)
        addTombstones(to: &digest)
        addReplay(to: &digest)
        addFates(to: &digest)
        addHeld(to: &digest)
        queue.addDigest(to: &digest)
        modeStack.addDigest(to: &digest)
        waiting.addDigest(to: &digest)
        keys.addDigest(to: &digest)
        digest.add(isStored)
        digest.add(reservedSequence)
        digest.add(nextDeadline ?? Int64.max)
        return digest.finish()
    }

    private func addLimits(to digest: inout StateDigest) {
        digest.add(limits.clientObserverLimit)
        digest.add(limits.replayCountLimit)
        digest.add(limits.replayByteLimit)
        digest.add(limits.tombstoneLimit)
        digest.add(limits.fateLimit)
        digest.add(limits.fateLifetime.components.seconds)
        digest.add(limits.fateLifetime.components.attoseconds)
        digest.add(limits.unobservedNameLimit)
        digest.add(limits.causedByDepthLimit)
        digest.add(limits.queueEntryLimit)
        digest.add(limits.modeStackLimit)
        digest.add(limits.queueModeLimit)
        digest.add(limits.commonModes.count)
        for mode in limits.commonModes { digest.add(mode) }
        digest.add(limits.clientHeldCountLimit)
        digest.add(limits.clientHeldByteLimit)
        digest.add(limits.unacknowledgedLimit)
        digest.add(limits.missedDeadlineLimit)
        digest.add(limits.flushByteLimit)
        digest.add(limits.keyLimit)
        digest.add(limits.keyLifetime.components.seconds)
        digest.add(limits.orphanAfter.components.seconds)
        digest.add(limits.isDurable)
    }

    private func addClients(to digest: inout StateDigest) {
        digest.add(clients.count)
        for entry in clients.order.entries where !entry.isDead {
            let client = clients[entry.slot]
            digest.add(client.id)
            digest.add(UInt64(client.transport.rawValue))
            digest.add(client.connection.node)
            digest.add(client.connection.number)
            digest.add(client.sessionHash)
            digest.add(client.principal)
            digest.add(client.connectedAt)
            digest.add(client.observerCount)
            digest.add(UInt64(client.suspension.rawValue))
            digest.add(client.stateSince)
            digest.add(client.disconnectedSince)
            digest.add(client.immediateSequence)
            digest.add(client.heldByteCount)
            addEntries(of: client.held, to: &digest)
            addEntries(of: client.unacknowledged, to: &digest)
        }
    }

    private func addObservers(to digest: inout StateDigest) {
        digest.add(observers.count)
        for entry in observers.order.entries where !entry.isDead {
            let observer = observers[entry.slot]
            digest.add(observer.serial)
            digest.add(observer.tokenHash)
            digest.add(clients[observer.client].id)
            digest.add(index.name(of: observer.place))
            digest.add(index.object(of: observer.place))
            digest.add(selectors.text(of: observer.selector))
            digest.add(observer.since)
            digest.add(observer.createdAt)
            digest.add(observer.delivered)
            digest.add(observer.lastDeliveredAt)
            addTerms(observer.terms, to: &digest)
            digest.add(observer.coalesced)
            digest.add(observer.dropped)
            digest.add(observer.unacknowledgedCount)
            digest.add(observer.missedDeadlineCount)
            digest.add(observer.acknowledgedThrough)
            digest.add(observer.forgottenThrough)
            digest.add(observer.streamedThrough)
            digest.add(observer.lookedAt)
            digest.add(observer.reader)
            for gap in observer.gaps {
                digest.add(UInt64(gap.reason.rawValue))
                digest.add(gap.count ?? -1)
                digest.add(gap.first)
                digest.add(gap.last)
            }
        }
    }

    private func addTerms(_ terms: ObserverTerms, to digest: inout StateDigest) {
        digest.add(UInt64(terms.suspensionBehavior.rawValue))
        digest.add(terms.acknowledges)
        digest.add(terms.endsWithConnection)
        digest.add(terms.holdLimit)
        digest.add(terms.minInterval)
        digest.add(terms.lease ?? -1)
    }

    private func addEntries(of list: HeldTable.List, to digest: inout StateDigest) {
        digest.add(list.count)
        for entry in held.slots(of: list, in: .client) {
            digest.add(held.sequence(of: entry))
            digest.add(observers[held[entry].observer].serial)
            digest.add(UInt64(held[entry].account.rawValue))
            digest.add(UInt64(held[entry].flags.rawValue))
        }
    }

    private func addHeld(to digest: inout StateDigest) {
        digest.add(held.byteCount)
        var kept = held.oldest
        while kept != HeldTable.none {
            let notification = held.notification(at: kept)
            digest.add(notification.id)
            digest.add(notification.sequence)
            digest.add(notification.expiresAt)
            kept = held.next(after: kept)
        }
    }

    /// Channels come in the order in which listings show them, then in that of their forgetting.
    private func addChannels(to digest: inout StateDigest) {
        digest.add(index.channels.indexLimit)
        for position in 0..<index.channels.indexLimit {
            let channel = UInt32(position)
            let row = index.channels.row(at: channel)
            digest.add(row != nil)
            guard let row else { continue }
            digest.add(row.name)
            digest.add(row.observerCount)
            digest.add(row.postCount)
            digest.add(row.lastPostedAt ?? Int64.min)
            digest.add(index.channels.wasMatched(at: channel))
        }
        digest.add(index.channels.unobservedCount)
        index.channels.forEachUnobserved { digest.add($0) }
    }

    private func addTombstones(to digest: inout StateDigest) {
        digest.add(tombstones.count)
        tombstones.forEach { serial, tombstone in
            digest.add(serial)
            digest.add(tombstone.tokenHash)
            digest.add(tombstone.removedAt)
            digest.add(tombstone.removedBy)
            digest.add(UInt64(tombstone.reason.rawValue))
            digest.add(tombstone.name)
            digest.add(tombstone.object)
        }
    }

    private func addReplay(to digest: inout StateDigest) {
        digest.add(replay.count)
        replay.forEach(above: 0) { notification in
            digest.add(notification.id)
            digest.add(notification.sequence)
            digest.add(notification.postedAt)
            digest.add(notification.causedBy != nil)
            if let cause = notification.causedBy { digest.add(cause) }
            digest.add(notification.content.name)
            digest.add(notification.content.hasObject)
            if let object = notification.content.object { digest.add(object) }
            let userInfo = notification.content.userInfo
            digest.add(userInfo != nil)
            if let userInfo { digest.add(userInfo) }
        }
    }

    private func addFates(to digest: inout StateDigest) {
        digest.add(fates.count)
        fates.forEach { receipt, depth, expiresAt in
            digest.add(receipt)
            digest.add(depth)
            digest.add(expiresAt)
        }
    }
}
