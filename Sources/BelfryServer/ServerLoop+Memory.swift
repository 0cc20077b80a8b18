import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryTLS
import BelfryWire
import Synchronization

// The memory that centers keep: each kind has a limit over all centers of the broker (decision 46).  Past it
// the oldest of the center that keeps most is forgotten where the rules let it; otherwise what would make
// more of it is refused.

extension ServerLoop {
    /// Accounts for what centers of this loop keep since they were asked last.
    @inline(__always)
    mutating func accountForKept() {
        if centers.hasKeptGrowth { account() }
    }

    private mutating func account() {
        guard let growth = centers.takeKeptGrowth() else { return }
        for kind in KeptKind.allCases where growth[kind] != 0 {
            shared.memory.add(growth[kind], to: kind)
            centersByteCount += growth[kind]
            if growth[kind] > 0, excess(of: kind) > 0 { trimLater(kind) }
        }
        if centers.hasOwners { countOwned() }
    }

    /// Accounts for all that centers of this loop keep now, to the byte.
    mutating func accountForAllKept() {
        centers.noteAllKept()
        accountForKept()
    }

    /// What this loop keeps, of all kinds.
    var keptByteCount: Int {
        centersByteCount + unfinishedTotal.count + loop.unsentByteTotal
            + Int(counters.sessionBytes)
            + loop.connectionCount * ServerConfiguration.ownConnectionByteCount
    }

    /// All centers hold more texts than before.
    mutating func noteHeld(_ growth: Int) {
        let total = shared.heldByteCount.wrappingAdd(growth, ordering: .relaxed).newValue
        if growth > 0, total > configuration.heldByteLimit { trimLater(.held) }
    }

    /// - Parameter owner: who has too much of it; none where all have.
    mutating func trimLater(_ kind: KeptKind, of owner: Owner = .none) {
        switch kind {
        case .observers, .queue: return
        case .channels, .replay, .keys, .fates, .tombstones, .held: break
        }
        trims.insert(Trim(kind: kind, owner: owner))
        loop.takeAnotherTurn()
    }

    /// By how many bytes all centers keep more of a kind than they may.
    private func excess(of kind: KeptKind) -> Int {
        shared.memory[kind] - keptLimits[kind]
    }

    /// Kinds of which too much is kept: the center of this loop that keeps most forgets its oldest.
    ///
    /// One command forgets an eighth, so that tables are not made smaller with each post, and nobody waits for
    /// it; the next turn goes on. What is held rests while the store is behind, which has to note it.
    mutating func trimKept() {
        var others: Set<Trim> = []
        swap(&others, &trims)
        for kind in KeptKind.allCases where others.remove(Trim(kind: kind, owner: .none)) != nil {
            if kind == .held, storeIsBehind {
                restBeforeTrimming()
            } else if kind == .held ? trimHeld() : trim(kind) {
                trimLater(kind)
            }
        }
        for trim in others { trimShare(trim) }
    }

    private mutating func restBeforeTrimming() {
        trims.insert(Trim(kind: .held, owner: .none))
        guard !isTrimTimerSet else { return }
        isTrimTimerSet = true
        _ = loop.schedule(at: loop.now + .nanoseconds(Self.storeRest), LoopTimer.trims.rawValue)
    }

    /// Tells whether something was forgotten, and there is still too much.
    private mutating func trim(_ kind: KeptKind) -> Bool {
        guard excess(of: kind) > 0, let position = centers.largestKeeper(of: kind) else {
            return false
        }
        let count = centers.trimmableCount(of: kind, at: position)
        guard count > 0 else { return false }
        submitCommand(trimAction(kind, at: position), to: position, isPromise: false)
        fanOut()
        centers.noteKept(at: position)
        accountForKept()
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
    private mutating func trimHeld() -> Bool {
        guard let position = centers.largestKeeper(of: .held) else { return false }
        let held = centers[position].heldByteCount
        let kept = max(1, centers.kept(.held, at: position))
        // What is too much in memory is that part of the texts.
        let byCost = Double(max(0, excess(of: .held))) * Double(held) / Double(kept)
        let byText = shared.heldByteCount.load(ordering: .relaxed) - configuration.heldByteLimit
        let excess = max(byText, Int(byCost.rounded(.up)))
        guard excess > 0, held > 0 else { return false }
        meet(.held)
        let share = min(excess, Self.heldTrimByteCount)
        submitCommand(
            .trimHeld(byteCount: max(0, held - share)), to: position, isPromise: false)
        fanOut()
        centers.noteKept(at: position)
        accountForKept()
        let hasTrimmed = centers[position].heldByteCount < held
        return hasTrimmed && (excess > share || self.excess(of: .held) > 0)
    }

    // MARK: Room

    /// Whether sessions of TLS and connections take all of their memory; without TLS there are no
    /// more connections than fit.
    func connectionsAreFull(forSession isSecure: Bool) -> Bool {
        guard let tls else { return false }
        let byteCount =
            loop.connectionCount * ServerConfiguration.connectionByteCount + tls.sessionByteCount
            + (isSecure ? TLSSession.Stage.open.byteCount : 0)
        return byteCount > configuration.memory.connections / configuration.loopCount
    }

    /// Checks that the broker has room for some observers more, and their owner too.
    mutating func reserveObservers(_ count: Int, for owner: Owner) throws(Problem) {
        if owner != .none, count > 0 {
            var wanted = Holdings()
            wanted.observerCount = count
            try checkShare(of: owner, adding: wanted)
        }
        guard shared.observerCount.load(ordering: .relaxed) + count <= configuration.observerLimit
        else {
            meet(.observers)
            throw Problem(
                .overloaded,
                "The broker has \(configuration.observerLimit) observers (--max-observers) already."
            )
        }
        for kind in [KeptKind.observers, .channels] where excess(of: kind) >= 0 {
            meet(.observers)
            throw Problem.full(MemoryKind(kind), configuration)
        }
    }

    /// Counts one center more, if the broker and its owner have room for it.
    mutating func reserveCenter(for owner: Owner) throws(Problem) {
        if owner != .none {
            var wanted = Holdings()
            wanted.centerCount = 1
            try checkShare(of: owner, adding: wanted)
        }
        let count = shared.centerCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard
            count > configuration.centerLimit
                || count * CenterTable.centerByteCount > configuration.memory.centers
        else { return }
        shared.centerCount.subtract(1, ordering: .relaxed)
        meet(.centers)
        guard count > configuration.centerLimit else { throw Problem.full(.centers, configuration) }
        throw Problem(
            .overloaded,
            "There are \(configuration.centerLimit) centers (--max-centers) already.")
    }

    /// How many bytes more all queues may have.
    @inline(__always)
    var queueByteRoom: Int {
        let texts = configuration.queueByteLimit - shared.queueByteCount.load(ordering: .relaxed)
        return max(0, min(texts, -excess(of: .queue)))
    }
}

extension KeptMemory {
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
    func memory(of kind: MemoryKind, _ counters: Counters) -> Int {
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
