import BelfryAccess
import BelfryBytes
import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// The state that all loops of a broker share: counters, and the mailboxes of each other.
final class SharedState: Sendable {
    /// The numbers of observers, clients and mode leases.
    let numbers: Numbers
    /// The store; nil when everything is in memory.
    let store: (any StoreDoor)?
    /// Whether there is a store: reading `store` itself would count a reference.
    let hasStore: Bool
    /// The record of dispatched numbers that survives `kill -9`; nil without a store.
    let witness: DispatchWitness?
    /// The centers from the store that no loop has taken yet.
    private let centers: Mutex<[NotificationCenter]>
    /// The time of the restored centers at the start; nil without a store.
    let restoredAt: MonotonicTime?
    /// The totals over all centers.
    let totals = CenterTotals()
    let askers = AskerTables()
    /// Recently removed observers, whose deliveries may be on their way to another loop.
    let removedObservers = RemovedObservers()
    /// Verifies tokens off the loops; nil where each loop does that itself.
    let verifier: TokenVerifier?
    /// Gives memory back to the system after a peak.
    let trimmer = MemoryTrimmer()
    /// The unused tickets that this broker issued by itself.
    let tickets = Mutex(TicketTable<Caller>())
    /// The progress of the start, for the loop that reports it; nil for those that serve.
    let progress: StartProgress?
    /// The reason why the cluster's log takes no entries; nil where it does, or without a cluster.
    let logState = Mutex<Unavailability?>(nil)
    /// The figures of the cluster for the metrics.
    let cluster = Mutex(ClusterFigures())
    /// The phase of the broker.
    let lifecycle = Atomic(Lifecycle.ready)
    let figures = BrokerFigures()
    /// The counters of each loop, as of the end of its last turn.
    let counters: [Published<Counters>]
    /// The mailbox of each loop.
    let mailboxes: [LoopMailbox<LoopMessage>]
    /// The number that sets this life of the broker apart from others.
    let incarnation: UInt64
    let secrets: CenterSecrets
    /// Reads the configuration anew, on a thread where it may block; nil where nothing can change.
    let reload: (@Sendable () throws -> ServerConfiguration)?

    /// The most messages that wait for one loop: one for each other loop and turn.
    static let mailboxLimit = 65_536

    init(
        mailboxes: [LoopMailbox<LoopMessage>],
        reload: (@Sendable () throws -> ServerConfiguration)? = nil,
        beginning: Beginning = Beginning(), verifier: TokenVerifier? = nil,
        progress: StartProgress? = nil
    ) {
        self.progress = progress
        self.verifier = verifier
        self.reload = reload
        self.mailboxes = mailboxes
        store = beginning.store
        hasStore = beginning.store != nil
        witness = beginning.witness
        centers = Mutex(beginning.centers)
        restoredAt = beginning.restoredAt
        numbers = beginning.numbers
        counters = mailboxes.map { _ in Published(Counters()) }
        var random = SystemRandom()
        incarnation = beginning.incarnation ?? random.next()
        secrets = beginning.secrets
        Asset.prepare()
    }

    /// Makes the mailboxes of the loops.
    static func makeMailboxes(
        loopCount: Int
    ) throws(SystemCallError) -> [LoopMailbox<LoopMessage>] {
        var mailboxes: [LoopMailbox<LoopMessage>] = []
        for _ in 0..<loopCount {
            mailboxes.append(try LoopMailbox(messageLimit: mailboxLimit))
        }
        return mailboxes
    }

    /// Whether the store can take changes now.
    @inline(__always)
    var canStore: Bool { !hasStore || store?.takesPromises ?? true }

    /// Throws when the store cannot take changes.
    @inline(__always)
    func checkStore() throws(Problem) {
        guard canStore else { throw Problem(Refusal.cannotStore) }
    }

    /// Takes the centers of a loop from those restored.
    func takeCenters(for loop: Int) -> [NotificationCenter] {
        centers.withLock { centers in
            let taken = centers.filter { home(of: $0.name) == loop }
            centers.removeAll { home(of: $0.name) == loop }
            return taken
        }
    }

    /// The number of a center's loop.
    func home(of center: [UInt8]) -> Int {
        if mailboxes.count == 1 || center == RoutedPath.defaultCenter { return 0 }
        return Int(center.span.fnv1a % UInt64(mailboxes.count))
    }
}
