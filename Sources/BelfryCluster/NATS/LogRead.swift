/// A read of the log that is under way.
struct LogRead {
    let number: UInt64
    /// The sequence that is told next.
    var next: UInt64
    /// Where the log ended when everything seemed to be told.
    var lastIndex: UInt64?
    /// Whether a batch is under way.
    var isInBatch = false
    /// Whether the next batch is due once the sequencer has taken the events of this one.
    var isDue = false
    /// Whether entries are missing before the ones that came.
    var hasHole = false
    /// Whether the batch has brought anything new.
    var hasGrown = false
    /// How many batches have not.
    var idleCount = 0

    init(number: UInt64, after: UInt64) {
        self.number = number
        next = after + 1
    }
}
