/// The reason that a command fails.
public enum CommandFailure: Error, Sendable, Equatable {
    /// The command is not in the log, and never will be.
    case unavailable(Unavailability)
    /// The command may or may not be in the log, or come into it later.
    case unknownOutcome
}

/// Why a broker takes no command.
public enum Unavailability: Error, Sendable, Equatable {
    /// The broker has not read all of the log yet.
    case catchingUp
    /// Its life was ended.
    case fenced
    /// The log makes no progress.
    case noQuorum
    /// The engine has no room.
    case full
    /// More commands wait than may.
    case busy
    /// The command alone would make an entry larger than the engine takes.
    case tooLarge(byteLimit: Int)
    /// The broker stops.
    case draining
    /// The broker cannot continue.
    case stopped(StopReason)
}
