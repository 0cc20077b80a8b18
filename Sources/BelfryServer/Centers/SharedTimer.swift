import BelfryLoop
import BelfrySystem

/// The timer for the earliest of many deadlines; close deadlines are met together.
struct SharedTimer {
    private let kind: LoopTimer
    /// The timer, and the time that it is armed for.
    private var timer: TimerID?
    private var armedTime = MonotonicTime.distantFuture

    /// The distance at which deadlines are met together.
    private static let interval: Duration = .milliseconds(5)

    init(_ kind: LoopTimer) {
        self.kind = kind
    }

    /// Whether the timer is armed.
    var isArmed: Bool { timer != nil }

    /// Arms the timer for a deadline, unless it is armed for an earlier one.
    mutating func arm(at time: MonotonicTime, _ outbox: inout Outbox) {
        guard time < armedTime else { return }
        if let timer { outbox.loop.cancel(timer) }
        armedTime = time
        timer = outbox.loop.schedule(at: time, kind.rawValue)
    }

    /// Records that the timer has fired.
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
