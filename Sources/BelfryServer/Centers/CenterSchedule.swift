import BelfryLoop
import BelfrySystem

/// When centers do something by themselves.
struct CenterSchedule {
    /// The center that posted asap entries last.
    var lastTurnEnd = 0
    /// The center for which time has passed last.
    var lastTimePassed = 0
    /// The center that posted an idle entry last.
    var lastIdle = 0
    /// Whether the timer is set that looks for centers that were left, and how far it has come.
    var isEndTimerSet = false
    var endCursor: Int?
    /// The timer of the centers, and the time that it is armed for.
    var timer: TimerID?
    var armedDeadline = Int64.max
    /// Before this time the store is let go on with what it has.
    var restUntil = Int64.min

    /// Arms the timer of the centers, unless it comes early enough.
    ///
    /// A deadline that has moved away costs one timer for nothing, and no search in each turn. So does
    /// one before which the loop pauses.
    mutating func arm(at deadline: Int64, _ outbox: inout Outbox) {
        let deadline = max(deadline, restUntil)
        guard deadline < armedDeadline else { return }
        if let timer = timer { outbox.loop.cancel(timer) }
        armedDeadline = deadline
        timer = outbox.loop.schedule(
            at: MonotonicTime(nanoseconds: deadline) + .nanoseconds(outbox.loop.missedNanoseconds),
            LoopTimer.centers.rawValue)
    }

    /// Looks for centers that were left, from time to time while there are any but the default one.
    mutating func watch(_ centers: borrowing CenterTable, _ outbox: inout Outbox) {
        let defaultCount = centers.defaultPosition == nil ? 0 : 1
        guard !isEndTimerSet, centers.count > defaultCount else { return }
        isEndTimerSet = true
        // What is left ends so late at most; a reload may make the time shorter.
        let interval = max(
            .seconds(1), min(.seconds(60), outbox.configuration.centerIdleTimeout / 8))
        _ = outbox.loop.schedule(at: outbox.loop.now + interval, LoopTimer.leftCenters.rawValue)
    }

    /// How long that rests which the store would have to note, in nanoseconds.
    static let storeRest: Int64 = 5_000_000
}
