/// How far a broker is with the log that it shares.
public enum Stage: Sendable, Equatable {
    /// The broker has asked for a snapshot.
    case loading
    /// The broker reads the log.
    case catchingUp
    /// The broker has read all, and begins a life.
    case comingUp
    /// Its life runs: it takes commands.
    case up
    /// The broker has announced the end of its life, and takes no commands.
    case leaving
    /// The broker has left.
    case left
    /// The broker had stopped over a loss of the log, which now continues with its state.
    case recovering
    /// The broker cannot continue.
    case stopped(StopReason)
}
