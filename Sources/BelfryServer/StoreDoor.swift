import BelfryCenter
import BelfryLoop
import BelfryStore
import BelfrySystem

/// The store, as the loops see it: they hand it what must last, and its commits come back as mail.
protocol StoreDoor: Sendable {
    /// Takes what a turn of a loop has changed.
    ///
    /// The loop gets ``LoopMessage/committed(_:)`` with the ticket of the batch once it is stored, and
    /// so is everything that the loop handed over before.
    func hand(_ batch: StoreBatch)
    /// Whether what is promised from now on can be kept; what was handed over is kept in any case.
    var takesPromises: Bool { get }
    /// Whether half of what may wait to be committed does; what can be put off should be.
    var isBehind: Bool { get }
    /// Counts that a promise was refused, with the reason.
    func noteRefusal()
    /// Whether writing fails, other than by what the broker may keep.
    var isFailing: Bool { get }
    /// Takes nothing more: commits what waits, ends the life in order, and gives the data up, for
    /// which nobody waits.
    ///
    /// Each loop then gets ``LoopMessage/released``.
    func end(telling mailboxes: [LoopMailbox<LoopMessage>])
    /// What it has done so far.
    var figures: StoreFigures { get }
    /// Begins to make a copy of it, and tells later, from another thread, what became of that.
    func backUp(_ onOutcome: @escaping BackupOutcome) throws(BackupError)
}

/// What the loops begin with: a store and what it has, or nothing of both.
struct Beginning {
    /// The store; nil when everything is in memory.
    var store: (any StoreDoor)?
    /// What the store has of the centers.
    var centers: [CenterImage] = []
    /// Which life of the store's broker this is; nil when nobody counts.
    var incarnation: UInt64?
    /// Whether the last life of the store ended in order.
    private(set) var isComplete = true
    /// Whether the store was copied back.
    private(set) var isCopied = false
    var observerSerials = NumberBlock(.observers)
    var clientNumbers = NumberBlock(.clients)
    var modeSerials = NumberBlock(.modes)

    /// Begins with nothing.
    init() {}

    /// Begins with what a store has, and reserves the first numbers of this life.
    ///
    /// A store that was copied back may know less than its observers do: all centers get new epochs,
    /// so that no position of the past is taken for one of this life.
    ///
    /// - Parameters:
    ///   - store: a store that no thread has yet.
    ///   - progress: counts what was read.
    ///   - makeEpoch: text that no other life of a center has.
    init(
        _ store: inout some DurableStore & ~Copyable, progress: StartProgress = StartProgress(),
        makeEpoch: () -> [UInt8]
    ) throws(StoreError) {
        var image = try store.load(observing: progress.note)
        var changes: [StoreChange] = []
        if image.isCopied {
            for index in image.centers.indices {
                image.centers[index].epoch = makeEpoch()
                let record = CenterRecord(epoch: image.centers[index].epoch)
                changes.append(.center(name: image.centers[index].name, .center(record)))
            }
            changes.append(.epochsRenewed)
        }
        // The first numbers of this life are reserved before anybody can be given one of them: a
        // delivery does not wait for a commit.
        for center in image.centers {
            let through = center.sequence + NotificationCenter.sequenceBlock
            changes.append(.center(name: center.name, .sequenceReserved(through: through)))
        }
        observerSerials = NumberBlock(.observers, after: image.observersReserved)
        clientNumbers = NumberBlock(.clients, after: image.clientsReserved)
        modeSerials = NumberBlock(.modes, after: image.modesReserved)
        let requests = [observerSerials, clientNumbers, modeSerials].compactMap { $0.takeRequest() }
        try store.commit(changes + requests.map(\.change))
        for request in requests { request.block.commit(through: request.through) }
        centers = image.centers
        incarnation = image.incarnation
        isComplete = image.isComplete
        isCopied = image.isCopied
    }

    /// Tells what the store had.
    func log(in log: ServerLog, since start: MonotonicTime) {
        let milliseconds = (MonotonicTime.now().nanoseconds - start.nanoseconds) / 1_000_000
        func count(_ part: (CenterImage) -> Int) -> String {
            String(centers.reduce(0) { $0 + part($1) })
        }
        log.write(
            .info, "restored", ("centers", "\(centers.count)"), ("clients", count(\.clients.count)),
            ("observers", count(\.observers.count)), ("held", count(\.held.count)),
            ("queued", count(\.queue.count)), ("keys", count(\.keys.count)),
            ("endedInOrder", "\(isComplete)"), ("ms", "\(milliseconds)"))
        if isCopied {
            log.write(
                .warning, "the store was copied back: positions of before are answered with a gap")
        }
    }
}
