/// A log that several brokers share, as one of them sees it: an engine keeps it, and gives each entry its index.
///
/// Indices begin with 1 and have no hole. A journal waits for nothing: what it was asked is answered by an event, or
/// never, and whoever asked asks again.
public protocol Journal: AnyObject {
    /// Appends an entry.
    ///
    /// What is appended again under a name that the log has had in the last two minutes is not appended.
    func append(_ entry: [UInt8], as name: EntryName)

    /// Asks for the entries behind an index, and then for the last index of the log (`JournalEvent.end`).
    ///
    /// New entries come without being asked for; some of them may come twice, late or never.
    func read(after index: UInt64)

    /// Gives up all entries up to an index.
    func trim(through index: UInt64)

    /// Keeps a snapshot beside the log, in place of the one before.
    func save(_ snapshot: JournalSnapshot)

    /// Asks for the last snapshot that was kept whole.
    func load()

    /// Tells all brokers something that the log does not have; it may come twice, late or never, and may come back.
    func tell(_ beat: Beat)

    /// The next event; nil when there is none by now.
    func next() -> JournalEvent?
}

/// The name of an attempt to append an entry.
public struct EntryName: Hashable, Sendable {
    /// Which life of the broker.
    public let life: UInt64
    /// The number of the entry in that life.
    public let number: UInt64
    /// Which attempt: a later one has a greater number, and the log may have both.
    public let attempt: UInt64

    /// Joins the parts.
    public init(life: UInt64, number: UInt64, attempt: UInt64) {
        self.life = life
        self.number = number
        self.attempt = attempt
    }
}

/// A shard after an entry, as bytes.
public struct JournalSnapshot: Sendable, Equatable {
    /// The index of that entry.
    public let index: UInt64
    /// The state of the shard.
    public let state: [UInt8]

    /// Joins both.
    public init(index: UInt64, state: [UInt8]) {
        self.index = index
        self.state = state
    }
}

/// What a broker tells the others beside the log, each half second.
public struct Beat: Sendable, Equatable {
    /// Its name.
    public let node: [UInt8]
    /// Its life.
    public let life: UInt64
    /// The index of the last entry that it has applied.
    public let appliedIndex: UInt64

    /// Joins the parts.
    public init(node: [UInt8], life: UInt64, appliedIndex: UInt64) {
        self.node = node
        self.life = life
        self.appliedIndex = appliedIndex
    }
}

/// What a journal has to tell.
public enum JournalEvent: Sendable {
    /// An entry of the log.
    case entry(index: UInt64, [UInt8])
    /// An entry is in the log, on a majority of the engine's disks.
    case appended(EntryName, index: UInt64)
    /// An attempt will never be in the log.
    case refused(EntryName, JournalRefusal)
    /// The entries that were asked for behind an index have been told, and this was the last index of the log then.
    case end(after: UInt64, lastIndex: UInt64)
    /// The entries that were asked for are given up; this is the first index that the log has.
    case trimmed(firstIndex: UInt64)
    /// The snapshot that was asked for; nil where there is none.
    case snapshot(JournalSnapshot?)
    /// A snapshot is kept.
    case saved(index: UInt64)
    /// What another broker told.
    case beat(Beat)
}

/// Why an engine does not take an entry.
public enum JournalRefusal: Sendable, Equatable {
    /// The log has as many bytes as it may.
    case isFull
}
