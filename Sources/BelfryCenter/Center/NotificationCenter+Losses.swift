// Losses of observers that they were not told yet: one gap for each reason (law 3).

extension NotificationCenter {
    /// Notes that an observer lost a notification; it is told as soon as its client is live.
    mutating func noteGap(
        _ reason: Gap.Reason, _ sequence: UInt64, at slot: UInt32, _ effects: inout Effects
    ) {
        let gap = GapRecord(reason: reason, count: 1, first: sequence, last: sequence)
        noteGap(gap, at: slot, &effects)
    }

    /// Notes that an observer lost notifications, or may have.
    mutating func noteGap(_ gap: GapRecord, at slot: UInt32, _ effects: inout Effects) {
        backlog.losses.add(gap)
        noteAgain(gap, at: slot, &effects)
    }

    /// Notes a loss that was counted: it was told on a connection that had ended, or is new.
    mutating func noteAgain(_ gap: GapRecord, at slot: UInt32, _ effects: inout Effects) {
        let sum = registry.addGap(gap, at: slot)
        // A post that holds nothing is not stored, so neither is its loss.
        if isLasting(slot), gap.reason != .dropped {
            effects.changes.append(.gap(observer: registry.observers[slot].serial, sum))
        }
    }

    /// Finds the observers of a notification in a center with finer filters.
    ///
    /// Observers whose conditions are past the limit of work get a gap (law 3).
    @inline(never)
    mutating func matchFilters(
        _ content: Notification.Content, in buckets: ObserverIndex.Buckets, of channel: UInt32,
        at time: CommandTime, _ effects: inout Effects
    ) {
        let slots = registry.index.appendSlots(
            in: buckets, of: content, channel: channel, to: &dispatching.matched.slots)
        effects.evaluationCount += registry.index.evaluationCount
        dispatching.matched.unasked = slots
        if slots.isEmpty { return }
        for slot in slots {  // Bound: observers
            registry.observers[slot].tally.dropped += 1
            noteGap(.overflow, history.sequence, at: slot, &effects)
        }
        for slot in slots {  // Bound: observers
            let client = registry.observers[slot].client
            guard registry.clients[client].suspension.isEmpty else { continue }
            // The first observer of a client tells of all.
            tellGaps(of: client, at: time, &effects)
        }
    }

    /// Sends the losses of a client's observers: one gap for each observer and reason.
    mutating func tellGaps(
        of client: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if registry.clients[client].wasAsked {
            registry.clients[client].wasAsked = false
            noteClient(client, at: time, &effects)
        }
        guard registry.clients[client].gapCount > 0,
            !registry.clients[client].suspension.contains(.mailbox)
        else {
            return
        }
        let route = registry.clients.route(at: client)
        for slot in registry.observerSlots(of: client) {  // Bound: gaps
            for gap in registry.observers[slot].gaps {  // Bound: gaps
                effects.notices.append(
                    .gap(
                        connection: route.connection, transport: route.transport,
                        registry.gap(gap, at: slot)))
            }
            forgetGaps(of: slot, &effects)
        }
    }

    /// Forgets losses that were sent, up to a sequence number.
    mutating func forgetGaps(
        of slot: UInt32, through sequence: UInt64 = .max, _ effects: inout Effects
    ) {
        let told = registry.observers[slot].gaps.filter { $0.last <= sequence }
        guard !told.isEmpty else { return }
        let serial = registry.observers[slot].serial
        let known =
            (backlog.toldGaps[serial] ?? []) + told.map { ToldGap(gap: $0, toldAt: lastWallTime) }
        backlog.toldGaps[serial] = known.suffix(ToldGap.limit)
        registry.observers[slot].gaps.removeAll { $0.last <= sequence }
        if registry.observers[slot].gaps.isEmpty {
            registry.clients[registry.observers[slot].client].gapCount -= 1
        }
        guard isLasting(slot) else { return }
        for gap in told {  // Bound: gaps
            effects.changes.append(
                .gap(
                    observer: registry.observers[slot].serial,
                    GapRecord(reason: gap.reason, count: 0, first: 0, last: 0)))
        }
    }
}
