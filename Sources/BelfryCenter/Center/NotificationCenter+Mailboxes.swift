// Mailboxes: observers without a connection. Everything is kept until a reader acknowledges it.

extension NotificationCenter {
    /// Files a notification for an observer of a mailbox, or drops it.
    mutating func file(
        _ notification: Notification, at slot: UInt32, isImmediate: Bool, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = observers[slot].client
        let isSuspended = !clients[client].suspension.isDisjoint(with: .suspended)
        let behavior = observers[slot].terms.suspensionBehavior
        if isSuspended, behavior == .drop, !isImmediate {
            observers[slot].dropped += 1
            noteGap(.dropped, notification.sequence, at: slot, &effects)
            return .dropped
        }
        let isReplaceable = isSuspended && behavior == .coalesce && !isImmediate
        let outcome = hold(
            notification, at: slot, isReplaceable: isReplaceable, time, &effects)
        guard !isSuspended, outcome != .dropped else { return outcome }
        return tellReader(of: slot, outcome, time, &effects)
    }

    /// Reports the entry that was filed last to the reader of a mailbox.
    ///
    /// For its account it is delivered; for the mailbox it waits to be acknowledged.
    mutating func tellReader(
        of slot: UInt32, _ outcome: ReportRow.Outcome, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        guard let reader = observers[slot].reader else { return outcome }
        let entry = observers[slot].entries.last
        if observers[slot].readerIsStream {
            let previous = held.previous(before: entry, in: .observer)
            let isNext =
                previous == HeldTable.none
                || held.sequence(of: previous) <= observers[slot].streamedThrough
            // Entries that wait for room go first, when there is room.
            if isNext { streamOn(slotOf: slot, at: time, &effects) }
            return held[entry].flags.contains(.shown) ? .delivered : outcome
        }
        effects.notices.append(
            .mailboxFilled(connection: reader, observer: observers[slot].serial))
        held[entry].account = .delivered
        held[entry].flags.insert(.shown)
        _ = observers.noteDelivery(at: slot, time.wallMilliseconds)
        return .delivered
    }

    /// Reads a mailbox: acknowledges everything up to a number, and lets the caller wait for more.
    mutating func readMailbox(
        _ serial: UInt64, through: UInt64?, wait: ConnectionName?, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        // A number above all others would acknowledge notifications that are still to come.
        let through = through.map { min($0, sequence) }
        try lookInto(serial, through: through, at: time, &effects)
        guard let wait, let page = mailbox(of: serial, after: through ?? 0, limit: 1),
            page.isEmpty
        else { return }
        try attachReader(serial, wait, isStream: false, at: time, &effects)
        effects.outcome = .waiting
    }

    private mutating func lookInto(
        _ serial: UInt64, through: UInt64?, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        let slot = try mailboxSlot(serial)
        observers[slot].lookedAt = time.monotonicNanoseconds
        noteLook(atClient: observers[slot].client, at: time, &effects)
        scheduleLeases(of: observers[slot].client, at: time)
        showHeld(of: observers[slot].client, at: time, &effects)
        let start = through ?? observers[slot].acknowledgedThrough
        if observers[slot].forgottenThrough > start {
            let gap = GapRecord(
                reason: .overflow, count: nil, first: start + 1,
                last: observers[slot].forgottenThrough)
            observers[slot].forgottenThrough = 0
            noteGap(gap, at: slot, &effects)
            noteObserver(slot, &effects)
        }
        let through = readPresent(at: slot, through, at: time, &effects)
        guard let through, through > observers[slot].acknowledgedThrough else { return }
        observers[slot].acknowledgedThrough = min(through, sequence)
        while observers[slot].entries.first != HeldTable.none {  // Bound: dequeue
            let entry = observers[slot].entries.first
            guard held.sequence(of: entry) <= through, !isPresent(entry) else { break }
            acknowledge(entry, at: slot, time, &effects)
        }
        forgetGaps(of: slot, through: through, &effects)
        noteObserver(slot, &effects)
    }

    /// Acknowledges a present value when a look after the one that showed it names its number.
    ///
    /// It has no number of its own.
    ///
    /// - Returns: The number up to which the mailbox was read, which is lower than the look says as
    ///   long as the present value was not shown.
    private mutating func readPresent(
        at slot: UInt32, _ through: UInt64?, at time: CommandTime, _ effects: inout Effects
    ) -> UInt64? {
        let entry = observers[slot].entries.first
        guard isPresent(entry) else { return through }
        let number = held.sequence(of: entry)
        if held[entry].flags.contains(.shown) {
            if let through, through >= number { acknowledge(entry, at: slot, time, &effects) }
            return through
        }
        held[entry].flags.insert(.shown)
        return through.map { $0 < number ? $0 : max(number, 1) - 1 }
    }

    /// Acknowledges an entry of a mailbox: for its account it has arrived.
    private mutating func acknowledge(
        _ entry: UInt32, at slot: UInt32, _ time: CommandTime, _ effects: inout Effects
    ) {
        let id = held.notification(of: entry).id
        let account = held[entry].account
        switch account {
        case .delivered: break
        case .none:
            // A change has no account, and an entry from a store has none any more (rule C19).
            if !held[entry].flags.contains(.shown) {
                _ = observers.noteDelivery(at: slot, time.wallMilliseconds)
            }
        case .held, .coalesced:
            _ = observers.noteDelivery(at: slot, time.wallMilliseconds)
            recount(id, report(of: entry, .delivered)) { receipt in
                if account == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
                receipt.delivered += 1
            }
        }
        held[entry].account = .none
        tally[.acknowledgements] += 1
        unlink(entry, &effects)
    }

    private func mailboxSlot(_ serial: UInt64) throws(Refusal) -> UInt32 {
        guard let slot = observers.slot(of: serial) else {
            if let tombstone = tombstones[serial] { throw .observerRemoved(tombstone) }
            throw .unknownObserver
        }
        guard clients[observers[slot].client].transport == .mailbox else { throw .noMailbox }
        return slot
    }

    // MARK: Readers

    /// Attaches a poll or a stream that waits from now on; an earlier one must go.
    mutating func attachReader(
        _ serial: UInt64, _ connection: ConnectionName, isStream: Bool, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        let slot = try mailboxSlot(serial)
        let client = observers[slot].client
        if let earlier = observers[slot].reader {
            effects.notices.append(
                .readerReplaced(
                    connection: earlier, isStream: observers[slot].readerIsStream))
            endStream(of: slot)
        } else {
            clients[client].readerCount += 1
        }
        observers[slot].reader = connection
        observers[slot].readerIsStream = isStream
        observers[slot].lookedAt = time.monotonicNanoseconds
        noteLook(atClient: client, at: time, &effects)
        change(client, at: time) { $0.remove(.disconnected) }
        showHeld(of: client, at: time, &effects)
        guard isStream else { return }
        let first = observers[slot].entries.first
        if isPresent(first), held[first].flags.contains(.shown) {
            held[first].flags.remove(.shown)
            held[first].flags.insert(.redelivered)
        }
        observers[slot].streamedThrough = 0
        observers[slot].hasNewGap = true
        streamOn(slotOf: slot, at: time, &effects)
    }

    /// Detaches a poll or a stream that has ended.
    mutating func detachReader(
        _ serial: UInt64, _ connection: ConnectionName, at time: CommandTime
    ) {
        guard let slot = observers.slot(of: serial), observers[slot].reader == connection
        else { return }
        let client = observers[slot].client
        endStream(of: slot)
        observers[slot].reader = nil
        observers[slot].lookedAt = time.monotonicNanoseconds
        noteReaderGone(from: client, at: time)
        scheduleLeases(of: client, at: time)
    }

    /// Counts one reader of a mailbox less; without any it is disconnected.
    mutating func noteReaderGone(from client: UInt32, at time: CommandTime) {
        clients[client].readerCount -= 1
        guard clients[client].readerCount == 0 else { return }
        change(client, at: time) { suspension in
            suspension.insert(.disconnected)
            suspension.remove(.slow)
        }
        clients[client].disconnectedSince = time.monotonicNanoseconds
    }

    /// Marks the deliveries of a stream that were not acknowledged as redelivered.
    private mutating func endStream(of slot: UInt32) {
        guard observers[slot].readerIsStream else { return }
        var entry = observers[slot].entries.first
        while entry != HeldTable.none, held[entry].flags.contains(.shown) {  // Bound: list
            held[entry].flags.insert(.redelivered)
            entry = held.next(after: entry, in: .observer)
        }
        for ask in asks.shown(to: observers[slot].serial)  // Bound: list
        where asks[ask].sequence <= observers[slot].streamedThrough {
            asks.noteRedelivery(ask)
        }
    }

    /// Continues all streams of a mailbox.
    mutating func streamOn(_ client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        guard clients[client].readerCount > 0 else { return }
        for slot in observers.slots(from: clients[client].lastObserver)  // Bound: client
        where observers[slot].reader != nil && observers[slot].readerIsStream {
            streamOn(slotOf: slot, at: time, &effects)
        }
    }

    /// Sends a stream the unsent entries of its mailbox, up to the limit of bytes.
    mutating func streamOn(slotOf slot: UInt32, at time: CommandTime, _ effects: inout Effects) {
        let client = observers[slot].client
        guard clients[client].suspension.isDisjoint(with: .suspended) else { return }
        tellStreamGaps(of: slot, &effects)
        var byteCount = 0
        var entry = firstUnstreamed(of: slot)
        while true {  // Share: held
            // Actions of one post share a number: a stream ends its step before or behind all of
            // them.
            let isFull = byteCount >= limits.flushByteLimit && !isStreamed(entry, at: slot)
            // An ask has its place among them by its number.
            let ask = asks.firstShown(
                to: observers[slot].serial, above: observers[slot].streamedThrough)
            if let ask, entry == HeldTable.none || asks[ask].sequence < held.sequence(of: entry) {
                if isFull { return goOnLater(slot, &effects) }
                byteCount += asks[ask].byteCount + Self.frameByteCount
                observers[slot].streamedThrough = asks[ask].sequence
                writeAsk(ask, to: slot, at: time, &effects)
                continue
            }
            if entry == HeldTable.none { return }
            let next = held.next(after: entry, in: .observer)
            let notification = usesValues ? shown(entry) : held.notification(of: entry)
            if isFull { return goOnLater(slot, &effects) }
            byteCount += notification.content.byteCount + Self.frameByteCount
            show(entry, notification, at: slot, time, &effects)
            entry = next
        }
    }

    /// Lets a stream continue when its socket has room.
    private func goOnLater(_ slot: UInt32, _ effects: inout Effects) {
        effects.notices.append(
            .flushGoesOn(
                client: clients[observers[slot].client].id,
                connection: observers.readerName(at: slot)))
    }

    /// Sends a stream the losses of its observer, until its reader acknowledges them.
    private mutating func tellStreamGaps(of slot: UInt32, _ effects: inout Effects) {
        guard observers[slot].hasNewGap else { return }
        observers[slot].hasNewGap = false
        for gap in observers[slot].gaps {  // Bound: gaps
            effects.notices.append(
                .gap(
                    connection: observers.readerName(at: slot), transport: .ofMailboxStreams,
                    self.gap(gap, at: slot)))
        }
    }

    /// The first entry that the stream was not sent; mostly the last of all.
    private func firstUnstreamed(of slot: UInt32) -> UInt32 {
        let last = observers[slot].entries.last
        guard last != HeldTable.none, !isStreamed(last, at: slot) || isNew(last, at: slot) else {
            return HeldTable.none
        }
        var first = last
        while true {  // Bound: list
            let previous = held.previous(before: first, in: .observer)
            guard previous != HeldTable.none, !isStreamed(previous, at: slot) else { return first }
            first = previous
        }
    }

    /// Whether a stream was sent the number of an entry.
    private func isStreamed(_ entry: UInt32, at slot: UInt32) -> Bool {
        guard entry != HeldTable.none else { return false }
        let through = observers[slot].streamedThrough
        // In a center that has dispatched nothing there is no number below that of a present value.
        return held.sequence(of: entry) <= through
            && (through > 0 || held[entry].flags.contains(.shown))
    }

    /// Whether an action was filed just now behind others of the same post.
    private func isNew(_ entry: UInt32, at slot: UInt32) -> Bool {
        held[entry].flags.contains(.action) && held[entry].flags.isDisjoint(with: .shown)
            && held.sequence(of: entry) == observers[slot].streamedThrough
    }

    private mutating func show(
        _ entry: UInt32, _ notification: Notification, at slot: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) {
        let account = held[entry].account
        let isRedelivered = held[entry].flags.contains(.redelivered)
        observers[slot].streamedThrough = notification.sequence
        held[entry].flags.insert(.shown)
        if held[entry].flags.contains(.action), let action = heldActions[entry] {
            write(action, notification, to: slot, isRedelivered: isRedelivered, at: time, &effects)
        } else {
            write(
                position(of: notification, at: slot, &effects), to: slot,
                form: isOfValue(slot) ? .change : .named, isRedelivered: isRedelivered, time,
                &effects)
        }
        guard account == .held || account == .coalesced else { return }
        held[entry].account = .delivered
        // A notification that is being dispatched is counted by its outcome.
        guard !(dispatching.isActive && dispatching.id == notification.id) else { return }
        recount(notification.id, report(of: entry, .delivered)) { receipt in
            if account == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
            receipt.delivered += 1
        }
    }

    /// The content of an observer's mailbox above a sequence number; looking removes nothing.
    ///
    /// - Returns: nil when there is no such observer, or when it belongs to no mailbox.
    public func mailbox(of serial: UInt64, after: UInt64, limit: Int) -> MailboxPage? {
        guard let slot = observers.slot(of: serial),
            clients[observers[slot].client].transport == .mailbox
        else { return nil }
        var page = MailboxPage()
        page.gaps = observers[slot].gaps.map { gap($0, at: slot) }
        // A reader that has not read the present value has read nothing, whatever number it names.
        let isUnread = isPresent(observers[slot].entries.first)
        page.next = isUnread ? 0 : after
        var byteCount = 0
        var entry = observers[slot].entries.first
        var open = asks.shown(to: serial)[...]
        while true {  // Bound: list
            let element: MailboxPage.Element
            // An ask has its place among them by its number.
            if let ask = open.first, let notification = asks[ask].notification,
                entry == HeldTable.none || notification.sequence < held.sequence(of: entry)
            {
                open.removeFirst()
                element = MailboxPage.Element(
                    notification: notification, isRedelivered: asks[ask].isRedelivered,
                    addressed: asks[ask].addressed)
            } else if entry != HeldTable.none {
                element = MailboxPage.Element(
                    notification: shown(entry),
                    isRedelivered: held[entry].flags.contains(.redelivered),
                    addressed: held[entry].flags.contains(.action)
                        ? heldActions[entry]?.addressed : nil,
                    keyPath: values.observers[slot]?.pathText)
                entry = held.next(after: entry, in: .observer)
            } else {
                break
            }
            guard isUnread || element.notification.sequence > after else { continue }
            // Actions of one post share a number: a page ends before or behind all of them.
            if element.notification.sequence != page.elements.last?.notification.sequence,
                page.elements.count >= max(limit, 1) || byteCount >= Self.mailboxPageByteLimit
            {
                return page
            }
            page.elements.append(element)
            page.next = element.notification.sequence
            byteCount += element.notification.content.byteCount
        }
        // The last page includes the gaps.
        for gap in page.gaps { page.next = max(page.next, gap.lastSequence) }  // Bound: gaps
        return page
    }

    /// The most bytes of notifications in a page, without those of its last one.
    static let mailboxPageByteLimit = 1 << 20
}
