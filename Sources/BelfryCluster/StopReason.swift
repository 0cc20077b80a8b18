/// The reason that a broker cannot continue with a log.
public enum StopReason: Sendable, Equatable {
    /// The writer of the entry at an index knows another past.
    ///
    /// The engine has lost entries, or one of the two brokers computes otherwise.
    case otherPast(index: UInt64)
    /// The log lacks an index that this broker has applied, or has another entry there.
    ///
    /// The engine has lost entries.
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

extension StopReason {
    /// Whether the log and the applied state differ; an operator may continue with either.
    public var isLoss: Bool {
        switch self {
        case .otherPast, .lostEntries: true
        case .noSnapshot, .brokenSnapshot, .tooOld, .tooOldForLevel, .unreadable, .nameIsTaken,
            .isOneTooMany:
            false
        }
    }
}
