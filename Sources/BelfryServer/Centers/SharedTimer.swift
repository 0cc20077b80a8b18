import BelfryLoop
import BelfrySystem

/// The timer for the earliest of many deadlines; those that are close are met together.
struct SharedTimer {
    private let kind: LoopTimer
    /// The timer, and the time that it is armed for.
    private var timer: TimerID?
    private var armedTime = MonotonicTime.distantFuture

    /// Deadlines that are this close are met together.
    private static let interval: Duration = .milliseconds(5)

    init(_ kind: LoopTimer) {
        self.kind = kind
    }

    /// Whether the timer will come.
    var isArmed: Bool { timer != nil }

    /// Sees that the timer comes at a deadline, or before.
    mutating func arm(at time: MonotonicTime, _ outbox: inout Outbox) {
        guard time < armedTime else { return }
        if let timer { outbox.loop.cancel(timer) }
        armedTime = time
        timer = outbox.loop.schedule(at: time, kind.rawValue)
    }

    /// The timer has come.
    mutating func noteMet() {
        timer = nil
        armedTime = .distantFuture
    }

    /// Sets the timer for the earliest deadline that is left, if there is one.
    mutating func armAgain(at next: MonotonicTime?, _ outbox: inout Outbox) {
        guard let next else { return }
        arm(at: max(next, outbox.loop.now + Self.interval), &outbox)
    }
}
