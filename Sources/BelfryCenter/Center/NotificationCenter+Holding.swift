// Notifications for observers that cannot get them now: kept within limits, or lost and reported.

extension NotificationCenter {
    /// Holds a notification for an observer; it may replace an earlier one of its kind (rule D6).
    ///
    /// It has its own place in the order. With a `minInterval` the last of a kind wins, whatever
    /// the behaviour.
    mutating func hold(
        _ notification: Notification, at slot: UInt32, isReplaceable: Bool, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        if dispatching.form == .change {
            return holdChange(
                notification, at: slot, isReplaceable: isReplaceable, time, &effects)
        }
        let client = registry.observers[slot].client
        let coalesces = isReplaceable || registry.observers[slot].terms.minInterval > 0
        var older: UInt32?
        if coalesces {
            let last = registry.observers[slot].entries.last
            older =
                backlog.held.isReplaceable(last, by: notification.content)
                ? last
                : backlog.replaceable[
                    ObservedKind(observer: registry.observers[slot].serial, notification.content)]
        }
        var outcome = ReportRow.Outcome.held
        if let older {
            outcome = .coalesced
            registry.observers[slot].tally.coalesced += 1
            // The new entry mostly gets the slot of the older one, and its place in the table.
            backlog.held[older].flags.remove(.replaceable)
            lose(older, .coalesced, &effects)
        }
        // It has no account yet: the room decides how it is counted.
        let entry = makeEntry(
            notification, at: slot, account: .none, flags: coalesces ? .replaceable : [], time,
            &effects)
        addWaiting(entry, of: client)
        if coalesces, entry != older {
            backlog.replaceable[
                ObservedKind(observer: registry.observers[slot].serial, notification.content)] =
                entry
        }
        keepLimits(of: slot, &effects)
        guard registry.observers[slot].entries.last == entry else { return .dropped }
        backlog.held[entry].account = outcome == .held ? .held : .coalesced
        return outcome
    }

    /// Makes an entry in the lists of its notification and its observer.
    mutating func makeEntry(
        _ notification: Notification, at slot: UInt32, account: HeldTable.Account,
        flags: HeldTable.Flags, action: HeldAction? = nil, _ time: CommandTime,
        _ effects: inout Effects
    ) -> UInt32 {
        if dispatching.kept == HeldTable.none { dispatching.kept = keep(notification) }
        let kept = dispatching.kept
        var flags = flags
        if notification.isRestored { flags.insert(.redelivered) }
        let entry = backlog.held.make(
            HeldTable.Entry(
                observer: slot, notification: kept, account: account, flags: flags))
        if let action {
            backlog.held[entry].flags.insert(.action)
            backlog.heldActions[entry] = action
        }
        backlog.held.append(entry, to: &registry.observers[slot].entries, in: .observer)
        count(entry: entry, 1)
        noteHeld(entry, at: time, &effects)
        return entry
    }

    /// Reports an entry that must last, and its notification if the store does not have it.
    mutating func noteHeld(_ entry: UInt32, at time: CommandTime, _ effects: inout Effects) {
        let slot = backlog.held[entry].observer
        // Changes of values are not stored: after a restart the present value is sent (rule V10).
        guard isLasting(slot), !isOfValue(slot) else { return }
        backlog.held[entry].flags.insert(.stored)
        let kept = backlog.held[entry].notification
        let notification = backlog.held.notification(at: kept)
        if !backlog.held.isStored(at: kept) {
            let left = Self.timeLeft(until: notification.expiresAt, time)
            effects.changes.append(
                .notification(NotificationRecord(notification: notification, timeToLive: left)))
        }
        backlog.held.noteStored(at: kept)
        let (serial, sequence) = (registry.observers[slot].serial, notification.sequence)
        let action = backlog.held[entry].flags.contains(.action) ? backlog.heldActions[entry] : nil
        effects.changes.append(
            action.map { .action(ActionRecord($0, responder: serial, sequence: sequence)) }
                ?? .held(observer: serial, sequence: sequence))
    }

    /// Adds an entry behind all that wait for its client.
    mutating func addWaiting(_ entry: UInt32, of client: UInt32) {
        backlog.held.append(entry, to: &registry.clients[client].held)
    }

    /// Adds an entry behind all that its client was sent and has not acknowledged.
    mutating func addUnacknowledged(_ entry: UInt32, of client: UInt32) {
        backlog.held.append(entry, to: &registry.clients[client].debt.entries)
        backlog.held[entry].flags.insert(.unacknowledged)
        registry.observers[backlog.held[entry].observer].debt.count += 1
        if backlog.held[entry].flags.contains(.replayed) {
            registry.observers[backlog.held[entry].observer].replayedCount -= 1
        }
    }

    /// Removes an entry from those that wait for its client.
    mutating func removeWaiting(_ entry: UInt32, of client: UInt32) {
        backlog.held.remove(entry, from: &registry.clients[client].held)
    }

    /// Removes an entry that its client must acknowledge; it may be below its limit afterwards.
    private mutating func removeUnacknowledged(_ entry: UInt32, of client: UInt32) {
        let slot = backlog.held[entry].observer
        backlog.held.remove(entry, from: &registry.clients[client].debt.entries)
        registry.observers[slot].debt.count -= 1
        if registry.observers[slot].debt.isTooMuch, !owesTooMuch(slot) {
            registry.observers[slot].debt.isTooMuch = false
            registry.clients[client].debt.owingCount -= 1
        }
        if registry.clients[client].debt.isTooMuch, !clientOwesTooMuch(client) {
            registry.clients[client].debt.isTooMuch = false
        }
    }

    /// Keeps a notification, before another one or as the newest, and notes its end.
    mutating func keep(
        _ notification: Notification, before next: UInt32 = HeldTable.none
    ) -> UInt32 {
        let kept = backlog.held.keep(notification, before: next)
        noteExpiry(of: kept)
        return kept
    }

    /// Notes the time at which a held notification expires.
    mutating func noteExpiry(of kept: UInt32) {
        let notification = backlog.held.notification(at: kept)
        guard notification.expiresAt != .max else { return }
        addDeadline(
            at: notification.expiresAt, .expiry(sequence: notification.sequence, kept: kept))
    }

    /// Drops the oldest held notifications past the limits of an observer and its client (rule D7).
    mutating func keepLimits(of slot: UInt32, _ effects: inout Effects) {
        let client = registry.observers[slot].client
        // Bound: overflow
        while registry.observers[slot].limitedCount > registry.observers[slot].terms.holdLimit {
            guard let oldest = firstDroppable(of: slot) else { break }
            lose(oldest, .overflow, &effects)
        }
        // Bound: overflow
        while registry.clients[client].held.list.count > limits.clientHeldCountLimit
            || registry.clients[client].held.byteCount > limits.clientHeldByteLimit
        {
            guard loseOldest(of: client, &effects) else { break }
        }
    }

    /// Drops the oldest droppable notification of a client; a mark is not, as nothing else is left.
    mutating func loseOldest(of client: UInt32, _ effects: inout Effects) -> Bool {
        var oldest = registry.clients[client].held.list.first
        while oldest != HeldTable.none, isMark(oldest) {  // Bound: overflow
            oldest = backlog.held.next(after: oldest, in: .client)
        }
        guard oldest != HeldTable.none else { return false }
        lose(oldest, .overflow, &effects)
        return true
    }

    /// The oldest entry of an observer that its own limit may drop.
    private func firstDroppable(of slot: UInt32) -> UInt32? {
        var entry = registry.observers[slot].entries.first
        while entry != HeldTable.none {  // Bound: overflow
            if backlog.held[entry].flags.isDisjoint(with: [.unacknowledged, .replayed]) {
                return entry
            }
            entry = backlog.held.next(after: entry, in: .observer)
        }
        return nil
    }

    /// Drops a held notification of its observer: it is counted, and a gap will report it (law 3).
    mutating func lose(_ entry: UInt32, _ reason: Gap.Reason, _ effects: inout Effects) {
        let slot = backlog.held[entry].observer
        if isOfValue(slot) {
            markHeld(of: slot, reason, &effects)
            return
        }
        let notification = backlog.held.notification(of: entry)
        let flags = backlog.held[entry].flags
        if flags.contains(.shown) {
            // It was shown: it is only lost if the reader asks for it again.
            registry.observers[slot].mailbox.forgottenThrough = max(
                registry.observers[slot].mailbox.forgottenThrough, notification.sequence)
            noteObserver(slot, &effects)
        } else {
            if reason != .coalesced { registry.observers[slot].tally.dropped += 1 }
            noteGap(reason, notification.sequence, at: slot, &effects)
        }
        switch backlog.held[entry].account {
        case .none, .delivered:
            break
        case .held:
            recount(notification.id, report(of: entry, .dropped)) {
                $0.held -= 1
                $0.dropped += 1
            }
        case .coalesced:
            recount(notification.id, report(of: entry, .dropped)) {
                $0.coalesced -= 1
                $0.dropped += 1
            }
        }
        unlink(entry, &effects)
    }

    /// Removes an entry from all lists, and its notification with the last holder.
    mutating func unlink(_ entry: UInt32, _ effects: inout Effects) {
        let slot = backlog.held[entry].observer
        let client = registry.observers[slot].client
        let kept = backlog.held[entry].notification
        let flags = backlog.held[entry].flags
        let notification = backlog.held.notification(at: kept)
        if flags.contains(.unacknowledged) {
            removeUnacknowledged(entry, of: client)
        } else {
            removeWaiting(entry, of: client)
            if flags.contains(.replayed) { registry.observers[slot].replayedCount -= 1 }
        }
        backlog.held.remove(entry, from: &registry.observers[slot].entries, in: .observer)
        if isMark(entry) { values.observers[slot]?.mark = HeldTable.none }
        if flags.contains(.replaceable) {
            let kind = ObservedKind(observer: registry.observers[slot].serial, notification.content)
            if backlog.replaceable[kind] == entry { backlog.replaceable[kind] = nil }
        }
        if flags.contains(.stored) {
            let (serial, sequence) = (registry.observers[slot].serial, notification.sequence)
            let action = flags.contains(.action) ? backlog.heldActions[entry] : nil
            effects.changes.append(
                action.map { .actionReleased(row: $0.row, sequence: sequence) }
                    ?? .released(observer: serial, sequence: sequence))
            backlog.held.noteReleased(at: kept)
            // It may have other holders, which end with their connection.
            if !backlog.held.isStored(at: kept) {
                effects.changes.append(.notificationReleased(sequence: notification.sequence))
            }
        }
        count(entry: entry, -1)
        if flags.contains(.action) { backlog.heldActions[entry] = nil }
        guard backlog.held.free(entry) else { return }
        if dispatching.kept == kept { dispatching.kept = HeldTable.none }
        backlog.held.discard(kept)
    }

    /// Drops the oldest notifications, a share of them, until no more than so many bytes are held.
    mutating func trimHeld(to byteCount: Int, _ effects: inout Effects) {
        var kept = backlog.held.oldest
        var left = Work.reportShare
        // Share: trim
        while backlog.held.byteCount > byteCount, kept != HeldTable.none, left > 0 {
            left -= Work.ofEnd * backlog.held.holders(at: kept).count
            let next = backlog.held.next(after: kept)
            let following = backlog.held.keptNotification(at: next)
            for entry in backlog.entries(of: kept)  // Bound: ends
            where !backlog.held[entry].flags.contains(.unacknowledged) {
                lose(entry, .overflow, &effects)
            }
            // All that an observer of a value holds is lost at once, maybe the next one too: start
            // again.
            let isThere = backlog.held.keptNotification(at: next) == following
            kept = isThere ? next : backlog.held.oldest
        }
    }

    // MARK: What must last

    /// Whether the store keeps the state of an observer.
    func isLasting(_ slot: UInt32) -> Bool {
        limits.isDurable && registry.observers[slot].isLasting
    }

    /// The time that is left; nil for an end that never comes.
    static func timeLeft(until end: Int64, _ time: CommandTime) -> Int64? {
        end == .max ? nil : max(0, end - time.monotonicNanoseconds)
    }
}
