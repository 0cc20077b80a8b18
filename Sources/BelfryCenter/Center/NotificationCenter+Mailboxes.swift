// Mailboxes: observers without a connection. Everything is kept until a reader acknowledges it.

extension NotificationCenter {
    /// Files a notification for an observer of a mailbox, or drops it.
    mutating func file(
        _ notification: Notification, at slot: UInt32, isImmediate: Bool, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = registry.observers[slot].client
        let isSuspended = !registry.clients[client].suspension.isDisjoint(with: .suspended)
        let behavior = registry.observers[slot].terms.suspensionBehavior
        if isSuspended, behavior == .drop, !isImmediate {
            registry.observers[slot].tally.dropped += 1
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
        guard let reader = registry.observers[slot].mailbox.reader else { return outcome }
        let entry = registry.observers[slot].entries.last
        if registry.observers[slot].mailbox.readerIsStream {
            let previous = backlog.held.previous(before: entry, in: .observer)
            let isNext =
                previous == HeldTable.none
                || backlog.held.sequence(of: previous)
                    <= registry.observers[slot].mailbox.streamedThrough
            // Entries that wait for room go first, when there is room.
            if isNext { streamOn(slotOf: slot, at: time, &effects) }
            return backlog.held[entry].flags.contains(.shown) ? .delivered : outcome
        }
        effects.notices.append(
            .mailboxFilled(connection: reader, observer: registry.observers[slot].serial))
        backlog.held[entry].account = .delivered
        backlog.held[entry].flags.insert(.shown)
        _ = registry.observers.noteDelivery(at: slot, time.wallMilliseconds)
        return .delivered
    }

    /// Reads a mailbox: acknowledges everything up to a number, and lets the caller wait for more.
    mutating func readMailbox(
        _ serial: UInt64, through: UInt64?, wait: ConnectionName?, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        // A number above all others would acknowledge notifications that are still to come.
        let through = through.map { min($0, history.sequence) }
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
        let slot = try registry.mailboxSlot(serial)
        registry.observers[slot].mailbox.lookedAt = time.monotonicNanoseconds
        noteLook(atClient: registry.observers[slot].client, at: time, &effects)
        scheduleLeases(of: registry.observers[slot].client, at: time)
        showHeld(of: registry.observers[slot].client, at: time, &effects)
        let start = through ?? registry.observers[slot].mailbox.acknowledgedThrough
        if registry.observers[slot].mailbox.forgottenThrough > start {
            let gap = GapRecord(
                reason: .overflow, count: nil, first: start + 1,
                last: registry.observers[slot].mailbox.forgottenThrough)
            registry.observers[slot].mailbox.forgottenThrough = 0
            noteGap(gap, at: slot, &effects)
            noteObserver(slot, &effects)
        }
        let through = readPresent(at: slot, through, at: time, &effects)
        guard let through, through > registry.observers[slot].mailbox.acknowledgedThrough else {
            return
        }
        registry.observers[slot].mailbox.acknowledgedThrough = min(through, history.sequence)
        while registry.observers[slot].entries.first != HeldTable.none {  // Bound: dequeue
            let entry = registry.observers[slot].entries.first
            guard backlog.held.sequence(of: entry) <= through, !isPresent(entry) else { break }
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
        let entry = registry.observers[slot].entries.first
        guard isPresent(entry) else { return through }
        let number = backlog.held.sequence(of: entry)
        if backlog.held[entry].flags.contains(.shown) {
            if let through, through >= number { acknowledge(entry, at: slot, time, &effects) }
            return through
        }
        backlog.held[entry].flags.insert(.shown)
        return through.map { $0 < number ? $0 : max(number, 1) - 1 }
    }

    /// Acknowledges an entry of a mailbox: for its account it has arrived.
    private mutating func acknowledge(
        _ entry: UInt32, at slot: UInt32, _ time: CommandTime, _ effects: inout Effects
    ) {
        let id = backlog.held.notification(of: entry).id
        let account = backlog.held[entry].account
        switch account {
        case .delivered: break
        case .none:
            // A change has no account, and an entry from a store has none any more (rule C19).
            if !backlog.held[entry].flags.contains(.shown) {
                _ = registry.observers.noteDelivery(at: slot, time.wallMilliseconds)
            }
        case .held, .coalesced:
            _ = registry.observers.noteDelivery(at: slot, time.wallMilliseconds)
            recount(id, report(of: entry, .delivered)) { receipt in
                if account == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
                receipt.delivered += 1
            }
        }
        backlog.held[entry].account = .none
        tally[.acknowledgements] += 1
        unlink(entry, &effects)
    }

    // MARK: Readers

    /// Attaches a poll or a stream that waits from now on; an earlier one must go.
    mutating func attachReader(
        _ serial: UInt64, _ connection: ConnectionName, isStream: Bool, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        let slot = try registry.mailboxSlot(serial)
        let client = registry.observers[slot].client
        if let earlier = registry.observers[slot].mailbox.reader {
            effects.notices.append(
                .readerReplaced(
                    connection: earlier, isStream: registry.observers[slot].mailbox.readerIsStream))
            endStream(of: slot)
        } else {
            registry.clients[client].readerCount += 1
        }
        registry.observers[slot].mailbox.attach(
            connection, isStream: isStream, at: time.monotonicNanoseconds)
        noteLook(atClient: client, at: time, &effects)
        change(client, at: time) { $0.remove(.disconnected) }
        showHeld(of: client, at: time, &effects)
        guard isStream else { return }
        let first = registry.observers[slot].entries.first
        if isPresent(first), backlog.held[first].flags.contains(.shown) {
            backlog.held[first].flags.remove(.shown)
            backlog.held[first].flags.insert(.redelivered)
        }
        registry.observers[slot].mailbox.streamedThrough = 0
        registry.observers[slot].mailbox.hasNewGap = true
        streamOn(slotOf: slot, at: time, &effects)
    }

    /// Detaches a poll or a stream that has ended.
    mutating func detachReader(
        _ serial: UInt64, _ connection: ConnectionName, at time: CommandTime
    ) {
        guard let slot = registry.observers.slot(of: serial),
            registry.observers[slot].mailbox.reader == connection
        else { return }
        let client = registry.observers[slot].client
        endStream(of: slot)
        registry.observers[slot].mailbox.detach(at: time.monotonicNanoseconds)
        noteReaderGone(from: client, at: time)
        scheduleLeases(of: client, at: time)
    }

    /// Marks the deliveries of a stream that were not acknowledged as redelivered.
    private mutating func endStream(of slot: UInt32) {
        guard registry.observers[slot].mailbox.readerIsStream else { return }
        var entry = registry.observers[slot].entries.first
        while entry != HeldTable.none, backlog.held[entry].flags.contains(.shown) {  // Bound: list
            backlog.held[entry].flags.insert(.redelivered)
            entry = backlog.held.next(after: entry, in: .observer)
        }
        for ask in asks.open.shown(to: registry.observers[slot].serial)  // Bound: list
        where asks.open[ask].sequence <= registry.observers[slot].mailbox.streamedThrough {
            asks.open.noteRedelivery(ask)
        }
    }

    /// Continues all streams of a mailbox.
    mutating func streamOn(_ client: UInt32, at time: CommandTime, _ effects: inout Effects) {
        guard registry.clients[client].readerCount > 0 else { return }
        for slot in registry.observerSlots(of: client)  // Bound: client
        where registry.observers[slot].mailbox.stream != nil {
            streamOn(slotOf: slot, at: time, &effects)
        }
    }

    /// Sends a stream the unsent entries of its mailbox, up to the limit of bytes.
    mutating func streamOn(slotOf slot: UInt32, at time: CommandTime, _ effects: inout Effects) {
        let client = registry.observers[slot].client
        guard registry.clients[client].suspension.isDisjoint(with: .suspended) else { return }
        tellStreamGaps(of: slot, &effects)
        var byteCount = 0
        var entry = firstUnstreamed(of: slot)
        while true {  // Share: held
            // Actions of one post share a number: a stream ends its step before or behind all of
            // them.
            let isFull = byteCount >= limits.flushByteLimit && !isStreamed(entry, at: slot)
            // An ask has its place among them by its number.
            let ask = asks.open.firstShown(
                to: registry.observers[slot].serial,
                above: registry.observers[slot].mailbox.streamedThrough)
            if let ask,
                entry == HeldTable.none
                    || asks.open[ask].sequence < backlog.held.sequence(of: entry)
            {
                if isFull { return goOnLater(slot, &effects) }
                byteCount += asks.open[ask].byteCount + Self.frameByteCount
                registry.observers[slot].mailbox.streamedThrough = asks.open[ask].sequence
                writeAsk(ask, to: slot, at: time, &effects)
                continue
            }
            if entry == HeldTable.none { return }
            let next = backlog.held.next(after: entry, in: .observer)
            let notification = values.isUsed ? shown(entry) : backlog.held.notification(of: entry)
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
                client: registry.clients[registry.observers[slot].client].id,
                connection: registry.observers.readerName(at: slot)))
    }

    /// Sends a stream the losses of its observer, until its reader acknowledges them.
    private mutating func tellStreamGaps(of slot: UInt32, _ effects: inout Effects) {
        guard registry.observers[slot].mailbox.hasNewGap else { return }
        registry.observers[slot].mailbox.hasNewGap = false
        for gap in registry.observers[slot].gaps {  // Bound: gaps
            effects.notices.append(
                .gap(
                    connection: registry.observers.readerName(at: slot),
                    transport: .ofMailboxStreams,
                    registry.gap(gap, at: slot)))
        }
    }

    /// The first entry that the stream was not sent; mostly the last of all.
    private func firstUnstreamed(of slot: UInt32) -> UInt32 {
        let last = registry.observers[slot].entries.last
        guard last != HeldTable.none, !isStreamed(last, at: slot) || isNew(last, at: slot) else {
            return HeldTable.none
        }
        var first = last
        while true {  // Bound: list
            let previous = backlog.held.previous(before: first, in: .observer)
            guard previous != HeldTable.none, !isStreamed(previous, at: slot) else { return first }
            first = previous
        }
    }

    /// Whether a stream was sent the number of an entry.
    private func isStreamed(_ entry: UInt32, at slot: UInt32) -> Bool {
        guard entry != HeldTable.none else { return false }
        let through = registry.observers[slot].mailbox.streamedThrough
        // In a center that has dispatched nothing there is no number below that of a present value.
        return backlog.held.sequence(of: entry) <= through
            && (through > 0 || backlog.held[entry].flags.contains(.shown))
    }

    /// Whether an action was filed just now behind others of the same post.
    private func isNew(_ entry: UInt32, at slot: UInt32) -> Bool {
        backlog.held[entry].flags.contains(.action)
            && backlog.held[entry].flags.isDisjoint(with: .shown)
            && backlog.held.sequence(of: entry) == registry.observers[slot].mailbox.streamedThrough
    }

    private mutating func show(
        _ entry: UInt32, _ notification: Notification, at slot: UInt32, _ time: CommandTime,
        _ effects: inout Effects
    ) {
        let account = backlog.held[entry].account
        let isRedelivered = backlog.held[entry].flags.contains(.redelivered)
        registry.observers[slot].mailbox.streamedThrough = notification.sequence
        backlog.held[entry].flags.insert(.shown)
        if backlog.held[entry].flags.contains(.action), let action = backlog.heldActions[entry] {
            write(action, notification, to: slot, isRedelivered: isRedelivered, at: time, &effects)
        } else {
            write(
                position(of: notification, at: slot, &effects), to: slot,
                form: isOfValue(slot) ? .change : .named, isRedelivered: isRedelivered, time,
                &effects)
        }
        guard account == .held || account == .coalesced else { return }
        backlog.held[entry].account = .delivered
        // A notification that is being dispatched is counted by its outcome.
        guard !(dispatching.isActive && dispatching.id == notification.id) else { return }
        recount(notification.id, report(of: entry, .delivered)) { receipt in
            if account == .held { receipt.held -= 1 } else { receipt.coalesced -= 1 }
            receipt.delivered += 1
        }
    }

    /// Counts one reader of a mailbox less; without any it is disconnected.
    mutating func noteReaderGone(from client: UInt32, at time: CommandTime) {
        registry.clients[client].readerCount -= 1
        guard registry.clients[client].readerCount == 0 else { return }
        change(client, at: time) { suspension in
            suspension.insert(.disconnected)
            suspension.remove(.slow)
        }
        registry.clients[client].disconnectedSince = time.monotonicNanoseconds
    }

    /// The content of an observer's mailbox above a sequence number; looking removes nothing.
    ///
    /// - Returns: nil when there is no such observer, or when it belongs to no mailbox.
    public func mailbox(of serial: UInt64, after: UInt64, limit: Int) -> MailboxPage? {
        guard let slot = registry.observers.slot(of: serial),
            registry.clients[registry.observers[slot].client].transport == .mailbox
        else { return nil }
        var page = MailboxPage()
        page.gaps = registry.observers[slot].gaps.map { registry.gap($0, at: slot) }
        // A reader that has not read the present value has read nothing, whatever number it names.
        let isUnread = isPresent(registry.observers[slot].entries.first)
        page.next = isUnread ? 0 : after
        var byteCount = 0
        var entry = registry.observers[slot].entries.first
        var open = asks.open.shown(to: serial)[...]
        while true {  // Bound: list
            let element: MailboxPage.Element
            // An ask has its place among them by its number.
            if let ask = open.first, let notification = asks.open[ask].notification,
                entry == HeldTable.none || notification.sequence < backlog.held.sequence(of: entry)
            {
                open.removeFirst()
                element = MailboxPage.Element(
                    notification: notification, isRedelivered: asks.open[ask].isRedelivered,
                    addressed: asks.open[ask].addressed)
            } else if entry != HeldTable.none {
                element = MailboxPage.Element(
                    notification: shown(entry),
                    isRedelivered: backlog.held[entry].flags.contains(.redelivered),
                    addressed: backlog.held[entry].flags.contains(.action)
                        ? backlog.heldActions[entry]?.addressed : nil,
                    keyPath: values.observers[slot]?.pathText)
                entry = backlog.held.next(after: entry, in: .observer)
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
