import BelfryCenter

/// When the first of the brokers makes a snapshot, and what the log may give up for it.
struct SnapshotSchedule {
    private let makeWork: (Shard) -> (any SnapshotWork)?
    /// The snapshot that is being made.
    private var work: (any SnapshotWork)?
    private var begunAt: Int64
    /// The bytes of log since the last snapshot.
    private var loggedByteCount = 0
    /// The last snapshot that was kept.
    private var keptIndex: UInt64?

    init(at now: Int64, makeWork: @escaping (Shard) -> (any SnapshotWork)?) {
        self.makeWork = makeWork
        begunAt = now
    }

    /// Counts an entry of the log.
    mutating func record(byteCount: Int) { loggedByteCount += byteCount }

    /// Begins a snapshot where one is due.
    mutating func beginIfDue(_ shard: borrowing Shard, _ options: ClusterOptions, at now: Int64) {
        guard work == nil,
            loggedByteCount >= options.snapshotByteCount
                || loggedByteCount > 0 && now - begunAt >= options.snapshotInterval
        else { return }
        work = makeWork(copy shard)
        // Without room for one more thread it is tried again later.
        begunAt = now
        if work != nil { loggedByteCount = 0 }
    }

    /// Releases the snapshot that is finished; nil while the work continues, and without work.
    mutating func releaseFinished() -> JournalSnapshot? {
        guard let snapshot = work?.snapshot else { return nil }
        work = nil
        return snapshot
    }

    /// Records that a snapshot is kept.
    ///
    /// - Returns: the index of the one before, up to which the log is given up, and so never the
    ///   end of the log; nil where nothing is.
    mutating func recordKept(_ index: UInt64) -> UInt64? {
        guard let earlier = keptIndex else {
            keptIndex = index
            return nil
        }
        // Answers may change places.
        guard index > earlier else { return nil }
        keptIndex = index
        return earlier
    }

    /// Counts anew in a log that was recovered.
    mutating func restart() {
        loggedByteCount = 0
        keptIndex = nil
    }
}
