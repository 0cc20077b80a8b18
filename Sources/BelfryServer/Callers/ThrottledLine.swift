import BelfryLoop
import BelfrySystem

/// The connections whose input waits for room or for another turn.
struct ThrottledLine {
    private var connections: [ConnectionID] = []
    /// The turn in which the last of them came.
    private var turn: UInt64 = .max
    private var isTimerSet = false

    /// Adds a connection that has requested enough in this turn.
    mutating func append(_ id: ConnectionID, _ context: inout LoopContext) {
        connections.append(id)
        turn = context.counters.turns
        armTimer(isSoon: true, &context)
    }

    /// Keeps a connection for the next pass.
    mutating func keep(_ id: ConnectionID) { connections.append(id) }

    /// Keeps the rest of a pass for the next one.
    mutating func keep(_ rest: ArraySlice<ConnectionID>) { connections += rest }

    /// Takes all connections, after the sockets were written.
    ///
    /// - Returns: nil in the turn in which the last of them came.
    mutating func beginPass(_ context: inout LoopContext) -> ReleasePass? {
        isTimerSet = false
        // A timer that was set before the timers of its turn fires in the same one.
        if turn == context.counters.turns {
            armTimer(isSoon: true, &context)
            return nil
        }
        var pass = ReleasePass()
        swap(&pass.waiting, &connections)
        return pass
    }

    /// Sets the timer for the connections that were kept.
    mutating func endPass(_ pass: ReleasePass, _ context: inout LoopContext) {
        if !connections.isEmpty { armTimer(isSoon: pass.goesOnSoon, &context) }
    }

    private mutating func armTimer(isSoon: Bool, _ context: inout LoopContext) {
        guard !isTimerSet else { return }
        isTimerSet = true
        let time = isSoon ? context.loop.now : context.loop.now + .milliseconds(5)
        _ = context.loop.schedule(at: time, LoopTimer.throttle.rawValue)
    }
}

/// One pass over the connections whose input waits.
struct ReleasePass {
    var waiting: [ConnectionID] = []
    var place = 0
    var goesOnSoon = false
    var hasReleased = false
}
