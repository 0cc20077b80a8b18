import BelfryCenter
import BelfryHistory
import BelfryJSON
import TestSupport

/// Values written around the places of observers, over cuts, suspensions and restarts.
///
/// It is judged from outside: from its frames alone each observer of a live client has the value,
/// `old` undoes a frame, a write that changes nothing notifies no observer, and equal values have
/// equal tags. Answered writes outlive each crash, and an observer of writes that were never stored
/// gets the present value.
final class ValueWorld {
    var dice: Dice
    let seed: UInt64
    private var limits = CenterLimits().ofLog
    private(set) var center: NotificationCenter
    private(set) var effects = Effects()
    private var recorder: Recorder
    private var store: CenterStore
    private var turn: [Change] = []
    private var uncommitted: [(changes: [Change], values: [[UInt8]: PlainValue])] = []
    private var committed: [[UInt8]: PlainValue] = [:]
    var now: Int64 = 1_000_000_000_000
    var wall: Int64 = 1_700_000_000_000
    var lastNumber: UInt64 = 0
    private var incarnation: UInt64 = 1
    private(set) var commandCount: UInt64 = 0
    var told: [String] = []
    /// Whether entries end by themselves: then nothing is patched, and the broker does not die.
    let hasEnds: Bool

    /// The value of each object.
    var values: [[UInt8]: PlainValue] = [:]
    /// The value of each object from a number on, in this life.
    var history: [(sequence: UInt64, values: [[UInt8]: PlainValue])] = [(0, [:])]
    var ends: [Entry] = []
    var tags: [[UInt8]: ValueTag] = [:]
    var clients: [UInt64: Client] = [:]
    var observers: [UInt64: Observer] = [:]
    /// Those that were removed: a crash may bring them back.
    private var removed: [UInt64: Observer] = [:]

    /// An entry that ends by itself.
    struct Entry {
        let object: [UInt8]
        let path: DocumentPath
        var end: Int64?
        /// The client whose entry it is, and how long it outlives the connection of that.
        let client: UInt64?
        let lease: Int64?
    }

    struct Client {
        var connection: UInt64?
        var isAsked = false
        var seen: UInt64 = 0
    }

    /// The frames of an observer.
    struct Observer {
        let client: UInt64
        let object: [UInt8]
        let terms: ValueTerms
        let behavior: SuspensionBehavior
        /// The value by its frames, once it is known.
        var value: PlainValue?
        var isKnown = false
        /// The client has asked for its removal, which was not stored, and reads no frames of it.
        var isGivenUp = false
        /// The last number that it was told to have lost by dropping.
        var lostThrough: UInt64?
        /// The number of the last change that the present value had in it which it was told.
        var hasThrough: UInt64 = 0
        /// The number of its last frame.
        var seenThrough: UInt64 = 0

        /// It was told that it has lost changes by dropping: what it has may be from before them.
        mutating func noteLoss(through sequence: UInt64) {
            lostThrough = max(lostThrough ?? 0, sequence)
            if sequence >= seenThrough { isKnown = false }
        }
    }

    init(seed: UInt64) {
        self.seed = seed
        dice = Dice(seed: seed)
        limits.isDurable = true
        hasEnds = dice.oneIn(2)
        let epoch = [UInt8]("k\(seed)")
        center = NotificationCenter(
            name: [UInt8]("default"), epoch: epoch, limits: limits,
            seed: HashSeed(seed, dice.next()))
        recorder = Recorder(name: [UInt8]("default"), epoch: epoch, limits: limits)
        store = CenterStore(name: [UInt8]("default"))
    }

    /// The last commands, for the report of a violation.
    var lastTold: ArraySlice<String> { told.suffix(12) }

    private var connectedClients: [UInt64] {
        clients.keys.filter { clients[$0]?.connection != nil }.sorted()
    }

    /// A client that is there, if one is.
    var someClient: UInt64? { dice.pick(connectedClients) }

    private var time: CommandTime {
        CommandTime(wallMilliseconds: wall, monotonicNanoseconds: now)
    }

    func step() throws(Violation) {
        switch dice.below(20) {
        case 0: try connect()
        case 1, 2: try observe()
        case 3, 4, 5, 6, 7, 8: try set()
        case 9, 10: if hasEnds { try set() } else { try merge() }
        case 11: try remove()
        case 12: try suspend()
        case 13: try cut()
        case 14: try comeBack()
        case 15: if hasEnds { try passTime() } else { try restart() }
        case 16: if let serial = dice.pick(observers.keys.sorted()) { try removeObserver(serial) }
        default: try endTurn()
        }
    }

    // MARK: Commands

    @discardableResult
    func submit(_ action: Command.Action) throws(Violation) -> Outcome {
        let outcome = try apply(action)
        // Frames of a registration, or of more than one step, come when the socket has room.
        var clients: [UInt64] = []
        for notice in effects.notices {
            switch notice {
            case .flushGoesOn(let client, _), .flushFollows(let client, _):
                clients.append(client)
            default: break
            }
        }
        for client in clients { try submit(.drain(client: client)) }
        return outcome
    }

    private func apply(_ action: Command.Action) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: incarnation, counter: commandCount), time: time,
            action: action)
        try recorder.record(command)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        turn += effects.changes
        tell("\(now / 1_000_000): \(Self.text(of: action)): \(Show.effects(effects, center))")
        try recorder.compare(with: center, effects)
        if history.last?.values != values { history.append((center.sequence, values)) }
        for case .gap(_, _, let gap) in effects.notices
        where gap.reason == .dropped || gap.reason == .unknown {
            observers[gap.observer]?.noteLoss(through: gap.lastSequence)
        }
        for delivery in effects.deliveries { try take(delivery) }
        return effects.outcome
    }

    func tell(_ text: String) {
        told.append(text)
        if told.count > 100 { told.removeFirst(50) }
    }

    private func endTurn() throws(Violation) {
        try submit(.endTurn(workLimit: .max))
        handOver()
        if dice.oneIn(2) { try commit(dice.below(uncommitted.count + 1)) }
    }

    private func handOver() {
        uncommitted.append((turn, values))
        recorder.endTurn()
        turn = []
    }

    private func commit(_ count: Int) throws(Violation) {
        for _ in 0..<min(count, uncommitted.count) {
            let (changes, values) = uncommitted.removeFirst()
            try store.commit(changes)
            try recorder.commit()
            committed = values
        }
    }

    /// Stops or kills the broker, and begins again: unanswered changes may be gone.
    private func restart() throws(Violation) {
        guard dice.oneIn(4) else { return }
        let isComplete = dice.oneIn(2)
        if isComplete {
            try submit(.terminate)
            handOver()
            try commit(.max)
        } else {
            if dice.oneIn(2) { handOver() }
            try commit(dice.below(uncommitted.count + 1))
        }
        tell(isComplete ? "restart" : "crash")
        values = committed
        history = [(0, values)]
        (turn, uncommitted) = ([], [])
        incarnation += 1
        wall += Int64(dice.below(100_000))
        let epoch = [UInt8]("k\(seed).\(incarnation)")
        if let image = try store.restart(isComplete: isComplete) {
            center = NotificationCenter(
                restoring: image, limits: limits, seed: HashSeed(dice.next(), seed), time: time)
            center.assignOwners { Owner(ofPrincipal: $0) }
        } else {
            center = NotificationCenter(
                name: center.name, epoch: epoch, limits: limits, seed: HashSeed(dice.next(), seed))
        }
        try recorder.restart(limits: limits, epoch: epoch, isComplete: isComplete, time: time)
        for client in clients.keys where center.client(client) == nil { clients[client] = nil }
        for client in clients.keys { clients[client]?.connection = nil }
        for (serial, observer) in removed where center.observer(serial) != nil {
            observers[serial] = observer
            observers[serial]?.isGivenUp = true
        }
        // Numbers are those of the life before, and may be used again if nothing was stored.
        for serial in observers.keys { observers[serial]?.hasThrough = 0 }
        removed = [:]
        for serial in observers.keys where center.observer(serial) == nil {
            observers[serial] = nil
        }
        try judge(after: .restart)
        // The loop lets the center reserve its first numbers before it listens.
        try submit(.configure(limits))
        handOver()
        try commit(.max)
    }

    // MARK: Clients and observers

    private func connect() throws(Violation) {
        guard clients.count < 4 else { return }
        lastNumber += 2
        let registration = ClientRegistration(
            id: lastNumber, transport: .webSocket,
            connection: ConnectionName(node: 0, number: lastNumber - 1),
            sessionHash: SecretHash(high: lastNumber, low: 0), principal: [UInt8]("p"))
        clients[lastNumber] = Client(connection: lastNumber - 1)
        let client = lastNumber
        try submit(.connect(registration, observers: [], since: nil))
        try look(by: client)
    }

    private func observe() throws(Violation) {
        guard observers.count < 12,
            let client = someClient
        else { return }
        try look(by: client)
    }

    private func look(by client: UInt64) throws(Violation) {
        lastNumber += 1
        var terms = ObserverTerms()
        terms.suspensionBehavior = dice.pick(SuspensionBehavior.allCases) ?? .coalesce
        terms.holdLimit = dice.number(in: 1...3)
        var value = ValueTerms(path: somePath())
        value.sendsOld = dice.oneIn(2)
        let object = someObject
        observers[lastNumber] = Observer(
            client: client, object: object, terms: value, behavior: terms.suspensionBehavior)
        try submit(
            .addObserver(
                ObserverRegistration(
                    serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1), name: nil,
                    object: object, selector: [UInt8]("s"), terms: terms, role: .value(value)),
                client: client, since: nil))
        try judge()
    }

    private func removeObserver(_ serial: UInt64) throws(Violation) {
        guard dice.oneIn(3), let client = observers[serial]?.client else { return }
        // Each client keeps one, so that it can come back.
        guard observers.values.count(where: { $0.client == client }) > 1 else { return }
        removed[serial] = observers.removeValue(forKey: serial)
        try submit(.removeObserver(serial: serial, by: .client(client)))
        try judge()
    }

    private func suspend() throws(Violation) {
        guard let id = someClient,
            let isAsked = clients[id]?.isAsked
        else { return }
        clients[id]?.isAsked = !isAsked
        try submit(.setSuspended(client: id, !isAsked))
        try judge()
    }

    private func cut() throws(Violation) {
        guard let id = someClient,
            let connection = clients[id]?.connection
        else { return }
        clients[id]?.connection = nil
        let end: ConnectionEnd = dice.pick([.broken, .broken, .closed, .brokerLeft]) ?? .broken
        endEntries(of: id, end)
        try submit(
            .disconnect(
                client: id, connection: ConnectionName(node: 0, number: connection),
                end: end))
        try judge()
    }

    private func comeBack() throws(Violation) {
        guard let id = dice.pick(clients.keys.filter { clients[$0]?.connection == nil }.sorted())
        else { return }
        lastNumber += 2
        let newcomer = lastNumber
        let registration = ClientRegistration(
            id: newcomer, transport: .webSocket,
            connection: ConnectionName(node: 0, number: newcomer - 1),
            sessionHash: SecretHash(high: newcomer, low: 0), principal: [UInt8]("p"))
        try submit(.connect(registration, observers: [], since: nil))
        clients[id]?.connection = newcomer - 1
        for place in ends.indices where ends[place].client == id { ends[place].end = nil }
        let after = dice.oneIn(2) ? clients[id]?.seen : nil
        try submit(.resume(Resumption(newcomer: newcomer, client: id, after: after)))
        clients[id]?.isAsked = center.client(id)?.state == .asked
        try judge()
    }
}
