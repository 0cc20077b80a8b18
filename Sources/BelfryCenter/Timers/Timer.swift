/// A post that enters the queue later (Rules.md, L).
///
/// | state | condition | next state |
/// | --- | --- | --- |
/// | armed | a farewell with a connected client: ``due`` is `Int64.max` | waiting, or gone |
/// | waiting | ``due`` is in the future | due, or armed again |
/// | due | ``due`` has passed, and the queue has no room | gone, or waiting |
/// | gone | it is in no table | an entry of the queue |
///
/// A farewell waits from the disconnection on, is gone when the client closes in order, and is
/// armed again when the client comes back. A due timer is gone as soon as the queue has room, or
/// waits for its next firing. A dequeue makes it gone from any state.
struct Timer: Sendable {
    /// The identifier in its 202; the queue entry keeps it where the timer fires once.
    let id: NotificationID
    /// Name, object and userInfo.
    let content: Notification.Content
    /// Whether a due post may have been posted in an earlier life of the broker.
    var isRestored = false
    /// Whether a time of day was asked for: no correction of a wrong clock makes it earlier.
    var isOfDay = false
    /// How long the chain of `causedBy` is with it at its end.
    let depth: Int32
    /// The owner that it counts for.
    var owner: Owner
    /// Timers that are due at one time fire in the order of their making.
    let ordinal: UInt64
    /// The next event on the clock of timers, in nanoseconds: it fires, or its lease ends.
    var due: Int64
    /// The next firing, in milliseconds since 1970; `Int64.max` while it is armed.
    var dueAt: Int64
    /// When it was posted, in milliseconds since 1970.
    let postedAt: Int64
    /// Details that few timers have.
    let details: Details?

    /// Details that few timers have; they are shared and never changed.
    final class Details: Footprinted, Sendable {
        let causedBy: NotificationID?
        /// The options of the queue entry; nil for the usual ones.
        let options: PostOptions?
        /// The scope of its poster: it merges with nothing outside it.
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

        /// The bytes of the details, with the options.
        ///
        /// Posts of one request may share these, and each counts them.
        var footprint: Int {
            Footprint.block(of: Self.byteCount) + (options?.footprint ?? 0)
                + (farewell.map { Footprint.array(of: $0.principal.name.count) } ?? 0)
        }

        private static let byteCount =
            2 * MemoryLayout<Int>.stride + MemoryLayout<NotificationID?>.stride
            + MemoryLayout<PostOptions?>.stride + MemoryLayout<PostScope>.stride
            + MemoryLayout<UInt64?>.stride + MemoryLayout<Farewell?>.stride

        /// Whether all details are absent.
        var isEmpty: Bool {
            causedBy == nil && options == nil && scope == .everything && client == nil
                && farewell == nil
        }
    }

    /// The additional data of a farewell (rule L10).
    struct Farewell: Sendable {
        /// Milliseconds from the disconnection until it is due.
        let delay: Int64
        /// The principal whose rights count when it fires.
        let principal: TimerRecord.Principal
    }

    /// The additional data of a repeating timer (rule L4).
    struct Repetition: Sendable {
        /// The first due time: nanoseconds on the clock of timers, and milliseconds since 1970.
        let start: Int64
        let startAt: Int64
        let period: Int64
        /// The end of its lease, on the clock of timers; `Int64.max` is never.
        let endsAt: Int64
        /// The number of the next firing.
        var next: Int64 = 0
        var fired: Int64 = 0
        var missed: Int64 = 0
        /// The number of the last firing that was made.
        var lastMade: Int64?

        /// Whether its client did not come back after a restart, so that it is over.
        var isOrphan: Bool { endsAt == .min }

        /// The next due time, in whole milliseconds after the first one.
        ///
        /// It is computed from the period each time, so that the grid does not drift.
        private var offset: Int64 {
            let (nanoseconds, isTooLong) = next.multipliedReportingOverflow(by: period)
            return isTooLong ? Int64.max / 1_000_000 : TimerTerms.milliseconds(nanoseconds)
        }

        /// The next due time, on the clock of timers.
        var due: Int64 { start.adding(offset * 1_000_000) }
        /// The next due time, in milliseconds since 1970.
        var dueAt: Int64 { startAt.adding(offset) }

        /// The number of firings due by a time, and not after the end of the lease.
        func dueCount(at now: Int64) -> Int64 {
            let end = min(now, endsAt)
            guard due <= end else { return 0 }
            var count = max(1, (end - start) / period - next)
            // Times are rounded up to milliseconds: the count may be one too low.
            var last = self
            last.next = next + count
            if last.due <= end { count += 1 }
            return count
        }
    }

    /// Whether it is a farewell.
    var isFarewell: Bool { details?.farewell != nil }

    /// The bytes that it costs, about, without the tables that find it.
    var cost: Int {
        Footprint.texts(count: 1, byteCount: content.byteCount) + TimerTable.timerByteCount
            + details.footprint
    }

    /// Its item in the order of all timers.
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

    /// The milliseconds from the post until the first due time.
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
