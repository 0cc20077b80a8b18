import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// The centers of one loop: a submission in, items for connections out.
///
/// It knows no connection, only the names of connections, which centers know too. So it does not matter to
/// it which loop has a connection. `perform` finds what is asked: an ``Operation`` begins with a command, everybody
/// gets what that brought about (`fanOut`), and the operation is finished with the answer.
struct CenterHost: ~Copyable {
    let shared: SharedState
    var centers: CenterTable
    /// What the last command brought about; its storage is used again.
    var effects = Effects()
    /// The command that brought them about.
    var applied = AppliedCommand()
    /// What began with a command that was not applied yet, by its name.
    var pending: [CommandID: Pending] = [:]
    /// Commands whose connections have gone before the log has shown them, by their names.
    var gone: Set<CommandID> = []
    /// The tickets that requests show and that the log may have.
    var tickets = TicketUses()
    /// How the broker stands with the log that it shares.
    var part = LogPart()
    /// The answers that wait for the store.
    var promises = PromiseTable()
    /// The replies to posts and asks that wait for observers.
    var completions = CompletionTable()
    /// The requests that wait at mailboxes.
    var polls = PollTable()
    /// Who waits for what becomes of asks.
    var asks = AskWaitTable()
    /// Who waits for changes of values.
    var values = ValueWaitTable()
    /// What waits for a turn that has time for it.
    var postponed: PostponedWork
    var schedule = CenterSchedule()
    /// How much memory centers keep, and of what that is too much.
    var kept: KeptWatch
    /// How many rows may still be looked at in this turn.
    var scanBudget = ScanBudget()
    /// How often the posts of this callout may be delivered.
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
        // Those of a log are told by it.
        let limits =
            sequencer is LogSequencer ? CenterLimits() : CenterLimits(configuration, shared)
        centers = CenterTable(
            limits: limits, secrets: shared.secrets,
            incarnation: shared.incarnation, loop: loop, keepsChanges: shared.hasStore,
            witness: shared.witness, sequencer: sequencer)
    }

    /// Takes a configuration that has changed, and lets the centers have their limits.
    mutating func adopt(_ configuration: ServerConfiguration, _ outbox: inout Outbox) {
        maxWait = configuration.maxWait.nanoseconds
        kept.limits = KeptMemory(limitedBy: configuration)
        guard centers.log == nil else { return adoptInLog(&outbox) }
        centers.limits = CenterLimits(configuration, shared)
        for position in 0..<centers.count {  // Bound: centers
            tell(.configure(centers.limits), to: position, &outbox)
        }
    }

    /// Takes the centers of this loop that the store has, and makes the one that always exists.
    mutating func takeCenters(_ outbox: inout Outbox) {
        for center in shared.takeCenters(for: outbox.number) {  // Bound: start
            let position = centers.take(center, at: outbox.commandTime)
            centers.assignOwners(at: position, &outbox)
            shared.totals.centerCount.add(1, ordering: .relaxed)
            shared.totals.observerCount.add(centers[position].observerCount, ordering: .relaxed)
        }
        // What they hold, wait for and owe is found out at the end of the first turn.
        if centers.count > 0 { outbox.loop.takeAnotherTurn() }
        schedule.watch(centers, &outbox)
        guard shared.home(of: RoutedPath.defaultCenter) == outbox.number,
            centers.position(of: RoutedPath.defaultCenter) == nil, centers.log == nil
        else { return }
        shared.totals.centerCount.add(1, ordering: .relaxed)
        let epoch = outbox.random.hexadecimal(digitCount: 12)
        _ = centers.make(RoutedPath.defaultCenter, epoch: epoch, time: outbox.commandTime)
    }
}

extension CenterLimits {
    /// The limits of each center: whether anything lasts is for the broker to know.
    fileprivate init(_ configuration: ServerConfiguration, _ shared: SharedState) {
        self = configuration.centerLimits
        isDurable = shared.hasStore
    }
}
