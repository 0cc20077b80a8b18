import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// The memory that the centers of a loop keep, and the kinds that are over their limits.
///
/// Each kind has a limit over all centers of the broker (decision 46). Past it the center that
/// keeps most forgets its oldest where the rules let it; otherwise new entries are refused.
struct KeptWatch {
    let shared: SharedState
    /// The limit of each kind over all centers.
    var limits: KeptMemory
    /// Kinds that are over their limit, for the whole broker or for one owner.
    private(set) var trims: Set<Trim> = []
    /// Whether the timer for the next trimming is set.
    var isTimerSet = false
    /// The memory of this loop's centers, as far as it is accounted for.
    private(set) var byteCount = 0

    init(_ configuration: ServerConfiguration, _ shared: SharedState) {
        self.shared = shared
        limits = KeptMemory(limitedBy: configuration)
    }

    /// Accounts for the growth of the centers since the last call.
    @inline(__always)
    mutating func account(for centers: inout CenterTable, _ context: inout LoopContext) {
        if !centers.keptGrowth.isNone { accountForGrowth(&centers, &context) }
    }

    private mutating func accountForGrowth(
        _ centers: inout CenterTable, _ context: inout LoopContext
    ) {
        guard let growth = centers.keptGrowth.takeMemory() else { return }
        for kind in KeptKind.allCases where growth[kind] != 0 {
            shared.totals.add(growth[kind], to: kind)
            byteCount += growth[kind]
            if growth[kind] > 0, excess(of: kind) > 0 { trimLater(kind, &context) }
        }
        if centers.hasOwners { countOwned(&centers, &context) }
    }

    /// Counts the growth of held texts.
    mutating func noteHeld(_ growth: Int, _ context: inout LoopContext) {
        let total = shared.totals.heldByteCount.wrappingAdd(growth, ordering: .relaxed).newValue
        if growth > 0, total > context.configuration.heldByteLimit { trimLater(.held, &context) }
    }

    /// - Parameter owner: the owner that is over its share; none for the whole broker.
    mutating func trimLater(_ kind: KeptKind, of owner: Owner = .none, _ context: inout LoopContext)
    {
        switch kind {
        case .observers, .queue, .archives: return
        case .channels, .replay, .keys, .fates, .tombstones, .held: break
        }
        trims.insert(Trim(kind: kind, owner: owner))
        context.loop.takeAnotherTurn()
    }

    /// The bytes by which all centers are over the limit of a kind.
    func excess(of kind: KeptKind) -> Int {
        shared.totals[kind] - limits[kind]
    }

    /// Takes the kinds over their limits, to check them again.
    mutating func takeTrims() -> Set<Trim> {
        var taken: Set<Trim> = []
        swap(&taken, &trims)
        return taken
    }

    /// Postpones the trimming of held notifications: the store is behind, and has to record it.
    mutating func restBeforeTrimming(_ context: inout LoopContext) {
        trims.insert(Trim(kind: .held, owner: .none))
        guard !isTimerSet else { return }
        isTimerSet = true
        _ = context.loop.schedule(
            at: context.loop.now + .nanoseconds(CenterSchedule.storeRest), LoopTimer.trims.rawValue)
    }

    /// Checks that the broker and the owner have room for more observers, in each kind they fill.
    func reserve(_ requests: [ObserverRequest], for owner: Owner, _ context: inout LoopContext)
        throws(Problem)
    {
        let observesValues = requests.contains { $0.role.value != nil }
        if owner != .none, !requests.isEmpty {
            var wanted = Holdings()
            wanted.observerCount = requests.count
            if observesValues { wanted.memory[.queue] = 1 }
            try checkShare(of: owner, adding: wanted, &context)
        }
        guard
            shared.totals.observerCount.load(ordering: .relaxed) + requests.count
                <= context.configuration.observerLimit
        else {
            context.meet(.observers)
            throw Problem(
                .overloaded,
                """
                The broker has \(context.configuration.observerLimit) observers, the limit \
                (--max-observers).
                """
            )
        }
        for kind in [KeptKind.observers, .channels] where excess(of: kind) >= 0 {
            context.meet(.observers)
            throw Problem.full(MemoryKind(kind), context.configuration)
        }
        if observesValues, excess(of: .queue) >= 0 {
            context.meet(.queue)
            throw Problem.full(.queue, context.configuration)
        }
    }

    /// Counts a new center, if the broker and its owner have room for it.
    func reserveCenter(for owner: Owner, _ context: inout LoopContext) throws(Problem) {
        if owner != .none {
            var wanted = Holdings()
            wanted.centerCount = 1
            try checkShare(of: owner, adding: wanted, &context)
        }
        let count = shared.totals.centerCount.wrappingAdd(1, ordering: .relaxed).newValue
        let limit = context.configuration.centerLimit
        guard
            count > limit
                || count * MemoryKind.centerByteCount > context.configuration.memory.centers
        else { return }
        releaseCenter()
        context.meet(.centers)
        guard count > limit else {
            throw Problem.full(.centers, context.configuration)
        }
        throw Problem(
            .overloaded, "The broker has \(limit) centers, the limit (--max-centers).")
    }

    /// Uncounts a center that has ended, or was not made.
    func releaseCenter() { shared.totals.centerCount.subtract(1, ordering: .relaxed) }

    /// The bytes that open asks may still add.
    func askByteRoom(_ context: borrowing LoopContext) -> Int {
        max(0, context.configuration.askByteLimit - shared.totals[.askBytes])
    }

    /// The bytes that open asks may still add, for all and for an owner.
    func askByteRoom(for owner: Owner, _ context: inout LoopContext) -> Int {
        let room = max(0, min(askByteRoom(context), -excess(of: .queue)))
        return min(room, self.room(for: .asks, of: owner, &context))
    }

    /// The bytes that timers may still add, for all and for an owner.
    func timerByteRoom(for owner: Owner, _ context: inout LoopContext) -> Int {
        let texts = context.configuration.timerByteLimit - shared.totals[.timerBytes]
        let room = max(0, min(texts, -excess(of: .queue)))
        return min(room, self.room(for: .timers, of: owner, &context))
    }

    /// The bytes that values may still add, for all and for an owner.
    func valueByteRoom(for owner: Owner, _ context: inout LoopContext) -> Int {
        let texts = context.configuration.valueByteLimit - shared.totals[.valueBytes]
        let room = max(0, min(texts, -excess(of: .queue)))
        return min(room, self.room(for: .values, of: owner, &context))
    }

    /// The bytes that queues may still add.
    @inline(__always)
    func queueByteRoom(_ context: borrowing LoopContext) -> Int {
        let texts =
            context.configuration.queueByteLimit
            - shared.totals.queueByteCount.load(ordering: .relaxed)
        return max(0, min(texts, -excess(of: .queue)))
    }
}

extension KeptMemory {
    /// The kinds that count for the owner of a center; the others count for those that make them.
    var ofCenter: KeptMemory {
        var kept = self
        for kind in KeptKind.allCases {
            switch kind {
            case .channels, .replay, .fates, .tombstones, .archives: break
            case .observers, .keys, .held, .queue: kept[kind] = 0
            }
        }
        return kept
    }

    /// The limits of each kind over all centers.
    ///
    /// They are derived once: reading a configuration through a key path copies all of it.
    init(limitedBy configuration: ServerConfiguration) {
        self.init()
        for kind in KeptKind.allCases {
            self[kind] = configuration[keyPath: MemoryKind(kind).limit]
        }
    }
}

extension Problem {
    /// The problem when a kind of memory is full: the caller may try again later.
    static func full(_ kind: MemoryKind, _ configuration: ServerConfiguration) -> Problem {
        Problem(
            .overloaded,
            """
            The broker has no room for more of the kind \(kind.rawValue): the limit is \
            \(configuration[keyPath: kind.limit]) bytes (--\(kind.option)); try again later.
            """)
    }
}
