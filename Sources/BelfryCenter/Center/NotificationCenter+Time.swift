// The effects of passing time: leases, intervals, deadlines and times to live end.

extension NotificationCenter {
    /// The next `passTime` command, on the monotonic clock in nanoseconds.
    public var nextDeadline: Int64? { needs.deadline == .max ? nil : needs.deadline }

    /// The next `passTime` command for all but archives.
    @inline(__always)
    var nextDeadlineOfOthers: Int64? {
        var next = schedule.deadlines.next
        if let time = schedule.queue.nextDeadline { next = min(next ?? time, time) }
        if let time = schedule.modeStack.nextDeadline { next = min(next ?? time, time) }
        if let time = history.keys.nextDeadline { next = min(next ?? time, time) }
        if asks.isUsed, let time = asks.fates.nextDeadline { next = min(next ?? time, time) }
        return next
    }

    /// Adds a deadline.
    ///
    /// An event that ended early leaves its deadline behind: now and then those are removed.
    mutating func addDeadline(at time: Int64, _ deadline: Deadline) {
        schedule.deadlines.add(at: time, rank: deadline.rank, key: deadline)
        guard schedule.deadlines.isSparse(livingCount: schedule.livingDeadlineCount) else { return }
        var swept = DeadlineHeap<Deadline>()
        swap(&swept, &schedule.deadlines)
        swept.compact { isAlive($0) }
        swap(&swept, &schedule.deadlines)
        schedule.livingDeadlineCount = max(schedule.deadlines.count, 512)
    }

    private func isAlive(_ deadline: Deadline) -> Bool {
        switch deadline {
        case .lease(let id, let time):
            registry.clients.slot(of: id).map { registry.clients[$0].leaseCheckAt == time } ?? false
        case .expiry(let sequence, let kept): backlog.held.isKept(kept, sequence: sequence)
        case .pace(let id):
            registry.clients.slot(of: id).map { registry.clients[$0].suspension.contains(.paced) }
                ?? false
        case .wait(let slot, let ordinal): backlog.waiting.isWaiting(slot, ordinal: ordinal)
        case .ask(let slot, let ordinal): asks.open.isOpen(slot, ordinal: ordinal)
        case .asked(let slot, let ordinal):
            asks.open.isOpen(slot, ordinal: ordinal) && !asks.open[slot].waiters.isEmpty
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
        if schedule.modeStack.passTime(now) {
            schedule.queue.enter(mode: schedule.modeStack.current)
        }
        var work = 0
        var lookCount = 0
        while lookCount < workLimit.adding(Work.vainLookLimit),  // Share: time
            let deadline = schedule.deadlines.firstDue(at: now),
            work == 0 || work < workLimit || !isWork(deadline)
        {
            _ = schedule.deadlines.popDue(at: now)
            lookCount += 1
            work += meet(deadline, at: time, &effects)
        }
        if schedule.deadlines.isDue(at: now) { return }
        let (promoted, expired) = schedule.queue.passTime(now)
        for entry in promoted { noteQueued(entry.id, at: time, &effects) }  // Bound: expiry
        for entry in expired {  // Bound: expiry
            noteDequeued(entry.id, &effects)
            history.fates.update(entry.id) { $0.state = .expired }
        }
        let keyLimit = max(1, (workLimit - min(work, workLimit)) / Work.ofEnd)
        forgetKeys(history.keys.passTime(now, limit: keyLimit), &effects)
        forgetAsks(asks.fates.passTime(now, limit: keyLimit), &effects)
        if archiveBox.value.isUsed { archiveBox.value.passTime(limit: keyLimit, at: time) }
        if schedule.usesTimers {
            fireTimers(workLimit: workLimit - min(work, workLimit), at: time, &effects)
        }
    }

    /// Whether a due deadline has any effect.
    ///
    /// A deadline without one keeps neither the queue nor the keys waiting.
    private func isWork(_ deadline: Deadline) -> Bool {
        switch deadline {
        case .lease(let id, let due):
            guard let client = registry.clients.slot(of: id),
                registry.clients[client].leaseCheckAt <= due
            else {
                return false
            }
            return registry.observerSlots(of: client)
                .contains { registry.leaseEnd(of: $0) <= due }
        case .expiry(let sequence, let kept):
            return backlog.held.isKept(kept, sequence: sequence)
                && backlog.entries(of: kept)
                    .contains { !backlog.held[$0].flags.contains(.unacknowledged) }
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
            guard let client = registry.clients.slot(of: id),
                registry.clients[client].suspension.contains(.paced)
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
        guard backlog.held.isKept(kept, sequence: sequence) else { return 0 }
        var count = 0
        for entry in backlog.entries(of: kept)  // Bound: ends
        where !backlog.held[entry].flags.contains(.unacknowledged) {
            lose(entry, .expired, &effects)
            count += 1
        }
        return count * Work.ofEnd
    }

    // MARK: Leases

    /// Notes the next check of a client's leases.
    mutating func scheduleLeases(of client: UInt32, at time: CommandTime) {
        var next = Int64.max
        for slot in registry.observerSlots(of: client) {  // Bound: client
            next = min(next, registry.leaseEnd(of: slot))
        }
        guard next != .max else { return }
        if limits.isDurable {
            next = min(next, time.monotonicNanoseconds.adding(Self.noteInterval))
        }
        guard next < registry.clients[client].leaseCheckAt else { return }
        registry.clients[client].leaseCheckAt = next
        addDeadline(at: next, .lease(client: registry.clients[client].id, at: next))
    }

    /// The interval at which the store gets a client's time away, so that leases survive a restart.
    static let noteInterval: Int64 = 60_000_000_000

    /// Removes observers of a client whose leases are over, if one was at the time of the check.
    ///
    /// Otherwise the check only notes how long the client is away, and earlier ends of other
    /// clients come first.
    ///
    /// - Returns: The work that it was. Its reports are posted to all observers.
    private mutating func endLeases(
        of id: UInt64, due: Int64, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        guard let client = registry.clients.slot(of: id),
            registry.clients[client].leaseCheckAt <= due
        else {
            return 0
        }
        registry.clients[client].leaseCheckAt = .max
        let slots = registry.observerSlots(of: client)
        guard slots.contains(where: { registry.leaseEnd(of: $0) <= due }) else {
            noteClient(client, at: time, &effects)
            scheduleLeases(of: client, at: time)
            return 0
        }
        let watcherCount = registry.index.observerCount(naming: Report.names[3...4])
        var work = 0
        // Bound: ends
        for slot in slots where registry.leaseEnd(of: slot) <= time.monotonicNanoseconds {
            let serial = registry.observers[slot].serial
            work += (1 + registry.observers[slot].entries.count) * Work.ofEnd + watcherCount
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
        guard registry.clients[client].observers.count == 0, !registry.clients[client].isLasting,
            !registry.clients[client].suspension.isDisjoint(with: [.disconnected, .mailbox])
        else { return false }
        reports.append(.left(client: registry.clients[client].id, reason))
        forget(client, at: time, &effects)
        return true
    }
}
