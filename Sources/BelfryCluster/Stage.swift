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
    /// It cannot go on.
    case stopped(StopReason)
}

/// Why a broker cannot go on with a log.
public enum StopReason: Sendable, Equatable {
    /// The entry at an index was written by a broker that knows another past: the engine has lost entries, or one of the
    /// two computes otherwise.
    case otherPast(index: UInt64)
    /// The log ends before an index that this broker has applied, or has another entry there: the engine has lost entries.
    case lostEntries(index: UInt64)
    /// The log begins behind an index, and no snapshot goes up to there.
    case noSnapshot(firstIndex: UInt64)
    /// The last snapshot cannot be read.
    case brokenSnapshot(index: UInt64)
    /// A newer program has written the entry at an index, and this one does not understand it.
    case tooOld(index: UInt64)
    /// The rules that hold are newer than this program.
    case tooOldForLevel(UInt64)
    /// The entry at an index is damaged.
    case unreadable(index: UInt64)
    /// Another process has begun a life under the same name.
    case nameIsTaken
    /// So many brokers share the log already.
    case isOneTooMany(limit: Int)
}

/// Why a life has ended.
public enum FenceReason: Sendable, Equatable {
    /// The broker has heard neither the engine nor another broker.
    case heardNothing
    /// Another broker has ended the life.
    case declaredDown
    /// The log has stood still for too long.
    case noQuorum
    /// Entries behind those that were applied are given up, or the log has forgotten what an entry says of the past.
    case tooSlow
}

/// Why a command comes to nothing.
public enum CommandFailure: Error, Sendable, Equatable {
    /// It is not in the log, and never will be.
    case unavailable(Unavailability)
    /// Nobody knows whether it is, or will be, in the log.
    case unknownOutcome
}

/// Why a broker takes no command.
public enum Unavailability: Error, Sendable, Equatable {
    /// It has not read all of the log yet.
    case catchingUp
    /// Its life was ended.
    case fenced
    /// The log stands still.
    case noQuorum
    /// The engine has no room.
    case full
    /// More commands wait than may.
    case busy
    /// It stops.
    case draining
    /// It cannot go on.
    case stopped(StopReason)
}
