import BelfryLoop

/// Connections whose input waits for the next turn.
struct ThrottledLine {
    var connections: [ConnectionID] = []
    /// The turn in which the last of them was told to wait.
    var turn: UInt64 = .max
    /// Whether the timer that lets them go on is set.
    var isTimerSet = false
}
