internal import BelfrySystem

/// The work of the store's thread, without the thread and without a clock.
///
/// All batches that wait are committed in one transaction, or in several where the ballast has no
/// room for the log of one. When that fails, the ballast is given up and the commit tried again at
/// once, and then each second; nothing is lost but time. New promises are taken again when
/// everything is committed and a ballast is laid.
///
/// A commit is reported only when the files are known to be in their place after it, because a file
/// that was removed or replaced can be written, and is lost. While one is missing nothing is
/// committed, reported or promised; when it is back unchanged, the work continues.
struct StoreWorker<Target: CommitTarget & ~Copyable>: ~Copyable {
    /// How long nothing is tried again after it failed.
    static var retryInterval: Duration { .seconds(1) }
    /// How often it is looked whether the files are in their place, when nothing is committed.
    static var lookInterval: Duration { .seconds(1) }
    /// How long a store must have been no larger than it may be for that to be told.
    static var calmInterval: Duration { .seconds(5) }
    /// How long a ballast that is smaller than it should be is left so.
    static var growthInterval: Duration { .seconds(60) }
    /// The growth of the inner pages of the trees in a commit: two of each of the 13 trees.
    static var reserveByteCount: Int { 26 * StoreChange.frameByteCount }

    private var target: Target
    private let limits: StoreLimits
    private var waiting: [StoreBatch] = []
    /// The batches that were committed before a file was found out of its place.
    private var unconfirmed: [StoreBatch] = []
    /// Why the last commit or ballast failed, until one succeeds.
    private var failure: StoreError?
    private var isDisplaced = false
    private var isOversized = false
    /// Whether it was told that the store is too large, and when it was so last.
    private var hasToldSize = false
    private var oversizeTime = MonotonicTime(nanoseconds: .min)
    /// Whether the log has grown since it was looked at.
    private var logHasGrown = false
    private var commitTime = MonotonicTime(nanoseconds: .min)
    private var lookTime = MonotonicTime(nanoseconds: .min)
    private var ballastTime = MonotonicTime(nanoseconds: .min)
    private var notices: [StoreNotice] = []
    /// Whether a copy is being made, and why it was given up.
    private(set) var isCopying = false
    private var copyFailure: StoreError?
    /// The last copy, while it is read.
    private weak var lastCopy: BackupFile?

    /// Takes over a store.
    init(_ target: consuming Target, limits: StoreLimits) {
        self.target = target
        self.limits = limits
    }

    /// The outcome of one step.
    struct Progress {
        /// The batches that are committed now, in the order in which they came.
        var committed: [StoreBatch] = []
        /// The notices for the operator.
        var notices: [StoreNotice] = []
        /// The number of transactions.
        var transactionCount = 0
        /// The weight that may wait from now on; 0 when nothing new may be promised.
        var weightLimit = 0
        /// Why nothing new may be promised, if that is so.
        var refusal: StoreRefusal?
    }

    /// Whether something waits to be committed, or to be told.
    var hasWork: Bool { !waiting.isEmpty || !unconfirmed.isEmpty }

    /// When something is to be done, even if nothing comes.
    var nextTime: MonotonicTime {
        if isCopying { return MonotonicTime(nanoseconds: 0) }
        if isDisplaced { return lookTime }
        if hasWork { return min(lookTime, commitTime) }
        return target.ballastByteCount == 0 ? min(lookTime, ballastTime) : lookTime
    }

    /// How large the files are.
    var size: StoreSize {
        StoreSize(usedByteCount: target.usedByteCount, logByteCount: target.logByteCount)
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

    /// Performs the next step of the work.
    mutating func work(at now: MonotonicTime) -> Progress {
        var progress = Progress()
        if now >= lookTime {
            look(at: now)
            if waiting.isEmpty, !isCopying { target.giveMemoryBack() }
        }
        if now >= commitTime {
            while !isDisplaced, !waiting.isEmpty {
                let count = commitSome(at: now)
                if count == 0 {
                    commitTime = now + Self.retryInterval
                    break
                }
                unconfirmed += waiting[..<count]
                progress.transactionCount += 1
                waiting.removeFirst(count)
                look(at: now)
                if !waiting.isEmpty { moveLog() }
            }
        }
        if !isDisplaced {
            swap(&progress.committed, &unconfirmed)
            if waiting.isEmpty { tendBallast(at: now) }
        }
        progress.refusal = refusal
        progress.weightLimit = progress.refusal == nil ? weightLimit : 0
        swap(&notices, &progress.notices)
        return progress
    }

    /// Does work that no answer waits for: moves a long log into the main file.
    ///
    /// The log is then longer than it should be by one commit, for which the ballast has room.
    mutating func tidy() -> [StoreNotice] {
        moveLog()
        var told: [StoreNotice] = []
        swap(&notices, &told)
        return told
    }

    /// Begins to copy the store; what becomes of that is told by ``copyOn()``.
    mutating func beginCopy() {
        isCopying = true
        do throws(StoreError) {
            if let failure { throw failure }
            try target.beginCopy()
        } catch {
            copyFailure = error
        }
    }

    /// Copies some pages more, which a commit may wait for.
    ///
    /// - Returns: the file once it has all of them, or why there is none; nil while there is more
    ///   to do.
    mutating func copyOn() -> Result<BackupFile, StoreError>? {
        guard isCopying else { return nil }
        do throws(StoreError) {
            if let error = copyFailure.take() { throw error }
            guard let file = try target.copyOn() else { return nil }
            lastCopy = file
            isCopying = false
            return .success(file)
        } catch {
            isCopying = false
            return .failure(error)
        }
    }

    /// Ends a copy in progress; its file is removed before the next one, or at the start.
    mutating func endCopy() {
        guard isCopying else { return }
        isCopying = false
        try? target.endCopy()
    }

    /// Ends the life in order, if everything was committed.
    consuming func close() -> Bool {
        endCopy()
        guard !hasWork else { return false }
        do throws(StoreError) {
            try target.checkPlace()
            do throws(StoreError) {
                try target.noteEnd()
            } catch {
                try target.giveUpBallast()
                try target.noteEnd()
            }
            try target.checkPlace()
            return true
        } catch {
            // The next life is told that this one did not end in order.
            return false
        }
    }

    /// The weight that may wait, a third of the ballast.
    ///
    /// With that much in the log (`StoreFile.logPageLimit`), and as much again in one commit, the
    /// ballast has room for the commit, and for all of the log in the main file.
    private var weightLimit: Int {
        max(target.ballastByteCount / 3 - Self.reserveByteCount, 0)
    }

    /// Why nothing new may be promised; nil when something may.
    private var refusal: StoreRefusal? {
        if isDisplaced { return .displaced }
        if let failure { return failure == .full ? .full : .failing }
        if isOversized { return .size }
        return weightLimit == 0 ? .full : nil
    }

    // MARK: Looking

    /// Finds out whether the files are in their place, and no larger than they may be.
    private mutating func look(at now: MonotonicTime) {
        lookTime = now + Self.lookInterval
        do throws(StoreError) {
            try target.checkPlace()
            if isDisplaced { notices.append(.recovered) }
            isDisplaced = false
        } catch {
            if !isDisplaced { notices.append(.failed(error)) }
            isDisplaced = true
        }
        measure(at: now)
    }

    private mutating func measure(at now: MonotonicTime) {
        let byteCount = target.usedByteCount
        let limit = limits.byteLimit
        isOversized = byteCount > limit
        if isOversized {
            if !hasToldSize { notices.append(.oversized(byteCount: byteCount, limit: limit)) }
            hasToldSize = true
            oversizeTime = now
        } else if hasToldSize, now >= oversizeTime + Self.calmInterval {
            notices.append(.fits(byteCount: byteCount, limit: limit))
            hasToldSize = false
        }
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

    /// Commits as many of the waiting batches in one transaction as fit.
    ///
    /// A full disk may still have room for fewer: their removals make room for the rest.
    /// - Returns: how many batches were committed.
    private mutating func commitSome(at now: MonotonicTime) -> Int {
        var count = groupCount
        while true {
            do throws(StoreError) {
                try commit(first: count)
                logHasGrown = true
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
        guard logHasGrown, !isDisplaced else { return }
        logHasGrown = false
        if let error = target.moveLog() { notices.append(.logStays(error)) }
    }

    private mutating func fail(_ error: StoreError) {
        if failure == nil { notices.append(.failed(error)) }
        failure = error
        // The store needs the disk more than a copy does, even one that is being read.
        if isCopying {
            endCopy()
            (isCopying, copyFailure) = (true, error)
        }
        try? lastCopy?.giveUp()
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
            if failure != nil { notices.append(.recovered) }
            failure = nil
        } catch {
            fail(error)
            ballastTime = now + Self.retryInterval
        }
    }
}
