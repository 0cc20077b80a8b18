/// How far a broker is with the log that it shares.
public enum Stage: Sendable, Equatable {
    /// It has asked for a snapshot.
    case loading
    /// It reads what the log has.
    case catchingUp
    /// It has read all, and begins a life.
    case comingUp
    /// Its life runs: it takes commands.
    case up
    /// It has said that its life ends, and takes no commands.
    case leaving
    /// It has left.
    case left
    /// It has stopped since the log had lost something, and lets the log go on with its own state.
    case recovering
    /// It cannot go on.
    case stopped(StopReason)
}
