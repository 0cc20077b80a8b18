import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// The centers of one loop: a submission in, items for connections out.
///
/// It knows connections only by the names that centers know too, so it does not matter which loop
/// has a connection. `perform` finds the request: an ``Operation`` begins with a command, the
/// command's effects are sent (`fanOut`), and the operation is finished with the answer.
struct CenterHost: ~Copyable {
    let shared: SharedState
    var centers: CenterTable
    /// The effects of the last command; the storage is reused.
    var effects = Effects()
    /// The command that caused them.
    var applied = AppliedCommand()
    /// Operations whose commands are not applied yet, by the command's id.
    var pending: [CommandID: Pending] = [:]
    /// Commands whose connections have gone before the log has shown them.
    var gone: Set<CommandID> = []
    /// The tickets in requests that the log may have.
    var tickets = TicketUses()
    /// The broker's part in the log that it shares.
    var part = LogPart()
    /// The answers that wait for the store.
    var promises = PromiseTable()
    /// The replies to posts and asks that wait for observers.
    var completions = CompletionTable()
    /// The requests that wait at mailboxes, for fates of asks and for changes of values.
    var waits = Waits()
    /// Work that waits for a turn with time for it.
    var postponed: PostponedWork
    var schedule = CenterSchedule()
    /// The limits and the memory of the centers, and the kinds that are over them.
    var kept: KeptWatch
    /// The number of rows that looks may still scan in this turn.
    var scanBudget = ScanBudget()
    /// The number of deliveries that the posts of this callout may make.
    var deliveryBound = DeliveryBound()
    let requestReader: RequestReader
    let rpcReader: RPCReader
    /// The longest time that a request may wait, in nanoseconds.
    var maxWait: Int64
    var answerLocation: [UInt8] = []

    init(
        _ configuration: ServerConfiguration, shared: SharedState, loop: Int,
        unfinishedTotal: ByteTotal, sequencer: (any Sequencer)?
    ) {
        self.shared = shared
        postponed = PostponedWork(unfinishedTotal: unfinishedTotal)
        requestReader = RequestReader(limits: configuration.wireLimits)
        rpcReader = RPCReader(limits: configuration.wireLimits)
        maxWait = configuration.maxWait.nanoseconds
        kept = KeptWatch(configuration, shared)
        // A log states its own limits.
        let limits =
            sequencer is LogSequencer ? CenterLimits().ofLog : CenterLimits(configuration, shared)
        centers = CenterTable(
            limits: limits, secrets: shared.secrets,
            incarnation: shared.incarnation, loop: loop, keepsChanges: shared.hasStore,
            witness: shared.witness, sequencer: sequencer)
    }

    /// Adopts a changed configuration, and gives the centers their limits.
    mutating func adopt(_ configuration: ServerConfiguration, _ context: inout LoopContext) {
        maxWait = configuration.maxWait.nanoseconds
        kept.limits = KeptMemory(limitedBy: configuration)
        guard centers.log == nil else { return adoptInLog(&context) }
        centers.limits = CenterLimits(configuration, shared)
        for position in 0..<centers.count {  // Bound: centers
            tell(.configure(centers.limits), to: position, &context)
        }
    }

    /// Takes the restored centers of this loop, and makes the default one, which always exists.
    mutating func takeCenters(_ context: inout LoopContext) {
        for center in shared.takeCenters(for: context.number) {  // Bound: start
            let position = centers.take(center, at: context.commandTime)
            centers.assignOwners(at: position, &context)
            shared.totals.centerCount.add(1, ordering: .relaxed)
            shared.totals.observerCount.add(centers[position].observerCount, ordering: .relaxed)
        }
        // The needs and costs of the centers are read at the end of the first turn.
        if centers.count > 0 { context.loop.takeAnotherTurn() }
        schedule.watch(centers, &context)
        guard centers.log == nil else { return }
        if shared.home(of: RoutedPath.defaultCenter) == context.number,
            centers.position(of: RoutedPath.defaultCenter) == nil
        {
            shared.totals.centerCount.add(1, ordering: .relaxed)
            let epoch = context.random.hexadecimal(digitCount: 12)
            _ = centers.make(RoutedPath.defaultCenter, epoch: epoch, time: context.commandTime)
        }
        // The first request may ask for the archives of the configuration.
        for position in 0..<centers.count  // Bound: start
        where !centers.limits.archives.isEmpty || centers[position].archives.count > 0 {
            tell(.configure(centers.limits), to: position, &context)
        }
    }
}

extension CenterLimits {
    /// The limits of each center: whether changes last is known to the broker.
    fileprivate init(_ configuration: ServerConfiguration, _ shared: SharedState) {
        self = configuration.heldCenterLimits
        isDurable = shared.hasStore
    }
}
