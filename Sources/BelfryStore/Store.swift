internal import BelfrySystem

/// A store file on a thread of its own, which commits what all loops hand in.
public final class Store: Sendable {
    private let mail: Monitor<StoreMail>
    private let promises = SharedFlag(false)

    /// Starts the thread, to which the file goes over.
    ///
    /// - Parameters:
    ///   - file: the store; what a start needs of it was loaded before.
    ///   - onCommit: called from the thread after each commit, once for each batch in it, in the
    ///     order in which they were submitted.
    ///   - onNotice: called when something goes wrong, and when it is well again: from the thread, and
    ///     from here when it is so from the start.
    /// - Throws: `StoreError.system` when there is no room for one more thread.
    public init(
        _ file: consuming sending StoreFile,
        onCommit: @escaping @Sendable (_ loop: Int, _ ticket: UInt64) -> Void,
        onNotice: @escaping @Sendable (StoreNotice) -> Void
    ) throws(StoreError) {
        let limits = file.limits
        var worker = StoreWorker(file, limits: limits)
        // The ballast stands before the first promise is asked for.
        let progress = worker.work(at: .now())
        for notice in progress.notices { onNotice(notice) }
        let mail = Monitor(StoreMail(weightLimit: progress.weightLimit))
        self.mail = mail
        promises.value = progress.weightLimit > 0
        let box = WorkerBox(worker)
        let thread = StoreThread(
            mail: mail, promises: promises, onCommit: onCommit, onNotice: onNotice)
        do throws(SystemCallError) {
            // The thread is not joined: `close` waits until it says that it has ended.
            _ = try SystemThread { thread.run(box) }
        } catch {
            throw StoreError(error)
        }
    }

    deinit {
        // Without `close` the thread ends after what waits, and the life not in order.
        mail.change { $0.isAbandoned = true }
    }

    /// Whether something that must last may be promised now.
    ///
    /// It turns false when so much waits that a full disk could not take it, when the disk is full
    /// or fails, and when the store has its size; it turns true again by itself.
    public var acceptsPromises: Bool { promises.value }

    /// How many transactions the batches were committed in, for tests and metrics.
    public var commitCount: Int { mail.change { $0.commitCount } }

    /// Hands over what one turn of a loop changed; any thread may do it.
    ///
    /// What was applied is never refused, whatever ``acceptsPromises`` says.
    /// - Returns: Whether the store is still open; nothing is taken after ``close(within:)``.
    @discardableResult
    public func submit(_ batch: StoreBatch) -> Bool {
        mail.change { mail in
            guard !mail.isClosing else { return false }
            mail.add(batch)
            promises.value = mail.acceptsPromises
            return true
        }
    }

    /// Commits what waits, notes that the life ended in order, and waits until the thread has ended.
    ///
    /// - Parameter patience: how long a disk that does not take it is tried.
    /// - Returns: Whether everything is committed and the life ended in order.
    @discardableResult
    public func close(within patience: Duration = .seconds(10)) -> Bool {
        let deadline = MonotonicTime.now() + patience
        mail.change { mail in
            mail.isClosing = true
            mail.closingDeadline = deadline
            promises.value = false
        }
        return mail.take { $0.outcome } ?? false
    }
}

/// What the loops and the store's thread share.
struct StoreMail: Sendable {
    /// What was submitted, and not taken by the thread.
    var batches: [StoreBatch] = []
    /// By how much all that is not committed may make the main file grow.
    var growth = 0
    /// How much that may be for new promises; 0 when none are taken.
    var weightLimit: Int
    var commitCount = 0
    var isClosing = false
    var closingDeadline = MonotonicTime.distantFuture
    /// Whether nobody has the store any more.
    var isAbandoned = false
    /// Whether the life ended in order, once the thread has ended.
    var outcome: Bool?

    init(weightLimit: Int) {
        self.weightLimit = weightLimit
    }

    var acceptsPromises: Bool { !isClosing && weightLimit > 0 && growth <= weightLimit }

    mutating func add(_ batch: StoreBatch) {
        batches.append(batch)
        growth += batch.growth
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
