import BelfryLoop
import BelfrySystem

// What a loop tells of its limits and its clients.

extension ServerLoop {
    /// A limit is reached: the log tells it once, until it is over.
    mutating func meet(_ limit: ReachableLimit) {
        guard reachedLimits.meet(limit, at: loop.now) else { return }
        log.write(
            .warning, "a limit is reached", ("limit", limit.text),
            ("option", limit.option ?? "none"), ("loop", "\(number)"))
        armLimitTimer()
    }

    /// Tells which limits are over.
    mutating func meetLimitDeadline() {
        isLimitTimerSet = false
        for (limit, count) in reachedLimits.takeEnded(at: loop.now) {
            log.write(
                .info, "a limit is not reached any more", ("limit", limit.text),
                ("times", "\(count)"), ("loop", "\(number)"))
        }
        armLimitTimer()
    }

    private mutating func armLimitTimer() {
        guard !isLimitTimerSet, let time = reachedLimits.nextEnd else { return }
        isLimitTimerSet = true
        _ = loop.schedule(at: time, LoopTimer.limits.rawValue)
    }

    /// Tells of a client that was closed, unless a line of this kind was told within the last second.
    mutating func tellClosed(
        _ kind: SeldomLines.Kind, _ level: ServerLog.Level, _ message: String, client: UInt64
    ) {
        guard let untoldCount = seldomLines.admit(kind, at: loop.now) else { return }
        log.write(
            level, message, ("client", "c\(client)"), ("untoldBefore", "\(untoldCount)"))
    }
}
