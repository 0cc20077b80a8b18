import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire
import Synchronization

// The memory that centers keep: each kind has a limit over all centers of the broker (decision 46).  Past it
// the oldest of the center that keeps most is forgotten where the rules let it; otherwise what would make
// more of it is refused.

extension CenterHost {
    /// Accounts for what centers of this loop keep since they were asked last.
    @inline(__always)
    mutating func accountForKept(_ outbox: inout Outbox) {
        if centers.hasKeptGrowth { account(&outbox) }
    }

    private mutating func account(_ outbox: inout Outbox) {
        guard let growth = centers.takeKeptGrowth() else { return }
        for kind in KeptKind.allCases where growth[kind] != 0 {
            shared.memory.add(growth[kind], to: kind)
            kept.byteCount += growth[kind]
            if growth[kind] > 0, excess(of: kind) > 0 { trimLater(kind, &outbox) }
        }
        if centers.hasOwners { countOwned(&outbox) }
    }

    /// Accounts for all that centers of this loop keep now, to the byte.
    mutating func accountForAllKept(_ outbox: inout Outbox) {
        centers.noteAllKept()
        accountForKept(&outbox)
    }

    /// All centers hold more texts than before.
    mutating func noteHeld(_ growth: Int, _ outbox: inout Outbox) {
        let total = shared.heldByteCount.wrappingAdd(growth, ordering: .relaxed).newValue
        if growth > 0, total > outbox.configuration.heldByteLimit { trimLater(.held, &outbox) }
    }

    /// - Parameter owner: who has too much of it; none where all have.
    mutating func trimLater(_ kind: KeptKind, of owner: Owner = .none, _ outbox: inout Outbox) {
        switch kind {
        case .observers, .queue: return
        case .channels, .replay, .keys, .fates, .tombstones, .held: break
        }
        kept.trims.insert(Trim(kind: kind, owner: owner))
        outbox.loop.takeAnotherTurn()
    }

    /// By how many bytes all centers keep more of a kind than they may.
    func excess(of kind: KeptKind) -> Int {
        shared.memory[kind] - kept.limits[kind]
    }

    /// Kinds of which too much is kept: the center of this loop that keeps most forgets its oldest.
    ///
    /// One command forgets an eighth, so that tables are not made smaller with each post, and nobody waits for
    /// it; the next turn goes on. What is held rests while the store is behind, which has to note it.
    mutating func trimKept(_ outbox: inout Outbox) {
        var others: Set<Trim> = []
        swap(&others, &kept.trims)
        for kind in KeptKind.allCases where others.remove(Trim(kind: kind, owner: .none)) != nil {
            if kind == .held, storeIsBehind {
                restBeforeTrimming(&outbox)
            } else if kind == .held ? trimHeld(&outbox) : trim(kind, &outbox) {
                trimLater(kind, &outbox)
            }
        }
        for trim in others { trimShare(trim, &outbox) }
    }

    private mutating func restBeforeTrimming(_ outbox: inout Outbox) {
        kept.trims.insert(Trim(kind: .held, owner: .none))
        guard !kept.isTimerSet else { return }
        kept.isTimerSet = true
        _ = outbox.loop.schedule(
            at: outbox.loop.now + .nanoseconds(Self.storeRest), LoopTimer.trims.rawValue)
    }

    /// Tells whether something was forgotten, and there is still too much.
    private mutating func trim(_ kind: KeptKind, _ outbox: inout Outbox) -> Bool {
        guard excess(of: kind) > 0, let position = centers.largestKeeper(of: kind) else {
            return false
        }
        if centers.isDoing(.trim, at: position) { return true }
        let count = centers.trimmableCount(of: kind, at: position)
        guard count > 0 else { return false }
        tell(trimAction(kind, at: position), to: position, &outbox)
        centers.noteKept(at: position)
        accountForKept(&outbox)
        return excess(of: kind) > 0
    }

    /// What lets a center forget the oldest eighth of a kind.
    func trimAction(_ kind: KeptKind, at position: Int) -> Command.Action {
        let count = centers.trimmableCount(of: kind, at: position)
        return .trim(kind, count: count - min(count, max(Self.leastTrim, count / 8)))
    }

    private static let leastTrim = 16

    /// The texts of held notifications that one command drops: more than one turn reads of those that send much.
    ///
    /// A start may find far more than there is room for, and the store has to note each one.
    static let heldTrimByteCount = 512 << 10

    /// All centers hold too much: the largest of this loop drops its oldest (decision 46).
    ///
    /// - Returns: whether that goes on with the next turn.
    private mutating func trimHeld(_ outbox: inout Outbox) -> Bool {
        guard let position = centers.largestKeeper(of: .held) else { return false }
        if centers.isDoing(.trim, at: position) { return true }
        let held = centers[position].heldByteCount
        let cost = max(1, centers.kept(.held, at: position))
        // What is too much in memory is that part of the texts.
        let byCost = Double(max(0, excess(of: .held))) * Double(held) / Double(cost)
        let byText =
            shared.heldByteCount.load(ordering: .relaxed) - outbox.configuration.heldByteLimit
        let excess = max(byText, Int(byCost.rounded(.up)))
        guard excess > 0, held > 0 else { return false }
        outbox.meet(.held)
        let share = min(excess, Self.heldTrimByteCount)
        tell(.trimHeld(byteCount: max(0, held - share)), to: position, &outbox)
        centers.noteKept(at: position)
        accountForKept(&outbox)
        let hasTrimmed =
            centers[position].heldByteCount < held || centers.isDoing(.trim, at: position)
        return hasTrimmed && (excess > share || self.excess(of: .held) > 0)
    }

    /// Checks that the broker has room for some observers more, and their owner too.
    mutating func reserveObservers(_ count: Int, for owner: Owner, _ outbox: inout Outbox)
        throws(Problem)
    {
        if owner != .none, count > 0 {
            var wanted = Holdings()
            wanted.observerCount = count
            try checkShare(of: owner, adding: wanted, &outbox)
        }
        guard
            shared.observerCount.load(ordering: .relaxed) + count
                <= outbox.configuration.observerLimit
        else {
            outbox.meet(.observers)
            throw Problem(
                .overloaded,
                "The broker has \(outbox.configuration.observerLimit) observers (--max-observers) already."
            )
        }
        for kind in [KeptKind.observers, .channels] where excess(of: kind) >= 0 {
            outbox.meet(.observers)
            throw Problem.full(MemoryKind(kind), outbox.configuration)
        }
    }

    /// Counts one center more, if the broker and its owner have room for it.
    mutating func reserveCenter(for owner: Owner, _ outbox: inout Outbox) throws(Problem) {
        if owner != .none {
            var wanted = Holdings()
            wanted.centerCount = 1
            try checkShare(of: owner, adding: wanted, &outbox)
        }
        let count = shared.centerCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard
            count > outbox.configuration.centerLimit
                || count * CenterTable.centerByteCount > outbox.configuration.memory.centers
        else { return }
        shared.centerCount.subtract(1, ordering: .relaxed)
        outbox.meet(.centers)
        guard count > outbox.configuration.centerLimit else {
            throw Problem.full(.centers, outbox.configuration)
        }
        throw Problem(
            .overloaded,
            "There are \(outbox.configuration.centerLimit) centers (--max-centers) already.")
    }

    /// How many bytes more all queues may have.
    @inline(__always)
    func queueByteRoom(_ outbox: inout Outbox) -> Int {
        let texts =
            outbox.configuration.queueByteLimit - shared.queueByteCount.load(ordering: .relaxed)
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

extension SharedState {
    /// The bytes that the whole broker has of a kind of memory.
    func memory(of kind: MemoryKind, _ counters: LoopSum<Counters>) -> Int {
        switch kind {
        case .connections:
            Int(counters.connectionsOpen) * ServerConfiguration.ownConnectionByteCount
                + Int(counters.sessionBytes)
        case .unfinished: Int(counters.unfinishedBytes)
        case .unsent: Int(counters.unsentBytes)
        case .centers: centerCount.load(ordering: .relaxed) * CenterTable.centerByteCount
        case .observers: memory[.observers]
        case .channels: memory[.channels]
        case .replay: memory[.replay]
        case .keys: memory[.keys]
        case .fates: memory[.fates]
        case .tombstones: memory[.tombstones]
        case .held: memory[.held]
        case .queue: memory[.queue]
        }
    }
}

extension Problem {
    /// A kind of memory is full: whoever asks may come back when something of it has gone.
    static func full(_ kind: MemoryKind, _ configuration: ServerConfiguration) -> Problem {
        Problem(
            .overloaded,
            """
            The broker keeps as much of this kind (\(kind.rawValue)) as its memory allows: \
            \(configuration[keyPath: kind.limit]) bytes (--\(kind.option)).
            """)
    }
}
