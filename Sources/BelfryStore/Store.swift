internal import BelfrySystem

/// A store file on a thread of its own, which commits what all loops hand in.
public final class Store: Sendable {
    private let mail: Monitor<StoreMail>
    private let promises = SharedFlag(false)
    private let backlog = SharedFlag(false)
    private let onNotice: @Sendable (StoreNotice) -> Void

    /// How long a store that keeps nothing is waited for at its end.
    public static let patienceWithNothing: Duration = .milliseconds(500)

    /// Starts the thread, to which the file goes over.
    ///
    /// - Parameters:
    ///   - file: the store; what a start needs of it was loaded before.
    ///   - onCommit: called from the thread after each commit, once for each batch in it, in the
    ///     order in which they were submitted.
    ///   - onNotice: called when something goes wrong, and when it is well again: from the thread,
    ///     and from here when it is so from the start.
    /// - Throws: `StoreError.system` when there is no room for one more thread.
    public init(
        _ file: consuming sending StoreFile,
        onCommit: @escaping @Sendable (_ loop: Int, _ ticket: UInt64) -> Void,
        onNotice: @escaping @Sendable (StoreNotice) -> Void
    ) throws(StoreError) {
        let limits = file.limits
        var worker = StoreWorker(file, limits: limits)
        // The ballast is laid before the first promise is asked for.
        let progress = worker.work(at: .now())
        for notice in progress.notices { onNotice(notice) }
        let mail = Monitor(StoreMail(progress))
        self.mail = mail
        self.onNotice = onNotice
        promises.value = progress.weightLimit > 0
        let box = WorkerBox(worker)
        let thread = StoreThread(
            mail: mail, promises: promises, backlog: backlog, onCommit: onCommit,
            onNotice: onNotice)
        do throws(SystemCallError) {
            // The thread is not joined: `close` waits until it says that it has ended.
            _ = try SystemThread { thread.run(box) }
        } catch {
            throw StoreError(error)
        }
    }

    deinit {
        // Without `close` the thread ends after the waiting batches, and the life not in order.
        mail.change { $0.isAbandoned = true }
    }

    /// Whether something that must last may be promised now.
    ///
    /// It turns false when so much waits that a full disk could not take it, when the disk is full
    /// or fails, and when the store has its size; it turns true again by itself.
    public var acceptsPromises: Bool { promises.value }

    /// Whether half of what may wait to be committed does.
    public var isBehind: Bool { backlog.value }

    /// Whether nothing can be expected of the disk: its files are not in their place, or a promise
    /// was not kept in time and nothing was committed since.
    public var keepsNothing: Bool { mail.take { $0.keepsNothing } ?? false }

    /// Whether the disk has no room for the submitted batches.
    public var isFull: Bool { mail.take { $0.refusal == .full } ?? false }

    /// Whether the disk has held the thread up for so long.
    public func isHeldUp(for time: Duration) -> Bool {
        mail.take { MonotonicTime.now() - $0.passTime >= time } ?? false
    }

    /// A promise was not kept in time: nothing more is promised until something is committed.
    public func noteStandstill() {
        let isNews = mail.change { mail in
            let isNews = !mail.standsStill && mail.refusal == nil && !mail.isClosing
            mail.standsStill = true
            promises.value = mail.acceptsPromises
            return isNews
        }
        if isNews { onNotice(.standsStill) }
    }

    /// Counts a promise that was refused, and says why.
    ///
    /// - Returns: `.numbers` when the store itself takes promises.
    @discardableResult
    public func noteRefusal() -> StoreRefusal {
        let reason = mail.take { mail -> StoreRefusal? in
            let reason = mail.currentRefusal ?? .numbers
            mail.figures.refusals[reason, default: 0] += 1
            return reason
        }
        return reason ?? .numbers
    }

    /// The work of the store so far.
    public var figures: StoreFigures {
        let found = mail.take { mail -> StoreFigures? in
            var figures = mail.figures
            figures.takesPromises = mail.acceptsPromises
            return figures
        }
        return found ?? StoreFigures()
    }

    /// Submits the changes of one turn of a loop; any thread may do it.
    ///
    /// Applied changes are never refused, whatever ``acceptsPromises`` says.
    /// - Returns: Whether the store is still open; nothing is taken after ``close(within:)``.
    @discardableResult
    public func submit(_ batch: StoreBatch) -> Bool {
        mail.change { mail in
            guard !mail.isClosing else { return false }
            mail.add(batch)
            promises.value = mail.acceptsPromises
            backlog.value = mail.isBehind
            return true
        }
    }

    /// Begins to copy all committed state, between commits.
    ///
    /// The copy has everything that was reported as committed before, and has been read as a start
    /// reads it.
    /// - Parameter onOutcome: called once, from another thread.
    /// - Throws: `.underWay` and `.closing`, when nothing is begun.
    public func backUp(_ onOutcome: @escaping BackupOutcome) throws(BackupError) {
        let refusal = mail.change { mail -> BackupError? in
            if mail.isClosing { return .closing }
            if mail.isBackingUp { return .underWay }
            mail.isBackingUp = true
            mail.backup = onOutcome
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Commits the waiting batches, notes the clean end of the life, and waits for the thread.
    ///
    /// - Parameter patience: how long to retry while the disk fails.
    /// - Returns: Whether everything is committed and the life ended in order.
    @discardableResult
    public func close(within patience: Duration = .seconds(10)) -> Bool {
        beginClosing(within: patience)
        // The disk may hold the thread up for ever: then the process ends without it.
        let end = mail.change { $0.closingDeadline + $0.closingPatience }
        return mail.take(until: end) { $0.outcome } ?? false
    }

    /// Begins what ``close(within:)`` does, and waits for nothing.
    ///
    /// - Parameters:
    ///   - patience: how long a disk that does not take it is tried.
    ///   - onEnd: called from the thread when another process may have the directory.
    public func beginClosing(
        within patience: Duration = .seconds(10), onEnd: @escaping @Sendable () -> Void = {}
    ) {
        let now = MonotonicTime.now()
        mail.change { mail in
            guard !mail.isClosing else { return }
            mail.closingPatience = mail.keepsNothing ? Self.patienceWithNothing : patience
            mail.isClosing = true
            mail.closingDeadline = now + mail.closingPatience
            mail.onEnd = onEnd
            promises.value = false
        }
    }
}

/// The state that the loops and the store's thread share.
struct StoreMail: Sendable {
    /// The batches that were submitted, and not taken by the thread.
    var batches: [StoreBatch] = []
    /// By how much all that is not committed may make the main file grow.
    var growth = 0
    /// The limit of that growth for new promises; 0 when none are taken.
    var weightLimit: Int
    /// Why none are taken, apart from the weight.
    var refusal: StoreRefusal?
    /// Whether a promise was not kept in time, and nothing was committed since.
    var standsStill = false
    /// When the thread was last known to get on; it looks around each second.
    var passTime = MonotonicTime.now()
    var figures = StoreFigures()
    /// Whether a copy is being made or read, and the requester of one that is not begun.
    var isBackingUp = false
    var backup: BackupOutcome?
    var isClosing = false
    var closingDeadline = MonotonicTime.distantFuture
    /// How long the disk is tried, and then once more waited for.
    var closingPatience = Duration.zero
    /// Whether the store has no owner any more.
    var isAbandoned = false
    /// Called when the thread has ended.
    var onEnd: @Sendable () -> Void = {}
    /// Whether the life ended in order, once the thread has ended.
    var outcome: Bool?

    init(_ progress: StoreWorker<StoreFile>.Progress) {
        weightLimit = progress.weightLimit
        refusal = progress.refusal
        figures.note(progress.notices)
    }

    /// Why no promise is taken now; nil when one is.
    var currentRefusal: StoreRefusal? {
        if isClosing { return .closing }
        return refusal ?? (standsStill ? .failing : growth > weightLimit ? .behind : nil)
    }

    var keepsNothing: Bool { standsStill || refusal == .displaced }

    var acceptsPromises: Bool { currentRefusal == nil }

    /// Whether the growth is above half of its limit.
    ///
    /// Where nothing is committed at all, waiting is useless.
    var isBehind: Bool { refusal == nil && growth > weightLimit / 2 }

    mutating func add(_ batch: StoreBatch) {
        batches.append(batch)
        growth += batch.growth
        figures.batchCount += 1
        figures.changeCount += UInt64(batch.changeCount)
    }
}

/// Hands a worker, which cannot be copied, to a thread.
final class WorkerBox {
    private var worker: StoreWorker<StoreFile>?

    init(_ worker: consuming StoreWorker<StoreFile>) {
        self.worker = consume worker
    }

    func take() -> StoreWorker<StoreFile> {
        guard let worker = worker.take() else {
            preconditionFailure("a worker goes to one thread")
        }
        return worker
    }
}
