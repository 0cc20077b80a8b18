import BelfryCenter

/// A recovery of a log that has lost entries: the log continues with the state of one broker.
struct Recovery {
    /// The request to the journal that has no answer yet.
    enum Step {
        /// The entry is appended; its place is unknown.
        case appending
        /// The state behind the entry is saved.
        case saving(JournalSnapshot)
    }

    /// An entry without effect, where the log continues; brokers with another past stop there.
    let entry: Entry
    var step = Step.appending
    var askedAt: Int64
}
