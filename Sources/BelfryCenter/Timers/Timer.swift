/// A post that enters the queue later (Rules.md, L).
///
/// | state | how it shows | what comes next |
/// | --- | --- | --- |
/// | armed | a farewell whose client is connected: ``due`` is `Int64.max` | waiting, with the disconnection; gone, when the client closes in order |
/// | waiting | ``due`` has not come | due; armed, when the client of a farewell comes back |
/// | due | ``due`` has come, and the queue has no room | gone, or waiting for the next firing, as soon as it has |
/// | gone | it is in no table | an entry of the queue, with what was due |
///
/// Whoever takes it out makes it gone from any state.
struct Timer: Sendable {
    /// The identifier that its 202 told; an entry of the queue keeps it where the timer fires once.
    let id: NotificationID
    /// Name, object and userInfo.
    let content: Notification.Content
    /// Whether what is due may have been posted in an earlier life of the broker.
    var isRestored = false
    /// Whether a time of day was asked for: no clock that was wrong makes it earlier.
    var isOfDay = false
    /// How long the chain of `causedBy` is with it at its end.
    let depth: Int32
    /// The owner that it counts for.
    var owner: Owner
    /// Timers that are due at one time fire in the order of their making.
    let ordinal: UInt64
    /// When something is to be done, on the clock of timers, in nanoseconds: it fires, or its lease ends.
    var due: Int64
    /// When it fires next, in milliseconds since 1970; `Int64.max` while it is armed.
    var dueAt: Int64
    /// When it was posted, in milliseconds since 1970.
    let postedAt: Int64
    /// What few timers have.
    let details: Details?

    /// What few timers have; it is shared and never changed.
    final class Details: Footprinted, Sendable {
        let causedBy: NotificationID?
        /// With which options it enters the queue; nil for the usual ones.
        let options: PostOptions?
        /// What its poster may post: with nothing else it merges.
        let scope: PostScope
        /// The client that a repeating timer ends with, or a farewell waits for.
        let client: UInt64?
        let farewell: Farewell?

        init(
            causedBy: NotificationID?, options: PostOptions?, scope: PostScope, client: UInt64?,
            farewell: Farewell?
        ) {
            self.causedBy = causedBy
            self.options = options
            self.scope = scope
            self.client = client
            self.farewell = farewell
        }

        /// The bytes that it takes, with its options: posts of one request may share these, and
        /// each counts them.
        var footprint: Int {
            Footprint.block(of: Self.byteCount) + (options?.footprint ?? 0)
                + (farewell.map { Footprint.array(of: $0.principal.name.count) } ?? 0)
        }

        private static let byteCount =
            2 * MemoryLayout<Int>.stride + MemoryLayout<NotificationID?>.stride
            + MemoryLayout<PostOptions?>.stride + MemoryLayout<PostScope>.stride
            + MemoryLayout<UInt64?>.stride + MemoryLayout<Farewell?>.stride

        /// Whether there is nothing in it.
        var isEmpty: Bool {
            causedBy == nil && options == nil && scope == .everything && client == nil
                && farewell == nil
        }
    }

    /// What a farewell has besides (rule L10).
    struct Farewell: Sendable {
        /// How many milliseconds after the disconnection it is due.
        let delay: Int64
        /// Whose rights count when it goes.
        let principal: TimerRecord.Principal
    }

    /// What a repeating timer has besides (rule L4).
    struct Repetition: Sendable {
        /// When its first firing was due, on the clock of timers in nanoseconds and in milliseconds since 1970.
        let start: Int64
        let startAt: Int64
        let period: Int64
        /// When its lease ends, on the clock of timers; `Int64.max` is never.
        let endsAt: Int64
        /// Which firing is next.
        var next: Int64 = 0
        var fired: Int64 = 0
        var missed: Int64 = 0
        /// Which one was made last.
        var lastMade: Int64?

        /// Whether its client did not come back with the broker, so that it is over.
        var isOrphan: Bool { endsAt == .min }

        /// When the next firing is due, in whole milliseconds after the first one.
        ///
        /// It is worked out of the period each time, so that the grid stays where it is.
        private var offset: Int64 {
            let (nanoseconds, isTooLong) = next.multipliedReportingOverflow(by: period)
            return isTooLong ? Int64.max / 1_000_000 : TimerTerms.milliseconds(nanoseconds)
        }

        /// When the next firing is due, on the clock of timers.
        var due: Int64 { start.adding(offset * 1_000_000) }
        /// When the next firing is due, in milliseconds since 1970.
        var dueAt: Int64 { startAt.adding(offset) }

        /// How many firings are due by a time, and not after the end of the lease.
        func dueCount(at now: Int64) -> Int64 {
            let end = min(now, endsAt)
            guard due <= end else { return 0 }
            var count = max(1, (end - start) / period - next)
            // Times are rounded up to milliseconds: the last one may have been counted too little.
            var last = self
            last.next = next + count
            if last.due <= end { count += 1 }
            return count
        }
    }

    /// Whether it is a farewell.
    var isFarewell: Bool { details?.farewell != nil }

    /// What it costs besides what finds it, about.
    var cost: Int {
        Footprint.texts(count: 1, byteCount: content.byteCount) + TimerTable.timerByteCount
            + details.footprint
    }

    /// Its place among all others.
    func item(at slot: UInt32) -> TimerOrder.Item {
        TimerOrder.Item(due: due, ordinal: ordinal, slot: slot)
    }
}

extension Timer: Coded {
    init(_ known: Timer?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        content = try coder(known?.content)
        isRestored = try coder(known?.isRestored)
        depth = try coder(known?.depth)
        owner = try coder(known?.owner)
        ordinal = try coder(known?.ordinal)
        due = try coder(known?.due)
        dueAt = try coder(known?.dueAt)
        postedAt = try coder(known?.postedAt)
        details = try coder(known?.details)
        guard coder.version >= 3 else { return }
        isOfDay = try coder(known?.isOfDay)
    }

    /// The milliseconds from when it was posted until it was due first.
    func delay(_ repetition: Repetition?) -> Int64 {
        max(0, (repetition?.startAt ?? dueAt).subtracting(postedAt))
    }
}

extension Timer.Details: Coded {
    convenience init(_ known: Timer.Details?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            causedBy: try coder(known?.causedBy), options: try coder(known?.options),
            scope: try coder(known?.scope), client: try coder(known?.client),
            farewell: try coder(known?.farewell))
    }
}

extension Timer.Farewell: Coded {
    init(_ known: Timer.Farewell?, by coder: inout some Coder) throws(CodeError) {
        delay = try coder(known?.delay)
        principal = try coder(known?.principal)
    }
}

extension Timer.Repetition: Coded {
    init(_ known: Timer.Repetition?, by coder: inout some Coder) throws(CodeError) {
        start = try coder(known?.start)
        startAt = try coder(known?.startAt)
        period = try coder(known?.period)
        endsAt = try coder(known?.endsAt)
        next = try coder(known?.next)
        fired = try coder(known?.fired)
        missed = try coder(known?.missed)
        lastMade = try coder(known?.lastMade)
    }
}
