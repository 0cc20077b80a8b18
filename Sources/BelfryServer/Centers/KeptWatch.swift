import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

/// How much memory the centers of a loop keep, and of what that is too much.
///
/// Each kind has a limit over all centers of the broker (decision 46). Past it the oldest of the center that keeps
/// most is forgotten where the rules let it; otherwise what would make more of it is refused.
struct KeptWatch {
    let shared: SharedState
    /// How much all centers may keep of each kind.
    var limits: KeptMemory
    /// The kinds of which this loop made all centers, or those of an owner, keep more than they may.
    private(set) var trims: Set<Trim> = []
    /// Whether the timer is set with which that goes on.
    var isTimerSet = false
    /// What the centers of this loop keep, as far as it was accounted for.
    private(set) var byteCount = 0

    init(_ configuration: ServerConfiguration, _ shared: SharedState) {
        self.shared = shared
        limits = KeptMemory(limitedBy: configuration)
    }

    /// Accounts for what centers of this loop keep since they were asked last.
    @inline(__always)
    mutating func account(for centers: inout CenterTable, _ outbox: inout Outbox) {
        if !centers.keptGrowth.isNone { accountForGrowth(&centers, &outbox) }
    }

    private mutating func accountForGrowth(_ centers: inout CenterTable, _ outbox: inout Outbox) {
        guard let growth = centers.keptGrowth.takeMemory() else { return }
        for kind in KeptKind.allCases where growth[kind] != 0 {
            shared.totals.add(growth[kind], to: kind)
            byteCount += growth[kind]
            if growth[kind] > 0, excess(of: kind) > 0 { trimLater(kind, &outbox) }
        }
        if centers.hasOwners { countOwned(&centers, &outbox) }
    }

    /// All centers hold more texts than before.
    mutating func noteHeld(_ growth: Int, _ outbox: inout Outbox) {
        let total = shared.totals.heldByteCount.wrappingAdd(growth, ordering: .relaxed).newValue
        if growth > 0, total > outbox.configuration.heldByteLimit { trimLater(.held, &outbox) }
    }

    /// - Parameter owner: who has too much of it; none where all have.
    mutating func trimLater(_ kind: KeptKind, of owner: Owner = .none, _ outbox: inout Outbox) {
        switch kind {
        case .observers, .queue: return
        case .channels, .replay, .keys, .fates, .tombstones, .held: break
        }
        trims.insert(Trim(kind: kind, owner: owner))
        outbox.loop.takeAnotherTurn()
    }

    /// By how many bytes all centers keep more of a kind than they may.
    func excess(of kind: KeptKind) -> Int {
        shared.totals[kind] - limits[kind]
    }

    /// The kinds of which too much was kept; they are looked at anew.
    mutating func takeTrims() -> Set<Trim> {
        var taken: Set<Trim> = []
        swap(&taken, &trims)
        return taken
    }

    /// What is held is forgotten later: the store is behind, and has to note it.
    mutating func restBeforeTrimming(_ outbox: inout Outbox) {
        trims.insert(Trim(kind: .held, owner: .none))
        guard !isTimerSet else { return }
        isTimerSet = true
        _ = outbox.loop.schedule(
            at: outbox.loop.now + .nanoseconds(CenterSchedule.storeRest), LoopTimer.trims.rawValue)
    }

    /// Checks that the broker has room for some observers more, and their owner too: of each kind
    /// that they fill.
    func reserve(_ requests: [ObserverRequest], for owner: Owner, _ outbox: inout Outbox)
        throws(Problem)
    {
        let observesValues = requests.contains { $0.role.value != nil }
        if owner != .none, !requests.isEmpty {
            var wanted = Holdings()
            wanted.observerCount = requests.count
            if observesValues { wanted.memory[.queue] = 1 }
            try checkShare(of: owner, adding: wanted, &outbox)
        }
        guard
            shared.totals.observerCount.load(ordering: .relaxed) + requests.count
                <= outbox.configuration.observerLimit
        else {
            outbox.meet(.observers)
            throw Problem(
                .overloaded,
                """
                The broker has \(outbox.configuration.observerLimit) observers, the limit \
                (--max-observers).
                """
            )
        }
        for kind in [KeptKind.observers, .channels] where excess(of: kind) >= 0 {
            outbox.meet(.observers)
            throw Problem.full(MemoryKind(kind), outbox.configuration)
        }
        if observesValues, excess(of: .queue) >= 0 {
            outbox.meet(.queue)
            throw Problem.full(.queue, outbox.configuration)
        }
    }

    /// Counts one center more, if the broker and its owner have room for it.
    func reserveCenter(for owner: Owner, _ outbox: inout Outbox) throws(Problem) {
        if owner != .none {
            var wanted = Holdings()
            wanted.centerCount = 1
            try checkShare(of: owner, adding: wanted, &outbox)
        }
        let count = shared.totals.centerCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard
            count > outbox.configuration.centerLimit
                || count * CenterTable.centerByteCount > outbox.configuration.memory.centers
        else { return }
        releaseCenter()
        outbox.meet(.centers)
        guard count > outbox.configuration.centerLimit else {
            throw Problem.full(.centers, outbox.configuration)
        }
        throw Problem(
            .overloaded,
            "The broker has \(outbox.configuration.centerLimit) centers, the limit (--max-centers)."
        )
    }

    /// Counts one center less: it has ended, or was not made.
    func releaseCenter() { shared.totals.centerCount.subtract(1, ordering: .relaxed) }

    /// How many bytes more all open asks may have.
    func askByteRoom(_ outbox: borrowing Outbox) -> Int {
        max(0, outbox.configuration.askByteLimit - shared.totals[.askBytes])
    }

    /// How many bytes more all open asks, and those of an owner, may have.
    func askByteRoom(for owner: Owner, _ outbox: inout Outbox) -> Int {
        let room = max(0, min(askByteRoom(outbox), -excess(of: .queue)))
        return min(room, self.room(for: .asks, of: owner, &outbox))
    }

    /// How many bytes more all timers, and those of an owner, may have.
    func timerByteRoom(for owner: Owner, _ outbox: inout Outbox) -> Int {
        let texts = outbox.configuration.timerByteLimit - shared.totals[.timerBytes]
        let room = max(0, min(texts, -excess(of: .queue)))
        return min(room, self.room(for: .timers, of: owner, &outbox))
    }

    /// How many bytes more all values may have, those of their writer among them.
    func valueByteRoom(for owner: Owner, _ outbox: inout Outbox) -> Int {
        let texts = outbox.configuration.valueByteLimit - shared.totals[.valueBytes]
        let room = max(0, min(texts, -excess(of: .queue)))
        return min(room, self.room(for: .values, of: owner, &outbox))
    }

    /// How many bytes more all queues may have.
    @inline(__always)
    func queueByteRoom(_ outbox: borrowing Outbox) -> Int {
        let texts =
            outbox.configuration.queueByteLimit
            - shared.totals.queueByteCount.load(ordering: .relaxed)
        return max(0, min(texts, -excess(of: .queue)))
    }
}

extension KeptMemory {
    /// What counts for the owner of a center; the other kinds count for those that make them.
    var ofCenter: KeptMemory {
        var kept = self
        for kind in KeptKind.allCases {
            switch kind {
            case .channels, .replay, .fates, .tombstones: break
            case .observers, .keys, .held, .queue: kept[kind] = 0
            }
        }
        return kept
    }

    /// How much all centers may keep of each kind.
    ///
    /// It is derived once: a look at a configuration through a key path copies all of it.
    init(limitedBy configuration: ServerConfiguration) {
        self.init()
        for kind in KeptKind.allCases {
            self[kind] = configuration[keyPath: MemoryKind(kind).limit]
        }
    }
}

extension Problem {
    /// A kind of memory is full: whoever asks may come back when something of it has gone.
    static func full(_ kind: MemoryKind, _ configuration: ServerConfiguration) -> Problem {
        Problem(
            .overloaded,
            """
            The broker has no room for more of the kind \(kind.rawValue): the limit is \
            \(configuration[keyPath: kind.limit]) bytes (--\(kind.option)); try again later.
            """)
    }
}
