// Restored timers: wall time determines when they are due (rule L6).

extension NotificationCenter {
    /// The shortest delay of a farewell after a restart: its client needs time to come back.
    static let leastFarewellDelay: Int64 = 30_000

    /// Restores a timer.
    ///
    /// A timer that became due while the broker was down is due now, once.
    mutating func restore(_ record: TimerRecord, isComplete: Bool, at time: CommandTime) {
        guard let options = record.post.options, let timing = options.timer else { return }
        usesTimers = true
        var dueAt = record.dueAt ?? .max
        var farewell: Timer.Farewell?
        if timing.isFarewell, let principal = record.principal {
            let delay = timing.delay(from: time)
            farewell = Timer.Farewell(delay: delay, principal: principal)
            dueAt = time.wallMilliseconds.adding(max(delay, Self.leastFarewellDelay))
        }
        let waits = record.client.flatMap { clients.slot(of: $0) }
        let repetition = repetition(
            of: record, timing, endsNow: farewell == nil && record.client != nil && waits == nil,
            at: time)
        let due = Self.timerTime(of: dueAt, time)
        // A due timer may have fired before a crash; it is unknown whether a farewell was due.
        let mayBePosted =
            record.isRestored
            || !isComplete && (farewell != nil || due <= time.timerNanoseconds)
        let details = Timer.Details(
            causedBy: record.post.causedBy, options: options.withoutTimer, scope: record.scope,
            client: record.client, farewell: farewell)
        let timer = Timer(
            id: record.post.id, content: record.post.content,
            isRestored: mayBePosted, isOfDay: timing.start == nil,
            depth: Int32(clamping: record.depth),
            owner: .none, ordinal: timers.lastOrdinal + 1,
            due: min(due, repetition?.endsAt ?? .max), dueAt: dueAt, postedAt: record.postedAt,
            details: details.isEmpty ? nil : details)
        timers.add(timer, repetition, ofClient: waits == nil ? nil : record.client)
        if farewell != nil, let waits { clients[waits].lastingCount += 1 }
    }

    /// - Parameter endsNow: Whether the client that it ends with is gone.
    private func repetition(
        of record: TimerRecord, _ timing: TimerTerms, endsNow: Bool, at time: CommandTime
    ) -> Timer.Repetition? {
        guard let period = timing.period, let kept = record.repetition else { return nil }
        let end = time.timerNanoseconds.adding(kept.leaseLeft)
        var repetition = Timer.Repetition(
            start: Self.timerTime(of: kept.startAt, time), startAt: kept.startAt, period: period,
            endsAt: endsNow ? .min : end)
        repetition.next = kept.next
        repetition.fired = kept.fired
        repetition.missed = kept.missed
        repetition.lastMade = kept.lastMade
        return repetition
    }

    /// A time in milliseconds since 1970 on the clock of timers.
    private static func timerTime(of wallMilliseconds: Int64, _ time: CommandTime) -> Int64 {
        if wallMilliseconds == .max { return .max }
        let left = wallMilliseconds.subtractingReportingOverflow(time.wallMilliseconds)
        let nanoseconds =
            left.overflow ? Int64.max : left.partialValue.nanosecondsOfMilliseconds
        let (sum, isPastTheEnd) = time.timerNanoseconds.addingReportingOverflow(nanoseconds)
        return isPastTheEnd ? (nanoseconds > 0 ? .max : .min) : sum
    }
}
