import BelfryCenter
import BelfryStore
import BelfrySystem

/// What the loops begin with: a store and what it has, or nothing of both.
struct Beginning {
    /// The store; nil when everything is in memory.
    var store: (any StoreDoor)?
    /// The centers, as the store has them.
    private(set) var centers: [NotificationCenter] = []
    /// The time that the centers know; nil where there are none.
    private(set) var restoredAt: MonotonicTime?
    /// The secret of this process for its hash tables.
    let hashSeed: HashSeed
    /// Which life of the store's broker this is; nil when nobody counts.
    private(set) var incarnation: UInt64?
    /// Whether the last life of the store ended in order.
    private(set) var isComplete = true
    /// Whether the store was copied back.
    private(set) var isCopied = false
    private(set) var observerSerials = NumberBlock(.observers)
    private(set) var clientNumbers = NumberBlock(.clients)
    private(set) var modeSerials = NumberBlock(.modes)

    /// Begins with nothing.
    init() {
        var random = SystemRandom()
        hashSeed = HashSeed(random.next(), random.next())
    }

    /// Begins with what a store has, and reserves the first numbers of this life.
    ///
    /// A center is made of its rows as they are read. A store that was copied back may know less than its
    /// observers do: all centers get new epochs, so that no position of the past is taken for one of this
    /// life.
    ///
    /// - Parameters:
    ///   - store: a store that no thread has yet.
    ///   - limits: what centers keep to.
    ///   - time: since when their clients are away, and what is left of times runs.
    ///   - progress: counts what was read.
    ///   - makeEpoch: text that no other life of a center has.
    init(
        _ store: inout some DurableStore & ~Copyable, limits: CenterLimits, at time: CommandTime,
        progress: StartProgress = StartProgress(), makeEpoch: () -> [UInt8]
    ) throws(StoreError) {
        self.init()
        var limits = limits
        limits.isDurable = true
        let seed = hashSeed
        var facts = StoreImage()
        var changes: [StoreChange] = []
        var centers: [NotificationCenter] = []
        var restoration: CenterRestoration?
        try store.load { piece in
            switch piece {
            case .broker(let found, let rowCount):
                facts = found
                progress.expect(rowCount: rowCount)
                if found.isCopied { changes.append(.epochsRenewed) }
            case .center(var image, let size):
                if let done = restoration.take() { centers.append(done.finish()) }
                if facts.isCopied {
                    image.epoch = makeEpoch()
                    let record = CenterRecord(epoch: image.epoch)
                    changes.append(.center(name: image.name, .center(record)))
                }
                // The first numbers of this life are reserved before anybody can be given one of them: a
                // delivery does not wait for a commit.
                let through = image.sequence + NotificationCenter.sequenceBlock
                changes.append(.center(name: image.name, .sequenceReserved(through: through)))
                restoration = CenterRestoration(
                    of: image, size: size, limits: limits, seed: seed, time: time)
            case .row(let row):
                restoration?.take(row)
                progress.countRow()
            }
        }
        if let done = restoration.take() { centers.append(done.finish()) }
        self.centers = centers
        restoredAt = MonotonicTime(nanoseconds: time.monotonicNanoseconds)
        observerSerials = NumberBlock(.observers, after: facts.observersReserved)
        clientNumbers = NumberBlock(.clients, after: facts.clientsReserved)
        modeSerials = NumberBlock(.modes, after: facts.modesReserved)
        let requests = [observerSerials, clientNumbers, modeSerials].compactMap { $0.takeRequest() }
        try store.commit(changes + requests.map(\.change))
        for request in requests { request.block.commit(through: request.through) }
        incarnation = facts.incarnation
        isComplete = facts.isComplete
        isCopied = facts.isCopied
    }

    /// Tells what the store had.
    func log(in log: ServerLog, since start: MonotonicTime) {
        let milliseconds = (MonotonicTime.now().nanoseconds - start.nanoseconds) / 1_000_000
        func count(_ part: (NotificationCenter) -> Int) -> String {
            String(centers.reduce(0) { $0 + part($1) })
        }
        log.write(
            .info, "restored", ("centers", "\(centers.count)"), ("clients", count(\.clientCount)),
            ("observers", count(\.needs.observerCount)), ("held", count(\.needs.heldCount)),
            ("queued", count(\.needs.queueCount)), ("keys", count(\.keyCount)),
            ("endedInOrder", "\(isComplete)"), ("ms", "\(milliseconds)"))
        if isCopied {
            log.write(
                .warning, "the store was copied back: positions of before are answered with a gap")
        }
    }
}
