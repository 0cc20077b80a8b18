// What is kept for observers that cannot have it now: within limits, and nothing is lost in silence.

/// One kind of notification for one observer: what coalescing under suspension compares (rule D6).
struct ObservedKind: Hashable, Sendable {
    /// The serial number of the observer.
    let observer: UInt64
    let name: [UInt8]
    let object: [UInt8]?

    init(observer: UInt64, _ content: Notification.Content) {
        self.observer = observer
        name = [UInt8](copying: content.name)
        if let object = content.object {
            self.object = [UInt8](copying: object)
        } else {
            object = nil
        }
    }
}

extension NotificationCenter {
    /// Holds a notification for an observer; a replaceable one takes the place of an earlier one of
    /// its kind, at its own place in the order (rule D6).
    ///
    /// With a `minInterval` the last of a kind wins, whatever the behaviour.
    mutating func hold(
        _ notification: Notification, at slot: UInt32, isReplaceable: Bool, _ time: CommandTime,
        _ effects: inout Effects
    ) -> ReportRow.Outcome {
        let client = observers[slot].client
        let isPaced = observers[slot].terms.minInterval > 0
        var outcome = ReportRow.Outcome.held
        var flags: HeldTable.Flags = []
        var kind: ObservedKind?
        var notBefore = Int64.min
        if isReplaceable || isPaced {
            let wanted = ObservedKind(observer: observers[slot].serial, notification.content)
            kind = wanted
            flags.insert(.replaceable)
            if isPaced { notBefore = paces[wanted] ?? .min }
            if let older = replaceable[wanted] {
                outcome = .coalesced
                observers[slot].coalesced += 1
                lose(older, .coalesced, &effects)
            }
        }
        // It is in no account yet: what it is counted as is decided by whether there is room for it.
        let entry = makeEntry(
            notification, at: slot, account: .none, flags: flags, notBefore: notBefore, time,
            &effects)
        held.append(entry, to: &clients[client].held, in: .client)
        if let kind { replaceable[kind] = entry }
        keepLimits(of: slot, &effects)
        guard observers[slot].entries.last == entry else { return .dropped }
        held[entry].account = outcome == .held ? .held : .coalesced
        return outcome
    }

    /// Makes an entry in the lists of its notification and its observer.
    mutating func makeEntry(
        _ notification: Notification, at slot: UInt32, account: HeldTable.Account,
        flags: HeldTable.Flags, notBefore: Int64 = .min, _ time: CommandTime,
        _ effects: inout Effects
    ) -> UInt32 {
        if dispatching.kept == HeldTable.none { dispatching.kept = keep(notification) }
        let kept = dispatching.kept
        var flags = flags
        if notification.isRestored { flags.insert(.redelivered) }
        if isLasting(slot) {
            flags.insert(.stored)
            if !held.isStored(at: kept) {
                held.noteStored(at: kept)
                let left = Self.timeLeft(until: notification.expiresAt, time)
                effects.changes.append(
                    .notification(
                        NotificationRecord(notification: notification, timeToLive: left)))
            }
            effects.changes.append(
                .held(observer: observers[slot].serial, sequence: notification.sequence))
        }
        let entry = held.make(
            HeldTable.Entry(
                observer: slot, notification: kept, account: account, flags: flags,
                notBefore: notBefore))
        held.append(entry, to: &observers[slot].entries, in: .observer)
        clients[observers[slot].client].heldByteCount += notification.content.byteCount
        return entry
    }

    /// Keeps a notification, and notes when it must go.
    mutating func keep(_ notification: Notification) -> UInt32 {
        let kept = held.keep(notification)
        if notification.expiresAt != .max {
            addDeadline(
                at: notification.expiresAt, .expiry(sequence: notification.sequence, kept: kept))
        }
        return kept
    }

    /// Drops the oldest of what is held past the limits of an observer and its client (rule D7).
    private mutating func keepLimits(of slot: UInt32, _ effects: inout Effects) {
        let client = observers[slot].client
        while observers[slot].heldCount > observers[slot].terms.holdLimit {
            guard let oldest = firstDroppable(of: slot) else { break }
            lose(oldest, .overflow, &effects)
        }
        while clients[client].held.count > limits.clientHeldCountLimit
            || clients[client].heldByteCount > limits.clientHeldByteLimit
        {
            let oldest = clients[client].held.first
            guard oldest != HeldTable.none else { break }
            lose(oldest, .overflow, &effects)
        }
    }

    /// The oldest entry of an observer that its own limit may drop.
    private func firstDroppable(of slot: UInt32) -> UInt32? {
        var entry = observers[slot].entries.first
        while entry != HeldTable.none {
            if held[entry].flags.isDisjoint(with: [.unacknowledged, .replayed]) { return entry }
            entry = held.next(after: entry, in: .observer)
        }
        return nil
    }

    /// Loses a held notification for its observer: it is counted, and a gap will tell it (law 3).
    mutating func lose(_ entry: UInt32, _ reason: Gap.Reason, _ effects: inout Effects) {
        let slot = held[entry].observer
        let notification = held.notification(of: entry)
        let flags = held[entry].flags
        if flags.contains(.shown) {
            // It was shown: it is only lost if the reader asks for it again.
            observers[slot].forgottenThrough = max(
                observers[slot].forgottenThrough, notification.sequence)
        } else {
            if reason != .coalesced { observers[slot].dropped += 1 }
            noteGap(reason, notification.sequence, at: slot, &effects)
        }
        switch held[entry].account {
        case .none, .delivered:
            break
        case .held:
            recount(notification.id, observer: observers[slot].serial, outcome: .dropped) {
                $0.held -= 1
                $0.dropped += 1
            }
        case .coalesced:
            recount(notification.id, observer: observers[slot].serial, outcome: .dropped) {
                $0.coalesced -= 1
                $0.dropped += 1
            }
        }
        unlink(entry, &effects)
    }

    /// Takes an entry out of all lists; the notification goes with its last holder.
    mutating func unlink(_ entry: UInt32, _ effects: inout Effects) {
        let slot = held[entry].observer
        let client = observers[slot].client
        let kept = held[entry].notification
        let flags = held[entry].flags
        let notification = held.notification(at: kept)
        if flags.contains(.unacknowledged) {
            held.remove(entry, from: &clients[client].unacknowledged, in: .client)
            observers[slot].unacknowledgedCount -= 1
            if observers[slot].owes,
                observers[slot].unacknowledgedCount < limits.unacknowledgedLimit
            {
                observers[slot].owes = false
                clients[client].owingCount -= 1
            }
        } else {
            held.remove(entry, from: &clients[client].held, in: .client)
        }
        held.remove(entry, from: &observers[slot].entries, in: .observer)
        clients[client].heldByteCount -= notification.content.byteCount
        if flags.contains(.replaceable) {
            let kind = ObservedKind(observer: observers[slot].serial, notification.content)
            if replaceable[kind] == entry { replaceable[kind] = nil }
        }
        if flags.contains(.stored) {
            effects.changes.append(
                .released(observer: observers[slot].serial, sequence: notification.sequence))
        }
        guard held.free(entry) else { return }
        if held.isStored(at: kept) {
            effects.changes.append(.notificationReleased(sequence: notification.sequence))
        }
        if dispatching.kept == kept { dispatching.kept = HeldTable.none }
        held.discard(kept)
    }

    /// Drops the oldest notifications until no more than so many bytes are held.
    mutating func trimHeld(to byteCount: Int, _ effects: inout Effects) {
        var kept = held.oldest
        while held.byteCount > byteCount, kept != HeldTable.none {
            let next = held.next(after: kept)
            for entry in held.slots(of: held.holders(at: kept), in: .notification)
            where !held[entry].flags.contains(.unacknowledged) {
                lose(entry, .overflow, &effects)
            }
            kept = next
        }
    }

    // MARK: Losses

    /// Notes that an observer lost a notification; it is told as soon as its client is live.
    mutating func noteGap(
        _ reason: Gap.Reason, _ sequence: UInt64, at slot: UInt32, _ effects: inout Effects
    ) {
        let gap = GapRecord(reason: reason, count: 1, first: sequence, last: sequence)
        noteGap(gap, at: slot, &effects)
    }

    mutating func noteGap(_ gap: GapRecord, at slot: UInt32, _ effects: inout Effects) {
        let sum = add(gap, at: slot)
        // A post that holds nothing is not stored, so neither is what it did not hold.
        if isLasting(slot), gap.reason != .dropped {
            effects.changes.append(.gap(observer: observers[slot].serial, sum))
        }
    }

    /// Joins a loss with what was lost for the same reason before; tells the sum.
    @discardableResult
    mutating func add(_ gap: GapRecord, at slot: UInt32) -> GapRecord {
        let client = observers[slot].client
        if observers[slot].gaps.isEmpty { clients[client].gapCount += 1 }
        let place = observers[slot].gaps.firstIndex { $0.reason == gap.reason }
        var sum = gap
        if let place {
            let known = observers[slot].gaps[place]
            sum.first = min(known.first, gap.first)
            sum.last = max(known.last, gap.last)
            if let count = known.count, let more = gap.count {
                sum.count = count + more
            } else {
                sum.count = nil
            }
            observers[slot].gaps[place] = sum
        } else {
            observers[slot].gaps.append(sum)
        }
        return sum
    }

    /// Tells the losses of a client's observers: one gap an observer and reason.
    mutating func tellGaps(of client: UInt32, _ effects: inout Effects) {
        guard clients[client].gapCount > 0, !clients[client].suspension.contains(.mailbox) else {
            return
        }
        let route = clients.route(at: client)
        for slot in observers.slots(from: clients[client].lastObserver) {
            for gap in observers[slot].gaps {
                effects.notices.append(
                    .gap(
                        connection: route.connection, transport: route.transport,
                        self.gap(gap, at: slot)))
            }
            forgetGaps(of: slot, &effects)
        }
    }

    func gap(_ gap: GapRecord, at slot: UInt32) -> Gap {
        Gap(
            observer: observers[slot].serial,
            selector: selectors.text(of: observers[slot].selector), lostCount: gap.count,
            firstSequence: gap.first, lastSequence: gap.last, reason: gap.reason)
    }

    mutating func forgetGaps(of slot: UInt32, _ effects: inout Effects) {
        guard !observers[slot].gaps.isEmpty else { return }
        if isLasting(slot) {
            for gap in observers[slot].gaps {
                effects.changes.append(
                    .gap(
                        observer: observers[slot].serial,
                        GapRecord(reason: gap.reason, count: 0, first: 0, last: 0)))
            }
        }
        observers[slot].gaps = []
        clients[observers[slot].client].gapCount -= 1
    }

    // MARK: Pace

    /// When a notification may be written at the earliest, if that is not now.
    func pace(_ notification: Notification, at slot: UInt32, _ time: CommandTime) -> Int64? {
        let kind = ObservedKind(observer: observers[slot].serial, notification.content)
        guard let start = paces[kind], start > time.monotonicNanoseconds else { return nil }
        return start
    }

    /// The interval of a kind starts again, for one of it is written.
    mutating func startPace(_ notification: Notification, at slot: UInt32, _ time: CommandTime) {
        guard observers[slot].terms.minInterval > 0 else { return }
        let now = time.monotonicNanoseconds
        if paces.count > 1_024, paces.count > 2 * livePaceCount {
            paces = paces.filter { $0.value > now }
            livePaceCount = paces.count
        }
        let kind = ObservedKind(observer: observers[slot].serial, notification.content)
        paces[kind] = now.adding(observers[slot].terms.minInterval)
    }

    // MARK: What must last

    /// Whether the store keeps what happens to an observer.
    func isLasting(_ slot: UInt32) -> Bool { limits.isDurable && observers[slot].isLasting }

    /// What is left of a time; nil of one that never comes.
    static func timeLeft(until end: Int64, _ time: CommandTime) -> Int64? {
        end == .max ? nil : max(0, end - time.monotonicNanoseconds)
    }
}
