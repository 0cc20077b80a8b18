import BelfryJSON

// The marks of observers of values (rules V6 and V8 to V10): `ObservedValue` has the machine.

extension NotificationCenter {
    /// Whether an observer is one of a value.
    @inline(__always)
    func isOfValue(_ slot: UInt32) -> Bool { values.isUsed && values.isObserver(slot) }

    /// Whether an entry is a mark: it has no content, and stands for the present value.
    @inline(__always)
    func isMark(_ entry: UInt32) -> Bool {
        values.isUsed && values.observers[backlog.held[entry].observer]?.mark == entry
    }

    /// Whether an entry is a present value, whose number is not its own.
    ///
    /// It is a mark of no change, or the first entry of an observer.
    func isPresent(_ entry: UInt32) -> Bool {
        guard entry != HeldTable.none, isOfValue(backlog.held[entry].observer) else { return false }
        let slot = backlog.held[entry].observer
        return isMark(entry)
            ? values.observers[slot]?.markIsChange == false
            : backlog.held.sequence(of: entry) <= registry.observers[slot].since
    }

    /// Holds a change for an observer of a value, or marks it.
    ///
    /// - Parameter isReplaceable: Whether it coalesces now, for suspension or for its interval.
    mutating func holdChange(
        _ notification: Notification, at slot: UInt32, isReplaceable: Bool, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let isMarked = values.observers[slot]?.isMarked ?? false
        if isReplaceable || isMarked || registry.observers[slot].terms.minInterval > 0 {
            mark(slot, notification, isChange: true, &effects)
            return isMarked ? .coalesced : .held
        }
        let entry = makeEntry(
            notification, at: slot, account: .none, flags: [], time, &effects)
        addWaiting(entry, of: registry.observers[slot].client)
        keepLimits(of: slot, &effects)
        return .held
    }

    /// Marks an observer at the place of a change, behind all that is held for its client.
    private mutating func mark(
        _ slot: UInt32, _ notification: Notification, isChange: Bool, isRedelivered: Bool = false,
        _ effects: inout Effects
    ) {
        dropMark(of: slot, &effects)
        addWaiting(
            makeMark(slot, notification, isChange: isChange, isRedelivered: isRedelivered),
            of: registry.observers[slot].client)
    }

    /// Makes the entry of a mark, which is in no list of its client yet.
    private mutating func makeMark(
        _ slot: UInt32, _ notification: Notification, isChange: Bool, isRedelivered: Bool = false
    ) -> UInt32 {
        let place = Notification(
            id: notification.id, sequence: notification.sequence,
            postedAt: notification.postedAt, causedBy: nil,
            content: content(at: values.observers[slot]?.value ?? 0, nil))
        // One change marks many observers at one place.
        dispatching.keptMark = backlog.held.again(dispatching.keptMark, place) ?? keep(place)
        let entry = backlog.held.make(
            HeldTable.Entry(
                observer: slot, notification: dispatching.keptMark, account: .none))
        if isRedelivered { backlog.held[entry].flags.insert(.redelivered) }
        backlog.held.append(entry, to: &registry.observers[slot].entries, in: .observer)
        count(entry: entry, 1)
        values.observers[slot]?.mark = entry
        values.observers[slot]?.markIsChange = isChange
        // A change has a number of its own.
        values.observers[slot]?.present.isBorrowed = false
        return entry
    }

    /// Removes the mark of an observer for a later one: the change that it stood for is lost.
    private mutating func dropMark(of slot: UInt32, _ effects: inout Effects) {
        guard let observed = values.observers[slot], observed.isMarked else { return }
        if observed.markIsChange, let reason = registry.reasonOfLoss(at: slot) {
            loseChange(observed.mark, reason, &effects)
        }
        unlink(observed.mark, &effects)
    }

    /// Counts a change that was held for an observer as lost; one that was shown is no loss.
    private mutating func loseChange(
        _ entry: UInt32, _ reason: Gap.Reason, _ effects: inout Effects
    ) {
        let slot = backlog.held[entry].observer
        guard !backlog.held[entry].flags.contains(.shown) else { return }
        if reason == .coalesced {
            registry.observers[slot].tally.coalesced += 1
        } else {
            registry.observers[slot].tally.dropped += 1
        }
        noteGap(reason, backlog.held.sequence(of: entry), at: slot, &effects)
    }

    /// Replaces the held changes of an observer by one mark, at the place of the last (rule V9).
    ///
    /// - Returns: Whether it has changed anything: a mark alone stays as it is.
    @discardableResult
    mutating func markHeld(
        of slot: UInt32, _ reason: Gap.Reason, _ effects: inout Effects
    ) -> Bool {
        let entries = backlog.held.slots(of: registry.observers[slot].entries, in: .observer)
        guard let last = entries.last, entries.count > 1 || !isMark(last) else { return false }
        let client = registry.observers[slot].client
        let isLastOfClient = registry.clients[client].held.list.last == last
        let notification = backlog.held.notification(of: last)
        let isRedelivered = backlog.held[last].flags.contains(.redelivered)
        let isInitial = isPresent(last)
        for entry in entries {  // Bound: list
            if entry != last, !isMark(entry) || values.observers[slot]?.markIsChange == true {
                loseChange(entry, reason, &effects)
            }
            unlink(entry, &effects)
        }
        let mark = makeMark(
            slot, notification, isChange: !isInitial, isRedelivered: isRedelivered)
        values.observers[slot]?.present.isBorrowed = isInitial
        if isLastOfClient {
            addWaiting(mark, of: client)
        } else {
            registry.clients[client].held.byteCount += backlog.held.byteCount(of: mark)
            relink(
                backlog.held.slots(of: registry.clients[client].held.list, in: .client) + [mark],
                of: client)
        }
        return true
    }

    /// The notification of an entry as it is shown now: a mark has the present value.
    func shown(_ entry: UInt32) -> Notification {
        let notification = backlog.held.notification(of: entry)
        guard isMark(entry) else { return notification }
        let slot = backlog.held[entry].observer
        return Notification(
            id: notification.id, sequence: notification.sequence, postedAt: notification.postedAt,
            causedBy: nil,
            content: content(
                at: values.observers[slot]?.value ?? 0,
                DocumentChange.initialText(values.presentValue(for: slot))))
    }

    /// The position of a notification among those of the effects; a value's also has its key path.
    mutating func position(
        of notification: Notification, at slot: UInt32, _ effects: inout Effects
    ) -> UInt32 {
        guard values.isUsed, let path = values.observers[slot]?.pathText else {
            return position(of: notification, &effects)
        }
        let last = UInt32(truncatingIfNeeded: effects.notifications.count &- 1)
        if effects.notifications.last == notification, effects.keyPaths[last] == path {
            return last
        }
        return effects.append(notification, keyPath: path)
    }

    // MARK: The present value

    /// Sends new observers of values the present value first, behind their registration (rule V6).
    ///
    /// - Parameter since: The last number that the client has seen, if it names one: then only
    ///   changed values are sent (rule V10). Of that number itself the first of its observers has
    ///   had its frame, and the connection may have ended behind it.
    mutating func tellPresent(
        _ slots: [UInt32], since: UInt64?, at time: CommandTime, _ effects: inout Effects
    ) {
        var wasTold = false
        for slot in slots {  // Bound: client
            guard let observed = values.observers[slot] else { continue }
            if let since {
                let mayDiffer = mayHaveChanged(above: since, at: slot)
                let isOfNumber = values.changedSequence(for: slot) == since
                defer { wasTold = wasTold || mayDiffer || isOfNumber }
                // A client that has seen nothing of this life may have seen a value of another one.
                guard since == 0 || mayDiffer || isOfNumber && wasTold else { continue }
            } else if !observed.terms.sendsInitial {
                continue
            }
            tellPresent(slot, observed, at: time, &effects)
        }
    }

    /// Sends a new observer the present value before all else.
    private mutating func tellPresent(
        _ slot: UInt32, _ observed: ObservedValue, at time: CommandTime, _ effects: inout Effects
    ) {
        let notification = Notification(
            id: madeID(registry.observers[slot].serial, at: time), sequence: history.sequence,
            postedAt: time.wallMilliseconds, causedBy: nil,
            content: content(
                at: observed.value,
                DocumentChange.initialText(values.presentValue(for: slot))))
        let client = registry.observers[slot].client
        let isSuspended = !registry.clients[client].suspension.isDisjoint(with: .suspended)
        if isSuspended, registry.observers[slot].terms.suspensionBehavior == .coalesce {
            mark(slot, notification, isChange: false, &effects)
            values.observers[slot]?.present.isBorrowed = true
            return
        }
        dispatching.kept = HeldTable.none
        let entry = makeEntry(
            notification, at: slot, account: .none, flags: [], time, &effects)
        dispatching.kept = HeldTable.none
        values.observers[slot]?.present.isBorrowed = true
        addWaiting(entry, of: client)
        keepLimits(of: slot, &effects)
        guard registry.clients[client].suspension.isDisjoint(with: [.suspended, .mailbox]) else {
            return
        }
        // Nothing overtakes it, and it does not overtake the answer.
        registry.clients[client].suspension.insert(.flushing)
        effects.notices.append(
            .flushFollows(
                client: registry.clients[client].id, connection: registry.clients[client].connection
            ))
    }

    /// Whether an observer's value may differ from the one that a client saw at a number.
    func mayHaveChanged(above sequence: UInt64, at slot: UInt32) -> Bool {
        guard values.isObserver(slot) else { return false }
        // After a crash a client may have seen a change that was never stored (rule V15).
        if values.storedNumbers.mayBeLost(sequence) { return true }
        return values.changedSequence(for: slot) > sequence
    }

    /// Marks the observers of a returning client whose value may have changed meanwhile (rule V10).
    ///
    /// The frames of one number come in the order of registration, and the connection may have
    /// ended between them: for the number that the client names, the first of its observers has had
    /// its frame, and others may not.
    mutating func renewValues(
        of client: UInt32, after: UInt64?, at time: CommandTime, _ effects: inout Effects
    ) {
        let hasAll = after.flatMap { registry.lastWritten[client]?.isSeen(by: $0) } ?? false
        var wasTold = false
        for slot in registry.observerSlots(of: client) {  // Bound: client
            guard var present = values.observers[slot]?.present else { continue }
            let isRestored = present.isRestored
            let isInDoubt = present.mayBeMissing(after: after)
            present.isRestored = false
            values.observers[slot]?.present = present
            let isMissed =
                isRestored
                ? mayHaveMissed(slot, after, hasAll: hasAll, &wasTold)
                : wasWritten(slot, after, hasAll: hasAll, &wasTold)
            guard isMissed || isInDoubt else { continue }
            markPresent(slot, isRedelivered: isRestored || isInDoubt, at: time, &effects)
            // The number that its client has named does not prove the arrival of the next frame.
            let changed = values.changedSequence(for: slot)
            values.observers[slot]?.present.isBorrowed = after.map { changed <= $0 } ?? true
        }
    }

    /// Whether a restored observer may have another value than the present one.
    ///
    /// It is unknown what a client has seen of an earlier life unless it names a number.
    private func mayHaveMissed(
        _ slot: UInt32, _ after: UInt64?, hasAll: Bool, _ wasTold: inout Bool
    ) -> Bool {
        guard let after, after >= registry.observers[slot].since else { return true }
        if mayHaveChanged(above: after, at: slot) {
            // A later change hides whether it was sent this one.
            wasTold = true
            return true
        }
        if hasAll { return false }
        // The answer had `since`, too, and the connection may have ended behind that.
        if registry.observers[slot].since == after,
            values.observers[slot]?.terms.sendsInitial == true
        {
            return true
        }
        let isTold = values.changedSequence(for: slot) == after
        defer { wasTold = wasTold || isTold }
        return isTold && wasTold
    }

    /// Whether an observer was written something that its client may not have seen.
    private func wasWritten(
        _ slot: UInt32, _ after: UInt64?, hasAll: Bool, _ wasTold: inout Bool
    ) -> Bool {
        guard let after, after <= history.sequence, !hasAll else { return false }
        let written = registry.observers[slot].writtenThrough
        defer { wasTold = wasTold || written >= after }
        return written > after || written == after && wasTold
    }

    /// Marks an observer that may have missed a change, at the place of the last one.
    mutating func markPresent(
        _ slot: UInt32, isRedelivered: Bool, at time: CommandTime, _ effects: inout Effects
    ) {
        let client = registry.observers[slot].client
        let changed = values.changedSequence(for: slot)
        var place = Notification(
            id: madeID(registry.observers[slot].serial, at: time), sequence: changed,
            postedAt: time.wallMilliseconds, causedBy: nil,
            content: content(at: values.observers[slot]?.value ?? 0, nil))
        // Bound: list
        for entry in backlog.held.slots(of: registry.observers[slot].entries, in: .observer) {
            // All held changes but the last are reported as lost: the present value replaces them.
            let notification = backlog.held.notification(of: entry)
            if notification.sequence < changed, !isMark(entry) {
                loseChange(entry, .coalesced, &effects)
            }
            if notification.sequence >= place.sequence { place = notification }
            unlink(entry, &effects)
        }
        let entry = makeMark(slot, place, isChange: false, isRedelivered: isRedelivered)
        registry.clients[client].held.byteCount += backlog.held.byteCount(of: entry)
        relink(
            backlog.held.slots(of: registry.clients[client].held.list, in: .client) + [entry],
            of: client)
    }
}
