import BelfryCenter
import BelfryLoop
import BelfryStore
import BelfrySystem
import BelfryTLS

/// The work before the loops begin, while a porch answers (decision 55).
///
/// It locks the data directory, listens, and restores the state.
struct ServerStart: ~Copyable {
    let listeners: Listeners
    private var beginning: Beginning
    /// The store; nil when everything is in memory.
    let store: DiskStore?
    private var porch: Porch?

    /// Does all of it; nil when a signal stopped the wait for the data directory.
    static func make(
        _ configuration: ServerConfiguration, _ certificate: TLSContext?,
        signals: borrowing SignalDescriptor, mailboxes: [LoopMailbox<LoopMessage>], log: ServerLog,
        connectionLimit: Int
    ) throws(StartError) -> ServerStart? {
        guard let directory = configuration.dataDirectory else {
            return ServerStart(
                listeners: try Listeners(configuration), beginning: Beginning(), store: nil,
                porch: nil)
        }
        let lock = try Self.lock(
            directory, within: configuration.dataPatience, signals: signals, log: log)
        guard let data = lock else { return nil }
        let listeners = try Listeners(configuration)
        let progress = StartProgress()
        let porch = try StartError.systemCall { () throws(SystemCallError) in
            try Porch(
                at: listeners, certificate, progress: progress, log: log,
                connectionLimit: connectionLimit)
        }
        do throws(StoreError) {
            let (beginning, store) = try restore(
                data, configuration, progress: progress, mailboxes: mailboxes, log: log)
            return ServerStart(
                listeners: listeners, beginning: beginning, store: store, porch: porch)
        } catch {
            throw .store(error.sentence)
        }
    }

    /// Takes the state that the loops begin with.
    mutating func takeBeginning() -> Beginning {
        var taken = Beginning()
        swap(&taken, &beginning)
        return taken
    }

    /// Ends the porch; later connections wait for the loops.
    mutating func leaveListeners() {
        porch.take()?.leaveListeners()
    }

    /// Locks the data directory; waits while another process has it.
    private static func lock(
        _ directory: String, within patience: Duration, signals: borrowing SignalDescriptor,
        log: ServerLog
    ) throws(StartError) -> DataLock? {
        let deadline = MonotonicTime.now() + patience
        let pause = Monitor(())
        var hasWaited = false
        while true {
            do throws(StoreError) {
                return try DataLock(directory: directory)
            } catch {
                let now = MonotonicTime.now()
                guard error == .locked, now < deadline else { throw .store(error.sentence) }
                if !hasWaited { log.write(.info, "waiting for the data directory") }
                hasWaited = true
                let signal = try StartError.systemCall { () throws(SystemCallError) in
                    try signals.next()
                }
                if let signal, ServerLoop.stopSignals.contains(signal) { return nil }
                let _: Void? = pause.take(until: min(deadline, now + lockInterval)) { _ in nil }
            }
        }
    }

    /// The interval between two tries to lock a data directory.
    private static var lockInterval: Duration { .milliseconds(50) }

    /// Opens the store of a directory, and restores its content.
    private static func restore(
        _ data: consuming DataLock, _ configuration: ServerConfiguration, progress: StartProgress,
        mailboxes: [LoopMailbox<LoopMessage>], log: ServerLog
    ) throws(StoreError) -> (Beginning, DiskStore) {
        // The wall clock is read first: with a later one, times that were stored would be early.
        let wallStart = WallTime.now()
        let start = MonotonicTime.now()
        var limits = StoreLimits()
        limits.byteLimit = configuration.storeByteLimit
        limits.tombstoneLimit = configuration.centerLimits.tombstoneLimit
        limits.tombstoneByteLimit = configuration.memory.tombstones
        var random = SystemRandom()
        let past = try DispatchWitness.Past(of: data)
        var restoration = StateRestoration(
            limits: configuration.centerLimits, kept: KeptMemory(limitedBy: configuration),
            at: CommandTime(
                wallMilliseconds: wallStart.milliseconds,
                monotonicNanoseconds: start.nanoseconds),
            marks: { past.marks(of: $0, $1) }
        ) {
            random.hexadecimal(digitCount: 12)
        }
        let file = try StoreFile(
            data, durability: configuration.durability.ofStore, limits: limits,
            acceptsDamage: configuration.acceptsDamage,
            progress: { progress.note(percent: $0) }, telling: { restoration.take($0) },
            starting: { restoration.start() })
        log.write(file.losses)
        let isUnwritten = file.isUnwritten
        if isUnwritten {
            log.write(
                .warning,
                "the disk has no room for this start: nothing is promised until it has some")
        }
        var beginning = restoration.finish()
        beginning.secrets.tagKey = file.tagKey
        let store = try DiskStore(file, mailboxes: mailboxes, log: log)
        beginning.store = store
        do throws(SystemCallError) {
            beginning.witness = try DispatchWitness(past, incarnation: beginning.incarnation ?? 0)
        } catch {
            log.write(
                .info, "there is no memory for what a kill would leave: gaps may be told in vain",
                ("error", "\(error)"))
        }
        beginning.log(in: log, since: start, isUnwritten: isUnwritten)
        return (beginning, store)
    }
}
