extension NotificationCenter {
    /// A number that is equal for centers that got the same commands, in every process.
    ///
    /// It covers all that can be observed of the center now or later: its name and epoch, sequence
    /// number, applied index, limits, clients, observers, channels, tombstones, the replay ring,
    /// the fates of posts, everything held, queued, awaited and remembered under a key, and the
    /// pending reports. It does not depend on the ``HashSeed``.
    ///
    /// - Complexity: Linear in the whole state; it is for tests and for comparing machines.
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
        timers.addDigest(to: &digest)
        modeStack.addDigest(to: &digest)
        waiting.addDigest(to: &digest)
        keys.addDigest(to: &digest)
        addresses.addDigest(to: &digest)
        asks.addDigest(to: &digest)
        askFates.addDigest(to: &digest)
        values.addDigest(to: &digest)
        paces.addDigest(to: &digest, at: lastTime)
        addReports(to: &digest)
        digest.add(namelessCount)
        watch.addDigest(to: &digest)
        digest.add(isStored)
        digest.add(reservedSequence)
        digest.add(sequenceReserveAt)
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
        digest.add(limits.timerLimit)
        digest.add(limits.farewellLimit)
        digest.add(limits.modeStackLimit)
        digest.add(limits.queueModeLimit)
        digest.add(limits.commonModes.count)
        for mode in limits.commonModes { digest.add(mode) }  // Bound: snapshot
        digest.add(limits.clientHeldCountLimit)
        digest.add(limits.clientHeldByteLimit)
        digest.add(limits.unacknowledgedLimit)
        digest.add(limits.missedDeadlineLimit)
        digest.add(limits.flushByteLimit)
        digest.add(limits.keyLimit)
        digest.add(limits.keyLifetime.components.seconds)
        digest.add(limits.orphanAfter.components.seconds)
        digest.add(limits.askLimit)
        digest.add(limits.clientAskLimit)
        digest.add(limits.holderLimit)
        digest.add(limits.hopLimit)
        digest.add(limits.actionLookLimit)
        digest.add(limits.answerMemoryLimit)
        digest.add(limits.valueLimit)
        digest.add(limits.documentByteLimit)
        digest.add(limits.documentDepthLimit)
        digest.add(limits.valuePartLimit)
        digest.add(limits.clientPartLimit)
        digest.add(limits.isDurable)
    }

    private func addClients(to digest: inout StateDigest) {
        digest.add(clients.count)
        for entry in clients.order.living {  // Bound: snapshot
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
            digest.add(client.wasAsked)
            digest.add(lastWritten[entry.slot]?.sequence ?? .max)
            digest.add(lastWritten[entry.slot]?.isShared ?? false)
            addDoubts(of: entry.slot, to: &digest)
            digest.add(client.heldByteCount)
            digest.add(client.unacknowledgedByteCount)
            digest.add(client.owesTooMuch)
            digest.add(client.leaseCheckAt)
            addEntries(of: client.held, to: &digest)
            addEntries(of: client.unacknowledged, to: &digest)
        }
    }

    private func addObservers(to digest: inout StateDigest) {
        digest.add(observers.count)
        for entry in observers.order.living {  // Bound: snapshot
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
            digest.add(observer.writtenThrough)
            digest.add(observer.replaysAbove)
            addTerms(observer.terms, to: &digest)
            digest.add(observer.coalesced)
            digest.add(observer.dropped)
            digest.add(observer.unacknowledgedCount)
            digest.add(observer.missedDeadlineCount)
            digest.add(observer.acknowledgedThrough)
            digest.add(observer.forgottenThrough)
            digest.add(observer.streamedThrough)
            digest.add(observer.lookedAt)
            digest.add(observer.reader?.node ?? 0)
            digest.add(observer.reader?.number ?? 0)
            digest.add(observer.readerIsStream)
            digest.add(observer.owes)
            if let responder = observers.responder(at: entry.slot) {
                addResponder(responder, to: &digest)
            }
            if let target = observers.target(at: entry.slot) {
                digest.add(target)
                digest.add(targets.unheldSince(target) ?? -1)
            }
            if let observed = values.observers[entry.slot] { addObserved(observed, to: &digest) }
            digest.add(observer.hasNewGap)
            digest.add(observer.gaps.count)
            for gap in observer.gaps { add(gap, to: &digest) }  // Bound: snapshot
        }
    }

    private func add(_ gap: GapRecord, to digest: inout StateDigest) {
        digest.add(UInt64(gap.reason.rawValue))
        digest.add(gap.count ?? -1)
        digest.add(gap.first)
        digest.add(gap.last)
    }

    private func addDoubts(of client: UInt32, to digest: inout StateDigest) {
        let doubts = doubts[client] ?? []
        digest.add(doubts.count)
        for doubt in doubts {  // Bound: snapshot
            digest.add(doubt.observer)
            digest.add(UInt64(doubt.kind.rawValue))
            add(doubt.gap, to: &digest)
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

    private func addObserved(_ observed: ObservedValue, to digest: inout StateDigest) {
        digest.add(observed.pathText)
        digest.add(observed.terms.sendsInitial)
        digest.add(observed.terms.sendsOld)
        digest.add(observed.terms.sendsOwn)
        digest.add(observed.isMarked)
        digest.add(observed.markIsChange)
        observed.present.addDigest(to: &digest)
        digest.add(values[observed.value].trie[observed.node].changedSequence)
    }

    private func addResponder(_ responder: ResponderTerms, to digest: inout StateDigest) {
        digest.add(responder.implements.count)
        for selector in responder.implements { digest.add(selector) }  // Bound: snapshot
        digest.add(responder.next)
        digest.add(UInt64(responder.ifHeld.rawValue))
        digest.add(responder.concurrency)
    }

    private func addEntries(of list: HeldTable.List, to digest: inout StateDigest) {
        digest.add(list.count)
        for entry in held.slots(of: list, in: .client) {  // Bound: snapshot
            digest.add(held.sequence(of: entry))
            digest.add(observers[held[entry].observer].serial)
            if let action = heldActions[entry] { addAction(action, to: &digest) }
            digest.add(UInt64(held[entry].account.rawValue))
            digest.add(UInt64(held[entry].flags.rawValue))
        }
    }

    private func addAction(_ action: HeldAction, to digest: inout StateDigest) {
        digest.add(action.row)
        digest.add(action.selector)
        digest.add(action.acknowledges)
        digest.add(action.path.count)
        for address in action.path { digest.add(address) }  // Bound: snapshot
        digest.add(action.shown.count)
        for responder in action.shown { digest.add(responder) }  // Bound: snapshot
    }

    private func addHeld(to digest: inout StateDigest) {
        digest.add(held.byteCount)
        var kept = held.oldest
        while kept != HeldTable.none {  // Bound: snapshot
            digest.add(held.notification(at: kept))
            digest.add(held.isStored(at: kept))
            kept = held.next(after: kept)
        }
    }

    private func addReports(to digest: inout StateDigest) {
        digest.add(hasReportedOverflow)
        digest.add(reports.count)
        for report in reports {  // Bound: snapshot
            digest.add(report.name)
            digest.add(report.object)
            digest.add(report.userInfo)
        }
    }

    /// Adds the channels in the order of listings, and then in that of their forgetting.
    private func addChannels(to digest: inout StateDigest) {
        digest.add(index.channels.indexLimit)
        for position in 0..<index.channels.indexLimit {  // Bound: snapshot
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
        digest.add(replay.forgottenThrough)
        replay.forEach(above: 0) { notification in
            digest.add(notification)
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
