// Timers fire: due posts enter the queue (rules L2 to L8).

extension NotificationCenter {
    /// The most timers that one command fires.
    public static let timerShare = 64

    /// The next command for timers, on their clock; there is none while the queue is full.
    var timerDeadline: Int64 {
        queue.count < limits.queueEntryLimit ? timers.nextDue : .max
    }

    /// Fires due timers, until so much work is done.
    mutating func fireTimers(
        workLimit: Int, at time: CommandTime, _ effects: inout Effects
    ) {
        var work = 0
        var count = 0
        while work == 0 || work < workLimit, count < Self.timerShare,  // Share: time
            timerDeadline <= time.timerNanoseconds, let next = timers.order.first
        {
            work += Work.ofEntry(byteCount: timers[next.slot].content.byteCount)
            count += 1
            if let repetition = timers.repetition(at: next.slot) {
                fire(next.slot, repetition, at: time, &effects)
            } else {
                fireOnce(next.slot, at: time, &effects)
            }
        }
    }

    private mutating func fireOnce(
        _ slot: UInt32, at time: CommandTime, _ effects: inout Effects
    ) {
        let timer = remove(timer: slot, at: time, &effects)
        enter(timer, as: timer.id, causedBy: timer.details?.causedBy, at: time, &effects)
    }

    /// Fires a late timer once for all due firings, and returns it to its grid (rule L4).
    private mutating func fire(
        _ slot: UInt32, _ repetition: Timer.Repetition, at time: CommandTime,
        _ effects: inout Effects
    ) {
        let timer = timers[slot]
        let count = repetition.dueCount(at: time.timerNanoseconds)
        guard count > 0 else {
            if repetition.isOrphan { return takeOut(timer: slot, at: time, &effects) }
            return end(timer: slot, .expired, at: time, &effects)
        }
        var repetition = repetition
        let waits = lastFiring(of: timer, repetition).map { queue.entry($0) != nil } ?? false
        let firing = firing(of: timer.id, repetition.next)
        if !waits { repetition.lastMade = repetition.next }
        repetition.next += count
        repetition.missed += waits ? count : count - 1
        timers.missedCount += UInt64(waits ? count : count - 1)
        if !waits { repetition.fired += 1 }
        timers.goOn(slot, repetition)
        noteTimer(slot, at: time, &effects)
        if !waits { enter(timer, as: firing, causedBy: timer.id, at: time, &effects) }
    }

    /// Adds a due post to the queue as any post.
    private mutating func enter(
        _ timer: Timer, as id: NotificationID, causedBy: NotificationID?, at time: CommandTime,
        _ effects: inout Effects
    ) {
        timers.firedCount += 1
        let post = Post(
            id: id, content: timer.content, causedBy: causedBy, options: timer.details?.options)
        let depth = Int(timer.depth) + (causedBy == timer.id ? 1 : 0)
        do throws(Refusal) {
            let state = try enqueue(
                post, depth: depth, scope: timer.details?.scope ?? .everything,
                owner: timer.owner, room: .unlimited, isRestored: timer.isRestored, at: time,
                &effects)
            var receipt = Receipt(id: id, sequence: 0)
            receipt.state = state
            fates.append(receipt, depth: depth, at: time.monotonicNanoseconds)
        } catch {
            preconditionFailure("a queue without limits refuses nothing")
        }
    }

    /// The identifier of the last firing that was made.
    func lastFiring(
        of timer: Timer, _ repetition: Timer.Repetition
    ) -> NotificationID? {
        repetition.lastMade.map { firing(of: timer.id, $0) }
    }

    /// The identifier of a firing, made of that of the timer and the firing's place on the grid.
    ///
    /// It is the same again after a crash, and no other firing has it, however many were posted
    /// before the crash and not stored.
    private func firing(of timer: NotificationID, _ number: Int64) -> NotificationID {
        let step = UInt64(bitPattern: number) &+ 1
        var mixed = timer.low &+ step &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return NotificationID(
            milliseconds: timer.milliseconds, place: timer.high &+ step, random: mixed ^ mixed >> 31
        )
    }

    // MARK: What must last

    /// Reports the present state of a timer as a change.
    mutating func noteTimer(_ slot: UInt32, at time: CommandTime, _ effects: inout Effects) {
        guard limits.isDurable else { return }
        tell(.timer(record(ofTimer: slot, at: time)), &effects)
    }

    /// Stores the timers that may have posted before this life, as the next one would not know.
    mutating func noteRestoredTimers(at time: CommandTime, _ effects: inout Effects) {
        guard timers.restoredCount > 0 else { return }
        var slots: [UInt32] = []
        timers.order.forEach { item in
            if timers[item.slot].isRestored { slots.append(item.slot) }
            return true
        }
        for slot in slots { noteTimer(slot, at: time, &effects) }  // Bound: drain
    }

    private func record(ofTimer slot: UInt32, at time: CommandTime) -> TimerRecord {
        let timer = timers[slot]
        let repetition = timers.repetition(at: slot)
        let farewell = timer.details?.farewell
        let usual = timer.details?.options ?? PostOptions(style: .asap)
        let terms = TimerTerms(
            start: timer.isOfDay && farewell == nil
                ? nil
                : .after((farewell?.delay ?? timer.delay(repetition)).nanosecondsOfMilliseconds),
            period: repetition?.period, isFarewell: farewell != nil)
        return TimerRecord(
            post: Post(
                id: timer.id, content: timer.content, causedBy: timer.details?.causedBy,
                options: usual.adding(terms)),
            depth: Int(timer.depth), postedAt: timer.postedAt,
            dueAt: timer.dueAt == .max ? nil : timer.dueAt, isRestored: timer.isRestored,
            scope: timer.details?.scope ?? .everything, client: timer.details?.client,
            principal: farewell?.principal,
            repetition: repetition.map { repetition in
                TimerRecord.Repetition(
                    startAt: repetition.startAt, next: repetition.next, fired: repetition.fired,
                    missed: repetition.missed,
                    lastMade: repetition.lastMade,
                    leaseLeft: repetition.endsAt == .max
                        ? nil
                        : max(repetition.endsAt, time.timerNanoseconds) - time.timerNanoseconds)
            })
    }

    /// The due farewells among one command's timers; the caller checks their rights (rule L10).
    public func dueFarewells(
        at time: CommandTime, among limit: Int = timerShare
    ) -> [DueFarewell] {
        guard timers.goingCount > 0 else { return [] }
        var found: [DueFarewell] = []
        var count = 0
        timers.order.forEach { item in
            count += 1
            guard item.due <= time.timerNanoseconds, count <= limit else { return false }
            if let farewell = dueFarewell(item.slot) { found.append(farewell) }
            return true
        }
        return found
    }

    /// The farewells of a client that are due within these nanoseconds of its disconnection.
    public func farewells(of client: UInt64, within nanoseconds: Int64) -> [DueFarewell] {
        guard usesTimers else { return [] }
        return timers.slots(ofClient: client).filter { slot in
            timers[slot].details?.farewell.map {
                $0.delay.nanosecondsOfMilliseconds < nanoseconds
            } ?? false
        }.compactMap(dueFarewell)
    }

    private func dueFarewell(_ slot: UInt32) -> DueFarewell? {
        let timer = timers[slot]
        guard let farewell = timer.details?.farewell else { return nil }
        return DueFarewell(id: timer.id, content: timer.content, principal: farewell.principal)
    }

    /// A farewell that fires with the next `passTime`.
    public struct DueFarewell: Sendable {
        /// The notification.
        public let id: NotificationID
        /// Name, object and userInfo.
        public let content: Notification.Content
        /// The principal whose rights count.
        public let principal: TimerRecord.Principal
    }
}
