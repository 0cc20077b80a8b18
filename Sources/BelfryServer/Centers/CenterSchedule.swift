import BelfryLoop
import BelfrySystem

/// The schedule of the centers' own work.
struct CenterSchedule {
    /// The center that posted asap entries last.
    var lastTurnEnd = 0
    /// The center whose time was handled last.
    var lastTimePassed = 0
    /// The center that posted an idle entry last.
    var lastIdle = 0
    /// Whether the timer for unused centers is set, and how far that search has come.
    var isEndTimerSet = false
    var endCursor: Int?
    /// The timer of the centers, and the time that it is armed for.
    var timer: TimerID?
    var armedDeadline = Int64.max
    /// The time until which the store may work off its changes.
    var restUntil = Int64.min

    /// Arms the timer of the centers, unless it fires early enough.
    ///
    /// A deadline that has moved away costs one useless timer, and no search in each turn. So does
    /// a deadline before which the loop pauses.
    mutating func arm(at deadline: Int64, _ outbox: inout Outbox) {
        let deadline = max(deadline, restUntil)
        guard deadline < armedDeadline else { return }
        if let timer = timer { outbox.loop.cancel(timer) }
        armedDeadline = deadline
        timer = outbox.loop.schedule(
            at: MonotonicTime(nanoseconds: deadline) + .nanoseconds(outbox.loop.missedNanoseconds),
            LoopTimer.centers.rawValue)
    }

    /// Searches for unused centers from time to time, while there are any but the default one.
    mutating func watch(_ centers: borrowing CenterTable, _ outbox: inout Outbox) {
        let defaultCount = centers.defaultPosition == nil ? 0 : 1
        guard !isEndTimerSet, centers.count > defaultCount else { return }
        isEndTimerSet = true
        // An unused center ends this much late at most; a reload may make the timeout shorter.
        let interval = max(
            .seconds(1), min(.seconds(60), outbox.configuration.centerIdleTimeout / 8))
        _ = outbox.loop.schedule(at: outbox.loop.now + interval, LoopTimer.leftCenters.rawValue)
    }

    /// The rest of work that the store would have to record, in nanoseconds.
    static let storeRest: Int64 = 5_000_000
}
