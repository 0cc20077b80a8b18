// What happens because time has passed: leases, intervals, deadlines and times to live end.

extension NotificationCenter {
    /// Something that is due at a time.
    enum Deadline: Sendable {
        /// Observers of a disconnected client may have outlived it for long enough.
        case lease(client: UInt64, at: Int64)
        /// A held notification is too old.
        case expiry(sequence: UInt64, kept: UInt32)
        /// The interval of something that is held for a client is over.
        case pace(client: UInt64)
        /// A poster has waited for long enough.
        case wait(slot: UInt32, ordinal: UInt64)
    }

    /// When a `passTime` command is due next, on the monotonic clock in nanoseconds.
    @inline(__always)
    public var nextDeadline: Int64? {
        var next = deadlines.next
        if let time = queue.nextDeadline { next = min(next ?? time, time) }
        if let time = modeStack.nextDeadline { next = min(next ?? time, time) }
        if let time = keys.nextDeadline { next = min(next ?? time, time) }
        return next
    }

    /// Notes that something is due at a time.
    ///
    /// What ended before its time leaves its deadline behind: now and then those are swept out.
    mutating func addDeadline(at time: Int64, _ deadline: Deadline) {
        deadlines.add(at: time, key: deadline)
        guard deadlines.isSparse(livingCount: livingDeadlineCount) else { return }
        var swept = DeadlineHeap<Deadline>()
        swap(&swept, &deadlines)
        swept.compact { isAlive($0) }
        swap(&swept, &deadlines)
        livingDeadlineCount = max(deadlines.count, 512)
    }

    private func isAlive(_ deadline: Deadline) -> Bool {
        switch deadline {
        case .lease(let id, let time):
            clients.slot(of: id).map { clients[$0].leaseCheckAt == time } ?? false
        case .expiry(let sequence, let kept): held.isKept(kept, sequence: sequence)
        case .pace(let id):
            clients.slot(of: id).map { clients[$0].suspension.contains(.paced) } ?? false
        case .wait(let slot, let ordinal): waiting.isWaiting(slot, ordinal: ordinal)
        }
    }

    /// Lets everything happen that is due.
    mutating func passTime(at time: CommandTime, _ effects: inout Effects) {
        let now = time.monotonicNanoseconds
        while let deadline = deadlines.popDue(at: now) {
            switch deadline {
            case .lease(let client, let due): endLeases(of: client, due: due, at: time, &effects)
            case .expiry(let sequence, let kept): expire(sequence, kept, &effects)
            case .pace(let id):
                if let client = clients.slot(of: id), clients[client].suspension.contains(.paced) {
                    settle(client, at: time, &effects)
                }
            case .wait(let slot, let ordinal): endWaiting(slot, ordinal: ordinal, &effects)
            }
        }
        if modeStack.passTime(now) { queue.enter(mode: modeStack.current) }
        let (promoted, expired) = queue.passTime(now)
        for entry in promoted { noteQueued(entry.id, at: time, &effects) }
        for entry in expired {
            noteDequeued(entry.id, &effects)
            fates.update(entry.id) { $0.state = .expired }
        }
        forgetKeys(keys.trim(at: now, limits: limits), &effects)
    }

    /// A held notification is too old for all who still hold it.
    private mutating func expire(_ sequence: UInt64, _ kept: UInt32, _ effects: inout Effects) {
        guard held.isKept(kept, sequence: sequence) else { return }
        for entry in held.slots(of: held.holders(at: kept), in: .notification)
        where !held[entry].flags.contains(.unacknowledged) {
            lose(entry, .expired, &effects)
        }
    }

    // MARK: Leases

    /// Notes when the observers of a client must be looked at next.
    mutating func scheduleLeases(of client: UInt32, at time: CommandTime) {
        var next = Int64.max
        for slot in observers.slots(from: clients[client].lastObserver) {
            next = min(next, leaseEnd(of: slot))
        }
        guard next != .max else { return }
        if limits.isDurable {
            next = min(next, time.monotonicNanoseconds.adding(Self.noteInterval))
        }
        guard next < clients[client].leaseCheckAt else { return }
        clients[client].leaseCheckAt = next
        addDeadline(at: next, .lease(client: clients[client].id, at: next))
    }

    /// How often the store is told how long a client has been away: what remains of a lease is kept.
    static let noteInterval: Int64 = 60_000_000_000

    /// When an observer has outlived its connection for as long as it may.
    private func leaseEnd(of slot: UInt32) -> Int64 {
        guard let lease = observers[slot].terms.lease else { return .max }
        let client = observers[slot].client
        if clients[client].suspension.contains(.mailbox) {
            return observers[slot].reader == 0 ? observers[slot].lookedAt.adding(lease) : .max
        }
        guard clients[client].suspension.contains(.disconnected) else { return .max }
        return clients[client].disconnectedSince.adding(lease)
    }

    /// Removes the observers of a client whose leases have ended, if one had when it was to be looked at:
    /// a look to note how long it is away comes before what ended earlier, of other clients.
    private mutating func endLeases(
        of id: UInt64, due: Int64, at time: CommandTime, _ effects: inout Effects
    ) {
        guard let client = clients.slot(of: id), clients[client].leaseCheckAt <= due else { return }
        clients[client].leaseCheckAt = .max
        let slots = observers.slots(from: clients[client].lastObserver)
        let hasEnded = slots.contains { leaseEnd(of: $0) <= due }
        for slot in slots where hasEnded && leaseEnd(of: slot) <= time.monotonicNanoseconds {
            let serial = observers[slot].serial
            _ = remove(slot, by: .broker, reason: .expired, at: time, &effects)
            reports.append(.expired(observer: serial, client: id))
        }
        guard !leaveIfEmpty(client, "expired", at: time, &effects) else { return }
        noteClient(client, at: time, &effects)
        scheduleLeases(of: client, at: time)
    }

    /// Lets a client go that has no connection and nothing that lasts.
    mutating func leaveIfEmpty(
        _ client: UInt32, _ reason: StaticString, at time: CommandTime, _ effects: inout Effects
    ) -> Bool {
        guard clients[client].observerCount == 0,
            !clients[client].suspension.isDisjoint(with: [.disconnected, .mailbox])
        else { return false }
        reports.append(.left(client: clients[client].id, reason))
        forget(client, at: time, &effects)
        return true
    }
}
