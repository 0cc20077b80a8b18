/// The order of a center's notifications, and its memory of those that were dispatched.
struct History: Sendable {
    /// The epoch, which distinguishes the sequence numbers of this life from those of others.
    var epoch: [UInt8]
    /// The sequence number of the last notification that was dispatched.
    var sequence: UInt64 = 0
    /// Numbers up to this one are reserved; `sequenceReserveAt` is where more of them are.
    var reservedSequence: UInt64 = 0
    var sequenceReserveAt: UInt64 = 0
    /// The last number of the former life; 0 for a center that was not restored.
    var restoredThrough: UInt64 = 0
    /// When that life was over, in milliseconds since 1970.
    var restoredAt = Int64.min
    /// The dispatched numbers of earlier lives; nil if they are unknown.
    var marks: DispatchMarks?
    var replay: ReplayRing
    var fates: FateTable
    /// The answers to requests with an idempotency key.
    var keys: KeyedAnswers

    init(epoch: [UInt8], limits: CenterLimits, seed: HashSeed) {
        self.epoch = epoch
        replay = ReplayRing(limits: limits)
        fates = FateTable(limits: limits, seed: seed)
        keys = KeyedAnswers(seed: seed)
    }

    /// The last number of a name that an earlier life can have dispatched.
    func lastDispatchedEarlier(of name: [UInt8]?) -> UInt64 {
        min(restoredThrough, marks?.last(of: name) ?? restoredThrough)
    }

    /// The last number of a name that the replay ring has forgotten.
    func forgottenThrough(of name: [UInt8]?) -> UInt64 {
        replay.forgottenThrough > restoredThrough
            ? replay.forgottenThrough : lastDispatchedEarlier(of: name)
    }

    /// Adds the memory of its tables, each to its kind.
    func addFootprint(to kept: inout KeptMemory) {
        kept[.observers] += marks.footprint
        kept[.replay] += replay.footprint
        kept[.fates] += fates.footprint
        kept[.keys] += keys.footprint
    }
}
