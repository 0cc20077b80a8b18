internal import BelfrySystem

/// What the store's thread does, without the thread and without a clock.
///
/// All batches that wait are committed in one transaction, or in several where the ballast has no room for
/// the log of one. When that fails, the ballast is given up
/// and the commit tried again at once, and then each second; nothing is lost but time. New promises
/// are taken again when everything is committed and a ballast stands.
struct StoreWorker<Target: CommitTarget & ~Copyable>: ~Copyable {
    /// How long nothing is tried again after it failed.
    static var retryInterval: Duration { .seconds(1) }
    /// How long a ballast that is smaller than it should be is left so.
    static var growthInterval: Duration { .seconds(60) }
    /// What the inner pages of the trees may add to a commit: two of each of the 11 trees.
    static var reserveByteCount: Int { 22 * StoreChange.frameByteCount }

    private var target: Target
    private let limits: StoreLimits
    private var waiting: [StoreBatch] = []
    private var isFailing = false
    private var isOversized = false
    /// Whether the log has grown since it was looked at.
    private var logHasGrown = false
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
        /// In how many transactions.
        var transactionCount = 0
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
        let limit = transactionWeightLimit
        if batches.contains(where: { $0.weight > limit }) {
            for batch in batches { waiting += batch.pieces(weightLimit: limit) }
        } else if waiting.isEmpty {
            waiting = batches
        } else {
            waiting += batches
        }
    }

    /// Does what can be done now.
    mutating func work(at now: MonotonicTime) -> Progress {
        var progress = Progress(weightLimit: 0)
        if now >= commitTime {
            while hasWork {
                let count = commitSome(at: now)
                if count == 0 {
                    commitTime = now + Self.retryInterval
                    break
                }
                progress.committed += waiting[..<count]
                progress.transactionCount += 1
                waiting.removeFirst(count)
                if hasWork { moveLog() }
            }
        }
        if !hasWork { tendBallast(at: now) }
        progress.weightLimit = weightLimit
        swap(&notices, &progress.notices)
        return progress
    }

    /// Does what no answer waits for: moves a log that has become long into the main file.
    ///
    /// The log is then longer than it should be by one commit, for which the ballast has room.
    mutating func tidy() -> [StoreNotice] {
        moveLog()
        var told: [StoreNotice] = []
        swap(&notices, &told)
        return told
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

    /// A third of the ballast: with that much in the log (`StoreFile.logPageLimit`), and as much again
    /// in one commit, the ballast has room for the commit, and for all of the log in the main file.
    private var weightLimit: Int {
        if hasWork || isFailing || isOversized { return 0 }
        return max(target.ballastByteCount / 3 - Self.reserveByteCount, 0)
    }

    /// How heavy one transaction may be; without a ballast it must go in small ones.
    private var transactionWeightLimit: Int {
        max(target.ballastByteCount / 3 - Self.reserveByteCount, 256 << 10)
    }

    /// How many of the batches that wait are not too heavy for one transaction; one in any case.
    private var groupCount: Int {
        let limit = transactionWeightLimit
        var weight = 0
        for (place, batch) in waiting.enumerated() {
            weight += batch.weight
            if weight > limit, place > 0 { return place }
        }
        return waiting.count
    }

    // MARK: Committing

    /// Commits the first of the batches that wait in one transaction, as many as that goes with.
    ///
    /// A disk that is full may still have room for fewer: what they remove makes room for the rest.
    /// - Returns: how many batches were committed.
    private mutating func commitSome(at now: MonotonicTime) -> Int {
        var count = groupCount
        while true {
            do throws(StoreError) {
                try commit(first: count)
                logHasGrown = true
                measure()
                return count
            } catch {
                fail(error)
            }
            if target.ballastByteCount > 0 {
                giveUpBallast()
                ballastTime = now + Self.retryInterval
            } else if count > 1 {
                count /= 2
                shortenLog()
            } else {
                return 0
            }
        }
    }

    private mutating func commit(first count: Int) throws(StoreError) {
        if count == 1 { return try target.write(waiting[0].changes) }
        var changes: [StoreChange] = []
        changes.reserveCapacity(waiting[..<count].reduce(0) { $0 + $1.changes.count })
        for batch in waiting[..<count] { changes += batch.changes }
        try target.write(changes)
    }

    private mutating func moveLog() {
        guard logHasGrown else { return }
        logHasGrown = false
        if let error = target.moveLog() { notices.append(.logStays(error)) }
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

    private mutating func giveUpBallast() {
        do throws(StoreError) {
            try target.giveUpBallast()
        } catch {
            fail(error)
        }
        shortenLog()
    }

    private mutating func shortenLog() {
        do throws(StoreError) {
            try target.shortenLog()
        } catch {
            fail(error)
        }
    }

    private mutating func tendBallast(at now: MonotonicTime) {
        let isSmall = target.ballastByteCount < limits.ballastByteCount
        guard isSmall, now >= ballastTime else { return }
        if target.ballastByteCount == 0 { shortenLog() }
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
