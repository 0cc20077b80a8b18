import BelfryLoop

/// Connections whose input waits for the next turn.
struct ThrottledLine {
    var connections: [ConnectionID] = []
    /// The turn in which the last of them was throttled.
    var turn: UInt64 = .max
    /// Whether the timer that releases them is set.
    var isTimerSet = false
}
