// What a registration alone decides: leases, losses, readers of mailboxes.

extension ObserverRegistry {
    /// The end of an observer's lease after its connection.
    func leaseEnd(of slot: UInt32) -> Int64 {
        guard let lease = observers[slot].terms.lease else { return .max }
        let client = observers[slot].client
        if clients[client].suspension.contains(.mailbox) {
            return observers[slot].mailbox.unreadSince?.adding(lease) ?? .max
        }
        guard clients[client].suspension.contains(.disconnected) else { return .max }
        return clients[client].disconnectedSince.adding(lease)
    }

    /// Whether a flush of immediate notifications has ended.
    ///
    /// The rest waits for a busy responder, and holds up nothing (rule R14).
    func isFlushed(_ client: UInt32) -> Bool {
        clients[client].held.list.isEmpty
            || clients[client].immediateSequence == 0
    }

    /// The gap of a loss, as its observer gets it.
    func gap(_ gap: GapRecord, at slot: UInt32) -> Gap {
        Gap(
            observer: observers[slot].serial,
            selector: selectors.text(of: observers[slot].selector),
            lostCount: gap.count,
            firstSequence: gap.first, lastSequence: gap.last, reason: gap.reason)
    }

    /// Adds a loss to those of its reason, and returns the sum.
    @discardableResult
    mutating func addGap(_ gap: GapRecord, at slot: UInt32) -> GapRecord {
        let (sum, newLoser) = observers.add(gap, at: slot)
        if let newLoser { clients[newLoser].gapCount += 1 }
        return sum
    }

    /// The slot of an observer that belongs to a mailbox.
    func mailboxSlot(_ serial: UInt64) throws(Refusal) -> UInt32 {
        guard let slot = observers.slot(of: serial) else {
            if let tombstone = tombstones[serial] { throw .observerRemoved(tombstone) }
            throw .unknownObserver
        }
        guard clients[observers[slot].client].transport == .mailbox else {
            throw .noMailbox
        }
        return slot
    }

    /// The reason why a marked observer loses its change; nil for an interval, which reports none.
    func reasonOfLoss(at slot: UInt32) -> Gap.Reason? {
        let isSuspended =
            !clients[observers[slot].client].suspension.isDisjoint(
                with: .suspended)
        let terms = observers[slot].terms
        if terms.minInterval > 0, !isSuspended { return nil }
        return terms.suspensionBehavior == .coalesce || terms.minInterval > 0
            ? .coalesced : .overflow
    }

    /// The method of a frame: that of a responder is the name.
    @inline(__always)
    func selector(of slot: UInt32, for notification: Notification) -> UInt32 {
        guard observers.isResponder(at: slot) else {
            return observers[slot].selector
        }
        return selectors.number(of: notification.content.name)
            ?? observers[slot].selector
    }
}
