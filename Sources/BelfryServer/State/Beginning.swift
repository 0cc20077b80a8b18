import BelfryCenter
import BelfryStore
import BelfrySystem

/// The state that the loops start with: a store and its content, or neither.
struct Beginning {
    /// The store; nil when everything is in memory.
    var store: (any StoreDoor)?
    /// The record of dispatched numbers that survives `kill -9`; nil without a data directory.
    var witness: DispatchWitness?
    /// The centers, as the store has them.
    private(set) var centers: [NotificationCenter] = []
    /// The time of the restored centers at the start; nil without a store.
    private(set) var restoredAt: MonotonicTime?
    var secrets = CenterSecrets()
    /// The number of this life of the store's broker; nil without a store.
    private(set) var incarnation: UInt64?
    /// Whether the last life of the store ended in order.
    private(set) var isComplete = true
    /// Whether the store was copied back.
    private(set) var isCopied = false
    private(set) var numbers = Numbers()
    /// The numbers of rows that found no room, by their kinds.
    var leftOut: [RestoredMemory.Row: Int] = [:]

    /// Begins without a store.
    init() {}

    /// Begins with the content of a store.
    init(
        _ facts: StoreImage, _ centers: [NotificationCenter], _ numbers: Numbers,
        secrets: CenterSecrets, at time: CommandTime
    ) {
        self.secrets = secrets
        self.centers = centers
        restoredAt = MonotonicTime(nanoseconds: time.monotonicNanoseconds)
        self.numbers = numbers
        incarnation = facts.incarnation
        isComplete = facts.isComplete
        isCopied = facts.isCopied
    }

    /// Logs the content of the store.
    ///
    /// - Parameter isUnwritten: whether the disk had no room for this life, whose positions no
    ///   other one has.
    func log(in log: ServerLog, since start: MonotonicTime, isUnwritten: Bool) {
        let milliseconds = (MonotonicTime.now().nanoseconds - start.nanoseconds) / 1_000_000
        func count(_ part: (NotificationCenter) -> Int) -> Int {
            centers.reduce(0) { $0 + part($1) }
        }
        log.write(
            .info, "restored", ("centers", centers.count), ("clients", count(\.clientCount)),
            ("observers", count(\.needs.observerCount)), ("held", count(\.needs.heldCount)),
            ("queued", count(\.needs.queueCount)), ("keys", count(\.keyCount)),
            ("cleanShutdown", isComplete), ("ms", milliseconds))
        if !leftOut.isEmpty {
            let counts = RestoredMemory.Row.allCases.compactMap { row in
                leftOut[row].map { "\(row.rawValue)=\($0)" }
            }
            log.write(
                .error,
                """
                the state does not fit into the memory: its youngest part was left out. It stays \
                in the data directory, and a start with more memory takes it (--memory-limit, or \
                the limit of the container)
                """,
                ("leftOut", counts.joined(separator: ",")))
        }
        if isCopied, !isUnwritten {
            log.write(
                .warning, "restored from a backup: clients that resume are told a gap")
        }
    }
}
