import BelfryAccess
import BelfryBytes
import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// What all loops of a broker share: counters, and the doors to each other.
final class SharedState: Sendable {
    /// The numbers of observers, clients and mode leases.
    let numbers: Numbers
    /// Keeps what must last; nil when everything is in memory.
    let store: (any StoreDoor)?
    /// Whether there is a store: a look at the door itself would count a reference.
    let hasStore: Bool
    /// What a kill leaves of what is dispatched; nil without a store.
    let witness: DispatchWitness?
    /// The centers out of the store that no loop has taken yet.
    private let centers: Mutex<[NotificationCenter]>
    /// The time that these know; nil where there are none.
    let restoredAt: MonotonicTime?
    /// What all centers have and keep.
    let totals = CenterTotals()
    let askers = AskerTables()
    /// Observers that were removed lately, whose deliveries may be on their way to another loop.
    let removedObservers = RemovedObservers()
    /// Verifies tokens off the loops; nil where each loop does that itself.
    let verifier: TokenVerifier?
    /// Gives memory back to the system after a peak.
    let trimmer = MemoryTrimmer()
    /// The tickets that this broker has handed out by itself, and that were not used.
    let tickets = Mutex(TicketTable<Caller>())
    /// How far the restoring has come, for the loop that tells it; nil for those that serve.
    let progress: StartProgress?
    /// Why the log of the cluster takes nothing; nil where it does, and where there is none.
    let logState = Mutex<Unavailability?>(nil)
    /// The figures of the cluster for the metrics.
    let cluster = Mutex(ClusterFigures())
    /// Where the broker stands.
    let lifecycle = Atomic(Lifecycle.ready)
    let figures = BrokerFigures()
    /// The counters of each loop, as of the end of its last turn.
    let counters: [Published<Counters>]
    /// The door of each loop.
    let mailboxes: [LoopMailbox<LoopMessage>]
    /// What makes this life of the broker different from others.
    let incarnation: UInt64
    let secrets: CenterSecrets
    /// Reads the configuration anew, on a thread where it may block; nil where nothing can change.
    let reload: (@Sendable () throws -> ServerConfiguration)?

    /// How many messages wait for one loop at most: one for each other loop and turn.
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

    /// Makes the doors of the loops.
    static func makeMailboxes(
        loopCount: Int
    ) throws(SystemCallError) -> [LoopMailbox<LoopMessage>] {
        var mailboxes: [LoopMailbox<LoopMessage>] = []
        for _ in 0..<loopCount {
            mailboxes.append(try LoopMailbox(messageLimit: mailboxLimit))
        }
        return mailboxes
    }

    /// Whether what must last can be stored now.
    @inline(__always)
    var canStore: Bool { !hasStore || store?.takesPromises ?? true }

    /// Refuses what would have to be stored and cannot be.
    @inline(__always)
    func checkStore() throws(Problem) {
        guard canStore else { throw Problem(Refusal.cannotStore) }
    }

    /// Takes the centers out of the store that live on a loop.
    func takeCenters(for loop: Int) -> [NotificationCenter] {
        centers.withLock { centers in
            let taken = centers.filter { home(of: $0.name) == loop }
            centers.removeAll { home(of: $0.name) == loop }
            return taken
        }
    }

    /// The loop on which a center lives.
    func home(of center: [UInt8]) -> Int {
        if mailboxes.count == 1 || center == RoutedPath.defaultCenter { return 0 }
        return Int(center.span.fnv1a % UInt64(mailboxes.count))
    }
}
