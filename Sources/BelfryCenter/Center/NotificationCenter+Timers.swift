// Timers are set, removed and read (rules L1 and L5); NotificationCenter+Firing.swift fires them.

extension NotificationCenter {
    /// Sets a timer, after removing those that it replaces.
    ///
    /// A refusal comes before anything has changed.
    mutating func setTimer(
        _ post: borrowing Post, _ timing: TimerTerms, depth: Int, _ terms: PostTerms,
        at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        let scope = terms.details?.scope ?? .everything
        let setter = terms.details?.setter
        var client: UInt32?
        if timing.period != nil, let id = setter?.client, clients.slot(of: id) == nil {
            throw .unknownClient
        }
        if timing.isFarewell {
            guard let id = setter?.client, let slot = clients.slot(of: id) else {
                throw .unknownClient
            }
            if timers.farewellCount(of: id) >= limits.farewellLimit {
                throw .tooManyFarewells(limit: limits.farewellLimit)
            }
            client = slot
        }
        let replaced = timing.replaces ? replaceable(by: post.content, scope) : []
        try checkTimerRoom(
            count: 1 - replaced.count,
            byteCount: post.content.byteCount
                - replaced.reduce(0) { $0 + timers[$1].content.byteCount },
            byteRoom: setter?.byteRoom ?? .max)
        usesTimers = true
        for slot in replaced { takeOut(timer: slot, at: time, &effects) }  // Bound: timers
        let slot = add(post, timing, depth: depth, terms, at: time)
        noteTimer(slot, at: time, &effects)
        if let client { retain(client, at: time, &effects) }
        var receipt = Receipt(id: post.id, sequence: 0)
        receipt.state = timedState(of: slot)
        receipt.dequeued = UInt32(replaced.count)
        if !replaced.isEmpty { hasRecounted = true }
        effects.receipts.append(receipt)
        if terms.reportsObservers { effects.reports.append([]) }
    }

    /// The timers that a post may replace: those of its name and object, farewells apart.
    private func replaceable(
        by content: Notification.Content, _ scope: PostScope
    ) -> [UInt32] {
        timers.slots(
            similarTo: content.name, content.object, mask: [.onName, .onSender], scope: scope
        ).filter { !timers[$0].isFarewell }
    }

    /// Checks the room for so many more timers; a figure that shrinks needs none.
    private func checkTimerRoom(count: Int, byteCount: Int, byteRoom: Int) throws(Refusal) {
        if count > 0, timers.count + count > limits.timerLimit {
            throw .timersFull(limit: limits.timerLimit)
        }
        if byteCount > 0, byteCount > byteRoom { throw .timerBytesFull }
    }

    /// Checks that all timers of a batch fit: a batch is all or nothing.
    func checkTimers(of posts: [Post], _ terms: PostTerms) throws(Refusal) {
        var (count, byteCount, farewellCount) = (0, 0, 0)
        // Many posts may name the same timers, which may be many.
        var replacing: [ObservedKind: Bool] = [:]
        for post in posts {  // Bound: batch
            guard let timing = post.options?.timer else { continue }
            byteCount += post.content.byteCount
            if timing.isFarewell { farewellCount += 1 }
            guard timing.replaces else {
                count += 1
                continue
            }
            let kind = ObservedKind(observer: 0, post.content)
            let replacesOne =
                replacing[kind]
                ?? !replaceable(by: post.content, terms.details?.scope ?? .everything).isEmpty
            replacing[kind] = replacesOne
            if !replacesOne { count += 1 }
        }
        if byteCount == 0 { return }
        let setter = terms.details?.setter
        try checkTimerRoom(
            count: count, byteCount: byteCount, byteRoom: setter?.byteRoom ?? .max)
        guard farewellCount > 0 else { return }
        guard let client = setter?.client, clients.slot(of: client) != nil else {
            throw .unknownClient
        }
        if timers.farewellCount(of: client) + farewellCount > limits.farewellLimit {
            throw .tooManyFarewells(limit: limits.farewellLimit)
        }
    }

    private mutating func add(
        _ post: borrowing Post, _ timing: TimerTerms, depth: Int, _ terms: PostTerms,
        at time: CommandTime
    ) -> UInt32 {
        let setter = terms.details?.setter
        let delay = timing.delay(from: time)
        let start = time.timerNanoseconds.adding(delay.nanosecondsOfMilliseconds)
        let startAt = time.wallMilliseconds.adding(delay)
        var farewell: Timer.Farewell?
        if timing.isFarewell, let principal = setter?.principal {
            farewell = Timer.Farewell(delay: delay, principal: principal)
        }
        let isBound = timing.isFarewell || timing.period != nil
        let client = isBound ? setter?.client : nil
        let details = Timer.Details(
            causedBy: post.causedBy, options: post.options?.withoutTimer,
            scope: terms.details?.scope ?? .everything, client: client, farewell: farewell)
        let repetition = timing.period.map {
            Timer.Repetition(
                start: start, startAt: startAt, period: $0,
                endsAt: time.timerNanoseconds.adding(timing.lease))
        }
        let isArmed = timing.isFarewell
        let timer = Timer(
            id: post.id, content: post.content, isOfDay: timing.isOfDay, depth: Int32(depth),
            owner: terms.owner,
            ordinal: timers.lastOrdinal + 1,
            due: isArmed ? .max : min(start, repetition?.endsAt ?? .max),
            dueAt: isArmed ? .max : startAt, postedAt: time.wallMilliseconds,
            details: details.isEmpty ? nil : details)
        return timers.add(timer, repetition, ofClient: client)
    }

    /// The state of a timer for its account.
    func timedState(of slot: UInt32) -> Receipt.State {
        let dueAt = timers[slot].dueAt
        return .timed(dueAt: dueAt == .max ? nil : dueAt)
    }

    // MARK: Clients

    /// Starts the farewells of a disconnected client, or withdraws them where it closed in order.
    ///
    /// A broker that has left is a restart for its clients (rule L10).
    mutating func beginFarewells(
        of client: UInt64, _ end: ConnectionEnd, at time: CommandTime, _ effects: inout Effects
    ) {
        for slot in timers.slots(ofClient: client) {  // Bound: farewells
            guard let farewell = timers[slot].details?.farewell else { continue }
            if end == .closed {
                takeOut(timer: slot, at: time, &effects)
                continue
            }
            let delay =
                end == .brokerLeft
                ? max(farewell.delay, Self.leastFarewellDelay) : farewell.delay
            timers.move(
                slot, due: time.timerNanoseconds.adding(delay.nanosecondsOfMilliseconds),
                dueAt: time.wallMilliseconds.adding(delay))
            noteTimer(slot, at: time, &effects)
        }
    }

    /// Arms the farewells of a client that has come back for the next disconnection.
    mutating func armFarewells(
        of client: UInt64, at time: CommandTime, _ effects: inout Effects
    ) {
        for slot in timers.slots(ofClient: client)  // Bound: farewells
        where timers[slot].isFarewell && timers[slot].due != .max {
            timers.move(slot, due: .max, dueAt: .max)
            noteTimer(slot, at: time, &effects)
        }
    }

    /// Lets the farewells of a removed client fire without it: that is a final disconnection.
    mutating func releaseFarewells(
        of client: UInt64, at slot: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        if clients[slot].suspension.isDisjoint(with: .disconnected) {
            beginFarewells(of: client, .broken, at: time, &effects)
        }
        // Bound: farewells
        for timer in timers.slots(ofClient: client) where timers[timer].isFarewell {
            timers.leave(client, timer)
            release(slot, &effects)
        }
    }

    /// Ends the repeating timers of a client that is gone (rule L7).
    mutating func endTimers(
        ofClient client: UInt64, at time: CommandTime, _ effects: inout Effects
    ) {
        // Bound: farewells
        for slot in timers.slots(ofClient: client) { takeOut(timer: slot, at: time, &effects) }
    }

    // MARK: The end

    /// Removes a timer, and its firing that is not posted yet (rule L5).
    ///
    /// Another removal may have removed it already: with that a client may have left, and its
    /// timers with it.
    mutating func takeOut(
        timer slot: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        guard timers.has(slot) else { return }
        if let repetition = timers.repetition(at: slot),
            let firing = lastFiring(of: timers[slot], repetition),
            let entry = queue.take(firing, scope: .everything)
        {
            noteRemoval(entry, &effects)
        }
        end(timer: slot, .dequeued, at: time, &effects)
    }

    /// Ends a timer that fires no more, and keeps its fate.
    mutating func end(
        timer slot: UInt32, _ state: Receipt.State, at time: CommandTime, _ effects: inout Effects
    ) {
        let timer = remove(timer: slot, at: time, &effects)
        var receipt = Receipt(id: timer.id, sequence: 0)
        receipt.state = state
        fates.append(
            receipt, depth: Int(timer.depth), at: time.monotonicNanoseconds)
    }

    /// Removes a timer from its tables; a farewell no longer keeps its client.
    mutating func remove(
        timer slot: UInt32, at time: CommandTime, _ effects: inout Effects
    ) -> Timer {
        let client = timers[slot].isFarewell ? timers[slot].details?.client : nil
        let waits = client.map { timers.isListed(slot, ofClient: $0) } ?? false
        let timer = timers.remove(slot)
        tell(.timerEnded(timer.id), &effects)
        if waits, let client, let clientSlot = clients.slot(of: client) {
            release(clientSlot, &effects)
            _ = leaveIfEmpty(clientSlot, "disconnected", at: time, &effects)
        }
        return timer
    }

    /// Removes the timers that match (rule Q20), and returns their number.
    mutating func dequeueTimers(
        _ match: QueueMatch, at time: CommandTime, _ effects: inout Effects
    ) -> Int {
        guard timers.count > 0 else { return 0 }
        let slots: [UInt32]
        switch (match.name, match.object) {
        case (let name?, let object?):
            slots = timers.slots(
                similarTo: name.span, object.span, mask: match.mask, scope: match.scope)
        case (let name?, nil):
            slots = timers.slots(similarTo: name.span, nil, mask: match.mask, scope: match.scope)
        case (nil, let object?):
            slots = timers.slots(
                similarTo: nil, object.span, mask: match.mask, scope: match.scope)
        case (nil, nil):
            slots = timers.slots(similarTo: nil, nil, mask: match.mask, scope: match.scope)
        }
        for slot in slots { takeOut(timer: slot, at: time, &effects) }  // Bound: timers
        return slots.count
    }

    /// Removes one timer, if it exists and may be touched.
    mutating func dequeueTimer(
        _ id: NotificationID, _ scope: PostScope, at time: CommandTime, _ effects: inout Effects
    ) -> Bool {
        guard let slot = timers.slot(of: id), scope.allows(timers[slot].content) else {
            return false
        }
        takeOut(timer: slot, at: time, &effects)
        return true
    }
}

extension Int64 {
    /// The nanoseconds of some milliseconds, which stop at the end of their range.
    var nanosecondsOfMilliseconds: Int64 {
        let (product, isTooLong) = multipliedReportingOverflow(by: 1_000_000)
        return isTooLong ? (self < 0 ? .min : .max) : product
    }
}
