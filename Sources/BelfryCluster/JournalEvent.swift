/// A journal's answer, or its news.
public enum JournalEvent: Sendable {
    /// An entry of the log.
    case entry(index: UInt64, [UInt8])
    /// An entry is in the log, on a majority of the engine's disks.
    case appended(EntryName, index: UInt64)
    /// An attempt will never be in the log.
    case refused(EntryName, JournalRefusal)
    /// All requested entries have come; this was the last index of the log then.
    ///
    /// It is the word of a machine of the engine, which may be behind the others.
    case end(lastIndex: UInt64)
    /// The entries that were asked for are given up; this is the first index that the log has.
    case trimmed(firstIndex: UInt64)
    /// The snapshot that was asked for; nil where there is none.
    case snapshot(JournalSnapshot?)
    /// A snapshot is kept.
    case saved(index: UInt64)
    /// The journal has a connection again; requests on the one before may be lost.
    case reconnected
    /// Another broker has given a sign of life, or this one's own has come back.
    case beat(Beat)
}

/// Why an engine does not take an entry.
public enum JournalRefusal: Sendable, Equatable {
    /// The log has as many bytes as it may.
    case isFull
}
