// A clock that was ahead has stored due times that are too late: a start corrects them (rules L6,
// R20 and V16).

extension Change {
    /// The record with its due times at most one delay, period or `ttl` from now; nil if all are.
    ///
    /// A time of day that a poster asked for stays what it is.
    func bounded(at time: CommandTime) -> Change? {
        switch self {
        case .timer(let record): record.bounded(at: time).map { .timer($0) }
        case .value(let record): record.bounded(at: time).map { .value($0) }
        case .ask(let record): record.bounded(at: time).map { .ask($0) }
        default: nil
        }
    }
}

extension TimerRecord {
    fileprivate func bounded(at time: CommandTime) -> TimerRecord? {
        guard let dueAt, let delay = longestDelay else { return nil }
        let excess = dueAt.subtracting(time.wallMilliseconds.adding(delay))
        guard excess > 0 else { return nil }
        return TimerRecord(
            post: post, depth: depth, postedAt: min(postedAt, time.wallMilliseconds),
            dueAt: dueAt - excess, isRestored: isRestored, scope: scope, client: client,
            principal: principal, repetition: repetition?.earlier(by: excess))
    }

    /// The longest delay from now, in milliseconds; nil where a time of day was asked for.
    private var longestDelay: Int64? {
        guard let timing = post.options?.timer else { return nil }
        if let period = timing.period, (repetition?.next ?? 0) > 0 {
            return TimerTerms.milliseconds(period)
        }
        guard case .after(let nanoseconds) = timing.start else { return nil }
        return TimerTerms.milliseconds(nanoseconds)
    }
}

extension TimerRecord.Repetition {
    /// The same repetition on an earlier grid.
    fileprivate func earlier(by milliseconds: Int64) -> Self {
        Self(
            startAt: startAt.subtracting(milliseconds), next: next, fired: fired, missed: missed,
            lastMade: lastMade, leaseLeft: leaseLeft)
    }
}

extension ValueRecord {
    fileprivate func bounded(at time: CommandTime) -> ValueRecord? {
        let earlier = parts.map { $0.bounded(at: time) }
        guard earlier.contains(where: { $0 != nil }) else { return nil }
        return ValueRecord(
            object: object, document: document, changedSequence: changedSequence,
            changedAt: changedAt, parts: zip(earlier, parts).map { $0 ?? $1 })
    }
}

extension ValueRecord.Part {
    fileprivate func bounded(at time: CommandTime) -> Self? {
        guard let expiresAt, let timeToLive else { return nil }
        let latest = time.wallMilliseconds.adding(timeToLive)
        guard expiresAt > latest else { return nil }
        return Self(path: path, expiresAt: latest, timeToLive: timeToLive, lease: lease)
    }
}

extension AskRecord {
    /// The record of an open ask; the center limits by itself how long an end is kept.
    fileprivate func bounded(at time: CommandTime) -> AskRecord? {
        let excess = askedAt.subtracting(time.wallMilliseconds)
        guard end == nil, excess > 0 else { return nil }
        return AskRecord(
            id: id, content: content, causedBy: causedBy, depth: depth, fallback: fallback,
            isOnce: isOnce, askedAt: time.wallMilliseconds,
            answerBy: answerBy.subtracting(excess), principal: principal, shown: shown,
            observer: observer, end: end, options: options)
    }
}
