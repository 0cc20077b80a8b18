import BelfryCenter
import TestSupport

/// Timers of every kind, clocks that jump, and a broker that dies: judged from outside, no model.
///
/// The knowledge of an outsider is in `known`. A copy of it goes with the changes of each turn, so
/// that a crash takes back timers that were not answered.
final class TimerWorld {
    var dice: Dice
    let seed: UInt64
    var limits = CenterLimits().ofLog
    var center: NotificationCenter
    var effects = Effects()
    private var recorder: Recorder
    private var store: CenterStore
    private var turn: [Change] = []
    private var uncommitted: [(changes: [Change], known: [NotificationID: Known])] = []
    private var committed: [NotificationID: Known] = [:]
    /// The clock of leases, the time that it leaves out, and the time of day.
    private var attended: Int64 = 1_000_000_000_000
    private var stoodStill: Int64 = 0
    var wall: Int64 = 1_700_000_000_000
    private var lastNumber: UInt64 = 0
    private var incarnation: UInt64 = 1
    private(set) var commandCount: UInt64 = 0
    /// The connection of each client, nil while it has none.
    var clients: [UInt64: UInt64?] = [:]
    var modes: [UInt64] = []
    var known: [NotificationID: Known] = [:]
    /// Repeating timers that lost their client with the broker.
    var orphans: Set<NotificationID> = []
    /// Timers that were posted before a crash, and are unknown.
    var lost: Set<NotificationID> = []
    private var told: [String] = []

    /// The knowledge about a timer.
    struct Known {
        let content: Notification.Content
        let terms: TimerTerms
        let options: PostOptions
        /// The client that it ends with, or waits for.
        let client: UInt64?
        /// The first due time, on the clock of timers and since 1970; nil for a waiting farewell.
        var due: Int64?
        var dueAt: Int64?
        /// The end of its lease, as far as that is certain.
        var leaseEnd: Int64
        var isLeaseCertain = true
        var isOut = false
        var isPosted = false
        var firings: Set<NotificationID> = []
    }

    init(seed: UInt64) {
        self.seed = seed
        dice = Dice(seed: seed)
        limits.isDurable = true
        if dice.oneIn(3) { limits.timerLimit = dice.number(in: 1...6) }
        if dice.oneIn(3) { limits.queueEntryLimit = dice.number(in: 1...4) }
        if dice.oneIn(3) { limits.farewellLimit = dice.number(in: 1...2) }
        let epoch = [UInt8]("k\(seed)")
        center = NotificationCenter(
            name: [UInt8]("default"), epoch: epoch, limits: limits,
            seed: HashSeed(seed, dice.next()))
        recorder = Recorder(name: [UInt8]("default"), epoch: epoch, limits: limits)
        store = CenterStore(name: [UInt8]("default"))
    }

    /// The last commands, for the report of a violation.
    var lastTold: ArraySlice<String> { told.suffix(12) }

    var time: CommandTime {
        CommandTime(
            wallMilliseconds: wall, monotonicNanoseconds: attended,
            timerNanoseconds: attended + stoodStill)
    }

    var now: Int64 { attended + stoodStill }

    func step() throws(Violation) {
        switch dice.below(24) {
        case 0: try connect()
        case 1: try observe()
        case 2, 3, 4, 5, 6, 7: try setTimer()
        case 8, 9: try setFarewell()
        case 10: try dequeue()
        case 11: try cut()
        case 12: try comeBack()
        case 13: try changeMode()
        case 14: if dice.oneIn(4) { try removeClient() }
        case 15: if dice.oneIn(3) { try restart(isComplete: dice.oneIn(3)) }
        case 16, 17: try endTurn()
        case 18: try settle()
        default: try passTime()
        }
        if dice.oneIn(3) { try commit(dice.below(uncommitted.count + 1)) }
    }

    // MARK: Commands

    @discardableResult
    func submit(_ action: Command.Action) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: incarnation, counter: commandCount), time: time,
            action: action)
        try recorder.record(command)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        turn += effects.changes
        tell("\(Show.action(action)): \(Show.effects(effects, center))")
        try recorder.compare(with: center, effects)
        let outcome = effects.outcome
        for notification in effects.notifications { try judge(notification) }
        if case .passTime = action { orphans.subtract(Set(orphans).subtracting(rows.map(\.id))) }
        noteGoneClients()
        return outcome
    }

    private func tell(_ text: String) {
        told.append("\(now / 1_000_000): \(text)")
        if told.count > 100 { told.removeFirst(50) }
    }

    /// Ends repeating timers with their client.
    private func noteGoneClients() {
        for (id, timer) in known
        where timer.terms.period != nil && !timer.isOut && !orphans.contains(id) {
            // A timer that ended with its lease may still have a firing that waits.
            guard timer.leaseEnd > now, timer.isLeaseCertain else { continue }
            if let client = timer.client, center.client(client) == nil { known[id]?.isOut = true }
        }
    }

    func endTurn() throws(Violation) {
        try submit(.endTurn(workLimit: dice.oneIn(3) ? 1 : .max))
        handOver()
    }

    private func handOver() {
        uncommitted.append((turn, known))
        recorder.endTurn()
        turn = []
    }

    private func commit(_ count: Int) throws(Violation) {
        for _ in 0..<min(count, uncommitted.count) {
            let (changes, known) = uncommitted.removeFirst()
            try store.commit(changes)
            try recorder.commit()
            committed = known
        }
    }

    /// The broker stops or dies, and begins again.
    private func restart(isComplete: Bool) throws(Violation) {
        if isComplete {
            try submit(.terminate)
            handOver()
            try commit(.max)
        } else {
            if dice.oneIn(2) { handOver() }
            try commit(dice.below(uncommitted.count + 1))
        }
        tell(isComplete ? "restart" : "crash")
        noteLost()
        known = committed
        (turn, uncommitted, modes) = ([], [], [])
        incarnation += 1
        wall += Int64(dice.oneIn(2) ? dice.below(2_000) : dice.below(4_000_000))
        attended = Int64(dice.number(in: 1...1_000_000)) * 1_000_000_000
        stoodStill = 0
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
        for client in clients.keys {
            clients[client] = center.client(client) == nil ? nil : .some(nil)
        }
        // Timers that lost their client with the broker end when time passes.
        orphans = Set(
            known.filter { _, timer in
                timer.terms.period != nil
                    && timer.client.map { center.client($0) == nil } ?? false
            }.keys)
        try judgeRestart()
    }

    // MARK: Steps

    private var someClient: UInt64 {
        dice.pick(clients.keys.filter { center.client($0) != nil }.sorted()) ?? 1
    }
    private var someObject: [UInt8]? { dice.oneIn(4) ? nil : [UInt8](["o", "p"][dice.below(2)]) }

    private func connect() throws(Violation) {
        guard clients.count < 5 else { return }
        lastNumber += 2
        let registration = ClientRegistration(
            id: lastNumber, transport: .webSocket,
            connection: ConnectionName(node: 0, number: lastNumber - 1),
            sessionHash: SecretHash(high: lastNumber, low: 0), principal: [UInt8]("p"),
            owner: Owner(ofPrincipal: [UInt8]("p")))
        clients[lastNumber] = lastNumber - 1
        try submit(.connect(registration, observers: [], since: nil))
    }

    private func observe() throws(Violation) {
        lastNumber += 1
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        terms.endsWithConnection = dice.oneIn(2)
        let registration = ObserverRegistration(
            serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1),
            name: [UInt8]("nothing"), object: nil, selector: [], terms: terms)
        try submit(.addObserver(registration, client: someClient, since: nil))
    }

    /// A delay in nanoseconds: none, a fraction of a millisecond, short, or long.
    private func someDelay() -> Int64 {
        switch dice.below(4) {
        case 0: 0
        case 1: Int64(dice.below(3_000_000))
        case 2: Int64(dice.below(3_000)) * 1_000_000
        default: Int64(dice.below(200)) * 1_000_000_000
        }
    }

    private func setTimer() throws(Violation) {
        let start: TimerTerms.Start? =
            dice.oneIn(3)
            ? .at(wall + Int64(dice.number(in: -2_000...8_000)))
            : dice.oneIn(6) ? nil : .after(someDelay())
        let period: Int64? =
            dice.oneIn(3) ? Int64(dice.number(in: 100_000...9_000_000)) * 1_000 : nil
        let lease: Int64? =
            dice.oneIn(3) ? Int64(dice.number(in: 1...60)) * 1_000_000_000 : nil
        let terms = TimerTerms(
            start: start, period: period, lease: period == nil ? nil : lease,
            replaces: dice.oneIn(4))
        try set(terms, client: dice.oneIn(2) ? someClient : nil)
    }

    private func setFarewell() throws(Violation) {
        let terms = TimerTerms(
            start: dice.oneIn(2) ? nil : .after(someDelay()), replaces: dice.oneIn(6),
            isFarewell: true)
        try set(terms, client: someClient)
    }

    private func set(_ terms: TimerTerms, client: UInt64?) throws(Violation) {
        lastNumber += 1
        let options = PostOptions(
            style: dice.oneIn(4) ? .idle : .asap, coalescing: .none,
            modes: [dice.oneIn(5) ? [UInt8]("modal") : Mode.default], timer: terms)
        let post = Post(
            id: NotificationID(milliseconds: wall, place: lastNumber, random: lastNumber),
            content: Notification.Content(
                name: [UInt8](["a", "b"][dice.below(2)]), object: someObject,
                userInfo: [UInt8](#"{"k":\#(lastNumber)}"#)), options: options)
        var postTerms = PostTerms()
        let scope: PostScope =
            dice.oneIn(5)
            ? .some([PostScope.Pattern(names: [.exact([UInt8]("a"))])]) : .everything
        postTerms.details = PostTerms.Details(
            scope: scope,
            setter: PostTerms.TimerSetter(
                client: client,
                principal: TimerRecord.Principal(name: [UInt8]("p"), hasKey: false),
                byteRoom: .max))
        let before = rows
        let outcome = try submit(.post(post, postTerms))
        if case .refused = outcome {
            guard rows == before else { throw Violation("a refused timer has changed others") }
            return
        }
        try judgeSetting(post, terms, scope, before, client)
    }

    private func dequeue() throws(Violation) {
        let before = rows
        let entries = entries
        if dice.oneIn(2) {
            guard let id = dice.pick(known.keys.sorted { $0.low < $1.low }.suffix(20)) else {
                return
            }
            let isThere = (before + entries).contains { $0.id == id }
            let outcome = try submit(.dequeueEntry(id, scope: .everything))
            guard isThere == (outcome == .dequeued(1)) else {
                throw Violation("rule L5: #\(id.low) was there, or was not, and \(outcome)")
            }
            if isThere { known[id]?.isOut = true }
        } else {
            let content = Notification.Content(name: [UInt8]("a"), object: someObject)
            let match = QueueMatch(
                name: content.nameBytes, object: content.objectBytes, mask: [.onName, .onSender],
                scope: .everything)
            let found = (before + entries).filter { $0.content.isOf(content) }
            let outcome = try submit(.dequeue(match))
            // Entries that timers have made may go with these, and are counted with neither.
            guard case .dequeued(let count) = outcome, count <= found.count else {
                throw Violation("rule Q20: \(found.count) match, and \(outcome)")
            }
            for row in found { known[row.id]?.isOut = true }
        }
        if let row = rows.first(where: { known[$0.id]?.isOut == true }) {
            throw Violation("rule L5: #\(row.id.low) was dequeued, and is listed")
        }
    }

    private func changeMode() throws(Violation) {
        if let mode = dice.pick(modes), dice.oneIn(2) || modes.count > 2 {
            modes.removeAll { $0 == mode }
            try submit(.leaveMode(serial: mode))
            return
        }
        lastNumber += 1
        modes.append(lastNumber)
        try submit(
            .enterMode(
                ModeEntry(
                    serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 2),
                    mode: [UInt8]("modal"), client: nil, lease: nil)))
    }

    private func cut() throws(Violation) {
        let client = someClient
        guard let number = clients[client] ?? nil else { return }
        let end: ConnectionEnd = dice.pick([.broken, .closed, .brokerLeft]) ?? .broken
        clients[client] = .some(nil)
        noteDisconnection(of: client, end)
        try submit(
            .disconnect(
                client: client, connection: ConnectionName(node: 0, number: number),
                end: end))
        if center.client(client) == nil { clients[client] = nil }
    }

    private func removeClient() throws(Violation) {
        let client = someClient
        guard let connection = clients[client] else { return }
        if connection != nil { noteDisconnection(of: client, .broken) }
        clients[client] = nil
        try submit(.removeClient(client: client, by: .broker))
    }

    private func comeBack() throws(Violation) {
        let client = someClient
        try connect()
        let newcomer = lastNumber
        guard clients[newcomer] != nil, newcomer != client else { return }
        let entered = Set(entries.map(\.id))
        let outcome = try submit(
            .resume(Resumption(newcomer: newcomer, client: client, after: nil)))
        if case .refused = outcome {
            if center.client(client) == nil { clients[client] = nil }
            return
        }
        clients[client] = clients[newcomer]
        clients[newcomer] = nil
        for (id, timer) in known
        where timer.terms.isFarewell && timer.client == client && !entered.contains(id) {
            known[id]?.due = nil
            known[id]?.dueAt = nil
        }
    }

    private func passTime() throws(Violation) {
        let step = Int64(dice.oneIn(3) ? dice.below(60_000) : dice.below(1_500))
        wall += step
        if dice.oneIn(6) { stoodStill += step * 1_000_000 } else { attended += step * 1_000_000 }
        // The clock of the machine is set back, and a crash may have posted due timers once more.
        if dice.oneIn(40) { wall += Int64(dice.below(5_000)) }
        try submit(.passTime(workLimit: dice.oneIn(4) ? 1 : .max))
        for client in clients.keys where center.client(client) == nil { clients[client] = nil }
    }

    /// Lets all happen that is due, and looks for what did not.
    func settle() throws(Violation) {
        for _ in 0..<2_000 {
            let needs = center.needs
            guard needs.turnEnd || needs.idle || needs.isDue(at: time) else { break }
            if needs.isDue(at: time) { try submit(.passTime(workLimit: .max)) }
            if center.needs.turnEnd { try submit(.endTurn(workLimit: .max)) }
            if !center.needs.turnEnd, center.needs.idle { try submit(.idle) }
            handOver()
        }
        for client in clients.keys where center.client(client) == nil { clients[client] = nil }
        try judgeSettled()
    }
}
