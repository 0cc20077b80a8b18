// The effects of passing time: leases, intervals, deadlines and times to live end.

extension NotificationCenter {
    /// An event that is due at a time.
    enum Deadline: Sendable {
        /// Observers of a disconnected client may have outlived it for long enough.
        case lease(client: UInt64, at: Int64)
        /// A held notification expires.
        case expiry(sequence: UInt64, kept: UInt32)
        /// The interval of a held notification of a client is over.
        case pace(client: UInt64)
        /// A poster has waited for long enough.
        case wait(slot: UInt32, ordinal: UInt64)
        /// The time of an ask is over.
        case ask(slot: UInt32, ordinal: UInt64)
        /// The asker has waited for long enough, and gets a 202.
        case asked(slot: UInt32, ordinal: UInt64)

        /// The time of a place of a value is over.
        case part(slot: UInt32, ordinal: UInt64)

        /// The order of events that are due at one time.
        var rank: UInt64 {
            switch self {
            case .lease(let client, _): client
            case .expiry(let sequence, _): 1 << 62 | sequence
            case .pace(let client): 2 << 62 | client
            case .wait(_, let ordinal): 3 << 62 | ordinal
            case .ask(_, let ordinal): 3 << 62 | 1 << 61 | ordinal
            case .asked(_, let ordinal): 3 << 62 | 3 << 60 | ordinal
            case .part(_, let ordinal): 3 << 62 | 1 << 60 | ordinal
            }
        }
    }

    /// The next `passTime` command, on the monotonic clock in nanoseconds.
    @inline(__always)
    public var nextDeadline: Int64? {
        var next = deadlines.next
        if let time = queue.nextDeadline { next = min(next ?? time, time) }
        if let time = modeStack.nextDeadline { next = min(next ?? time, time) }
        if let time = keys.nextDeadline { next = min(next ?? time, time) }
        if usesAsks, let time = askFates.nextDeadline { next = min(next ?? time, time) }
        return next
    }

    /// Adds a deadline.
    ///
    /// An event that ended early leaves its deadline behind: now and then those are removed.
    mutating func addDeadline(at time: Int64, _ deadline: Deadline) {
        deadlines.add(at: time, rank: deadline.rank, key: deadline)
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
        case .ask(let slot, let ordinal): asks.isOpen(slot, ordinal: ordinal)
        case .asked(let slot, let ordinal):
            asks.isOpen(slot, ordinal: ordinal) && !asks[slot].waiters.isEmpty
        case .part(let slot, let ordinal): values.parts.isAlive(slot, ordinal: ordinal)
        }
    }

    /// Lets due events happen, the earliest first, until so much work is done.
    ///
    /// The next call continues. A call ends between two deadlines: the events of one client,
    /// notification or poster are not divided. The queue follows when none of them is left, and
    /// then the keys.
    mutating func passTime(workLimit: Int, at time: CommandTime, _ effects: inout Effects) {
        let now = time.monotonicNanoseconds
        if modeStack.passTime(now) { queue.enter(mode: modeStack.current) }
        var work = 0
        var lookCount = 0
        while lookCount < workLimit.adding(Work.vainLookLimit),  // Share: time
            let deadline = deadlines.firstDue(at: now),
            work == 0 || work < workLimit || !isWork(deadline)
        {
            _ = deadlines.popDue(at: now)
            lookCount += 1
            work += meet(deadline, at: time, &effects)
        }
        if deadlines.isDue(at: now) { return }
        let (promoted, expired) = queue.passTime(now)
        for entry in promoted { noteQueued(entry.id, at: time, &effects) }  // Bound: expiry
        for entry in expired {  // Bound: expiry
            noteDequeued(entry.id, &effects)
            fates.update(entry.id) { $0.state = .expired }
        }
        let keyLimit = max(1, (workLimit - min(work, workLimit)) / Work.ofEnd)
        forgetKeys(keys.passTime(now, limit: keyLimit), &effects)
        forgetAsks(askFates.passTime(now, limit: keyLimit), &effects)
        if usesTimers {
            fireTimers(workLimit: workLimit - min(work, workLimit), at: time, &effects)
        }
    }

    /// Whether a due deadline has any effect.
    ///
    /// A deadline without one keeps neither the queue nor the keys waiting.
    private func isWork(_ deadline: Deadline) -> Bool {
        switch deadline {
        case .lease(let id, let due):
            guard let client = clients.slot(of: id), clients[client].leaseCheckAt <= due else {
                return false
            }
            return observers.slots(from: clients[client].lastObserver)
                .contains { leaseEnd(of: $0) <= due }
        case .expiry(let sequence, let kept):
            return held.isKept(kept, sequence: sequence)
                && held.slots(of: held.holders(at: kept), in: .notification)
                    .contains { !held[$0].flags.contains(.unacknowledged) }
        case .pace, .wait, .ask, .asked: return isAlive(deadline)
        case .part(let slot, let ordinal): return isDue(slot, ordinal: ordinal, at: lastTime)
        }
    }

    /// Handles a deadline, and returns the work that it was.
    private mutating func meet(
        _ deadline: Deadline, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        switch deadline {
        case .lease(let client, let due):
            return endLeases(of: client, due: due, at: time, &effects)
        case .expiry(let sequence, let kept):
            return expire(sequence, kept, &effects)
        case .pace(let id):
            guard let client = clients.slot(of: id), clients[client].suspension.contains(.paced)
            else { return 0 }
            let deliveryCount = effects.deliveries.count
            settle(client, at: time, &effects)
            return Work.ofEnd + effects.deliveries.count - deliveryCount
        case .wait(let slot, let ordinal):
            return endWaiting(slot, ordinal: ordinal, &effects)
        case .ask(let slot, let ordinal):
            return expireAsk(slot, ordinal: ordinal, at: time, &effects)
        case .asked(let slot, let ordinal):
            return endWaitingForAsk(slot, ordinal: ordinal, &effects)
        case .part(let slot, let ordinal):
            return endPart(slot, ordinal: ordinal, at: time, &effects)
        }
    }

    /// Expires a held notification for all its holders; returns the work that it was.
    private mutating func expire(
        _ sequence: UInt64, _ kept: UInt32, _ effects: inout Effects
    ) -> Int {
        guard held.isKept(kept, sequence: sequence) else { return 0 }
        var count = 0
        for entry in held.slots(of: held.holders(at: kept), in: .notification)  // Bound: ends
        where !held[entry].flags.contains(.unacknowledged) {
            lose(entry, .expired, &effects)
            count += 1
        }
        return count * Work.ofEnd
    }

    // MARK: Leases

    /// Notes the next check of a client's leases.
    mutating func scheduleLeases(of client: UInt32, at time: CommandTime) {
        var next = Int64.max
        for slot in observers.slots(from: clients[client].lastObserver) {  // Bound: client
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

    /// The interval at which the store gets a client's time away, so that leases survive a restart.
    static let noteInterval: Int64 = 60_000_000_000

    /// The end of an observer's lease after its connection.
    func leaseEnd(of slot: UInt32) -> Int64 {
        guard let lease = observers[slot].terms.lease else { return .max }
        let client = observers[slot].client
        if clients[client].suspension.contains(.mailbox) {
            return observers[slot].reader == nil ? observers[slot].lookedAt.adding(lease) : .max
        }
        guard clients[client].suspension.contains(.disconnected) else { return .max }
        return clients[client].disconnectedSince.adding(lease)
    }

    /// Removes observers of a client whose leases are over, if one was at the time of the check.
    ///
    /// Otherwise the check only notes how long the client is away, and earlier ends of other
    /// clients come first.
    ///
    /// - Returns: The work that it was. Its reports are posted to all observers.
    private mutating func endLeases(
        of id: UInt64, due: Int64, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        guard let client = clients.slot(of: id), clients[client].leaseCheckAt <= due else {
            return 0
        }
        clients[client].leaseCheckAt = .max
        let slots = observers.slots(from: clients[client].lastObserver)
        guard slots.contains(where: { leaseEnd(of: $0) <= due }) else {
            noteClient(client, at: time, &effects)
            scheduleLeases(of: client, at: time)
            return 0
        }
        let watcherCount = index.observerCount(naming: Report.names[3...4])
        var work = 0
        for slot in slots where leaseEnd(of: slot) <= time.monotonicNanoseconds {  // Bound: ends
            let serial = observers[slot].serial
            work += (1 + observers[slot].entries.count) * Work.ofEnd + watcherCount
            _ = remove(slot, by: .broker, reason: .expired, at: time, &effects)
            reports.append(.expired(observer: serial, client: id))
        }
        guard !leaveIfEmpty(client, "expired", at: time, &effects) else { return work }
        noteClient(client, at: time, &effects)
        scheduleLeases(of: client, at: time)
        return work
    }

    /// Removes a client that has no connection and nothing that lasts.
    mutating func leaveIfEmpty(
        _ client: UInt32, _ reason: String, at time: CommandTime, _ effects: inout Effects
    ) -> Bool {
        guard clients[client].observerCount == 0, !clients[client].isLasting,
            !clients[client].suspension.isDisjoint(with: [.disconnected, .mailbox])
        else { return false }
        reports.append(.left(client: clients[client].id, reason))
        forget(client, at: time, &effects)
        return true
    }
}

extension NotificationCenter.Deadline: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .lease(let client, let time): try coder.write(case: 0, client, time)
        case .expiry(let sequence, let kept): try coder.write(case: 1, sequence, kept)
        case .pace(let client): try coder.write(case: 2, client)
        case .wait(let slot, let ordinal): try coder.write(case: 3, slot, ordinal)
        case .ask(let slot, let ordinal): try coder.write(case: 4, slot, ordinal)
        case .asked(let slot, let ordinal): try coder.write(case: 5, slot, ordinal)
        case .part(let slot, let ordinal): try coder.write(case: 6, slot, ordinal)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> NotificationCenter.Deadline {
        switch number {
        case 0: .lease(client: try coder.next(), at: try coder.next())
        case 1: .expiry(sequence: try coder.next(), kept: try coder.next())
        case 2: .pace(client: try coder.next())
        case 3: .wait(slot: try coder.next(), ordinal: try coder.next())
        case 4: .ask(slot: try coder.next(), ordinal: try coder.next())
        case 5: .asked(slot: try coder.next(), ordinal: try coder.next())
        case 6: .part(slot: try coder.next(), ordinal: try coder.next())
        default: throw .malformed
        }
    }
}
