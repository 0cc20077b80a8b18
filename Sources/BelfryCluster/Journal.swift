/// A log that several brokers share, as one of them sees it.
///
/// An engine keeps it, and gives each entry its index. Indices begin with 1 and have no hole. A
/// journal waits for nothing: an event answers a request, or none does, and the broker asks again.
public protocol Journal: AnyObject {
    /// Appends an entry.
    ///
    /// The log takes each name once: it ignores an entry whose name it has had in the last two
    /// minutes.
    func append(_ entry: [UInt8], as name: EntryName)

    /// Asks for the entries behind an index, and then for the last index (`JournalEvent.end`).
    ///
    /// New entries come by themselves; some of them may come twice, late or never.
    func read(after index: UInt64)

    /// Gives up all entries up to an index.
    func trim(through index: UInt64)

    /// Keeps a snapshot beside the log, in place of the one before.
    func save(_ snapshot: JournalSnapshot)

    /// Asks for the last snapshot that was kept whole.
    func load()

    /// Sends all brokers a beat outside the log; it may come twice, late or never, and may return.
    func tell(_ beat: Beat)

    /// The next event; nil when there is none by now.
    func next() -> JournalEvent?
}
