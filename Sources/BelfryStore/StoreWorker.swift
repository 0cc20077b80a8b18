internal import BelfrySystem

/// What the store's thread does, without the thread and without a clock.
///
/// All batches that wait are committed in one transaction. When that fails, the ballast is given up
/// and the commit tried again at once, and then each second; nothing is lost but time. New promises
/// are taken again when everything is committed and a ballast stands.
struct StoreWorker<Target: CommitTarget & ~Copyable>: ~Copyable {
    /// How long nothing is tried again after it failed.
    static var retryInterval: Duration { .seconds(1) }
    /// How long a ballast that is smaller than it should be is left so.
    static var growthInterval: Duration { .seconds(60) }
    /// What the inner pages of all trees may add to a commit: 8 tables and 3 indexes with 4 levels.
    static var reserveByteCount: Int { 44 * StoreChange.frameByteCount }

    private var target: Target
    private let limits: StoreLimits
    private var waiting: [StoreBatch] = []
    private var isFailing = false
    private var isOversized = false
    private var commitTime = MonotonicTime(nanoseconds: .min)
    private var ballastTime = MonotonicTime(nanoseconds: .min)
    private var notices: [StoreNotice] = []

    /// Takes over a store.
    init(_ target: consuming Target, limits: StoreLimits) {
        self.target = target
        self.limits = limits
        measure()
    }

    /// What one step brought about.
    struct Progress {
        /// The batches that are committed now, in the order in which they came.
        var committed: [StoreBatch] = []
        /// What whoever runs the broker should know.
        var notices: [StoreNotice] = []
        /// How much may wait from now on; 0 when nothing new may be promised.
        var weightLimit: Int
    }

    /// Whether something waits to be committed.
    var hasWork: Bool { !waiting.isEmpty }

    /// When something is tried again; the distant future when all is well.
    var nextTime: MonotonicTime {
        if hasWork { return commitTime }
        return target.ballastByteCount == 0 ? ballastTime : .distantFuture
    }

    /// Adds batches behind those that wait.
    mutating func add(_ batches: [StoreBatch]) {
        if waiting.isEmpty { waiting = batches } else { waiting += batches }
    }

    /// Does what can be done now.
    mutating func work(at now: MonotonicTime) -> Progress {
        var progress = Progress(weightLimit: 0)
        if hasWork, now >= commitTime, commitAll(at: now) { swap(&waiting, &progress.committed) }
        if !hasWork { tendBallast(at: now) }
        progress.weightLimit = weightLimit
        swap(&notices, &progress.notices)
        return progress
    }

    /// Ends the life in order, if everything was committed.
    consuming func close() -> Bool {
        guard waiting.isEmpty else { return false }
        do throws(StoreError) {
            do throws(StoreError) {
                try target.noteEnd()
            } catch {
                try target.giveUpBallast()
                try target.noteEnd()
            }
            return true
        } catch {
            // The next life is told that this one did not end in order.
            return false
        }
    }

    private var weightLimit: Int {
        if hasWork || isFailing || isOversized { return 0 }
        return max(target.ballastByteCount - Self.reserveByteCount, 0)
    }

    // MARK: Committing

    private mutating func commitAll(at now: MonotonicTime) -> Bool {
        do throws(StoreError) {
            do throws(StoreError) {
                try commitOnce()
            } catch {
                fail(error)
                guard target.ballastByteCount > 0 else { throw error }
                try target.giveUpBallast()
                ballastTime = now + Self.retryInterval
                try commitOnce()
            }
        } catch {
            commitTime = now + Self.retryInterval
            return false
        }
        measure()
        if let error = target.takeCheckpointError() { notices.append(.logStays(error)) }
        return true
    }

    private mutating func commitOnce() throws(StoreError) {
        if waiting.count == 1 { return try target.commit(waiting[0].changes) }
        var changes: [StoreChange] = []
        changes.reserveCapacity(waiting.reduce(0) { $0 + $1.changes.count })
        for batch in waiting { changes += batch.changes }
        try target.commit(changes)
    }

    private mutating func fail(_ error: StoreError) {
        if !isFailing { notices.append(.failed(error)) }
        isFailing = true
    }

    private mutating func measure() {
        let byteCount = target.usedByteCount
        let isOver = byteCount > limits.byteLimit
        if isOver, !isOversized {
            notices.append(.oversized(byteCount: byteCount, limit: limits.byteLimit))
        }
        isOversized = isOver
    }

    // MARK: Ballast

    private mutating func tendBallast(at now: MonotonicTime) {
        let isSmall = target.ballastByteCount < limits.ballastByteCount
        guard isSmall, now >= ballastTime else { return }
        do throws(StoreError) {
            try target.layBallast()
            ballastTime = now + Self.growthInterval
            if isFailing { notices.append(.recovered) }
            isFailing = false
        } catch {
            fail(error)
            ballastTime = now + Self.retryInterval
        }
    }
}
