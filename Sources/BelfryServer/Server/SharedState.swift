import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// What all loops of a broker share: counters, and the doors to each other.
final class SharedState: Sendable {
    /// The number of the observer that was registered last, of any center.
    let observerSerials: NumberBlock
    /// The number of the client that connected last.
    let clientNumbers: NumberBlock
    /// The number of the mode lease that was entered last.
    let modeSerials: NumberBlock
    /// All of these.
    let numberBlocks: [NumberBlock]
    /// Keeps what must last; nil when everything is in memory.
    let store: (any StoreDoor)?
    /// Whether there is a store: a look at the door itself would count a reference.
    let hasStore: Bool
    /// The centers out of the store that no loop has taken yet.
    private let centers: Mutex<[NotificationCenter]>
    /// The time that these know; nil where there are none.
    let restoredAt: MonotonicTime?
    /// The memory that all centers keep.
    let memory = MemoryAccount()
    /// Bytes that all centers hold for clients that are suspended.
    let heldByteCount = Atomic<Int>(0)
    /// Bytes of all queues.
    let queueByteCount = Atomic<Int>(0)
    /// Observers of all centers now.
    let observerCount = Atomic<Int>(0)
    /// Centers now.
    let centerCount = Atomic<Int>(0)
    /// What addresses and principals have asked for lately.
    let rates = RateTables()
    /// The connections of addresses and principals.
    let seats = SeatTable()
    /// What centers keep for addresses and principals.
    let owners = OwnerTable()
    /// Observers that were removed lately, whose deliveries may be on their way to another loop.
    let removedObservers = RemovedObservers()
    /// Verifies tokens off the loops; nil where each loop does that itself.
    let verifier: TokenVerifier?
    /// Gives memory back to the system after a peak.
    let trimmer = MemoryTrimmer()
    /// The tickets that were handed out and not used.
    let tickets = Mutex(TicketTable())
    /// How far the restoring has come, for the loop that tells it; nil for those that serve.
    let progress: StartProgress?
    /// Where the broker stands.
    let lifecycle = Atomic(Lifecycle.ready)
    /// What observers have lost.
    let losses = Mutex(Losses())
    /// How many requests and calls were refused, by what they were told.
    let refusals = Mutex<[Problem.Kind: UInt64]>([:])
    /// What the process takes of the machine.
    let process = ProcessSampler()
    /// The counters of each loop, as of the end of its last turn.
    let counters: [Published<Counters>]
    /// The door of each loop.
    let mailboxes: [LoopMailbox<LoopMessage>]
    /// When the certificate ends, in seconds since 1970; 0 without one.
    let certificateEnd = Atomic<Int64>(0)
    /// What makes this life of the broker different from others.
    let incarnation: UInt64
    let hashSeed: HashSeed
    let startedAt: WallTime
    /// The files that are built in.
    let assets: [Asset: [UInt8]]
    /// The same encoded with gzip.
    let compressedAssets: [Asset: [UInt8]]
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
        centers = Mutex(beginning.centers)
        restoredAt = beginning.restoredAt
        observerSerials = beginning.observerSerials
        clientNumbers = beginning.clientNumbers
        modeSerials = beginning.modeSerials
        numberBlocks = [observerSerials, clientNumbers, modeSerials]
        counters = mailboxes.map { _ in Published(Counters()) }
        var random = SystemRandom()
        incarnation = beginning.incarnation ?? random.next()
        hashSeed = beginning.hashSeed
        startedAt = WallTime.now()
        assets = Asset.files
        compressedAssets = Asset.compressedFiles
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

    /// Counts what the observers of a loop lost in a turn.
    func noteLosses(_ more: Losses) {
        losses.withLock { $0.add(more, since: Losses()) }
    }

    /// Counts a request or a call that was refused.
    func noteRefusal(_ kind: Problem.Kind) {
        refusals.withLock { $0[kind, default: 0] += 1 }
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
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in center { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int(hash % UInt64(mailboxes.count))
    }
}
