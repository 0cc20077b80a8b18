import BelfryCenter
import BelfryHistory
import TestSupport

/// Responders and asks of a few WebSockets and mailboxes, judged from outside without a model.
///
/// Addresses and selectors are few, so that they collide often. The broker dies at any moment of
/// the store. A second center does the same, and has the same digest.
final class AskWorld {
    var dice: Dice
    var limits = CenterLimits().ofLog
    var center: NotificationCenter
    var effects = Effects()
    var recorder: Recorder
    var store: CenterStore
    var now: Int64 = 1_000_000_000_000
    var wall: Int64 = 1_700_000_000_000
    var lastNumber: UInt64 = 0
    var commandCount: UInt64 = 0
    /// Which life of the broker this is.
    var life = 1
    /// Whether it stops in order.
    var isStopping = false
    /// The connection of each WebSocket's client, nil while it has none.
    var clients: [UInt64: UInt64?] = [:]
    /// The observers of mailboxes.
    var mailboxes: Set<UInt64> = []
    var known = Known()
    /// The changes of this turn for the store, and the turns that were handed to it.
    var turn: [Change] = []
    var announcement: UInt64 = 0
    /// The clients whose registrations were answered, and that get then what waited for them.
    var flushing: [(client: UInt64, connection: UInt64)] = []
    var uncommitted: [Turn] = []
    /// The knowledge of an outsider that must hold after a crash.
    var committed = Known()
    /// The number with which each observer was shown an ask last, in this life.
    var lastAsked: [UInt64: UInt64] = [:]
    var lastSequence: UInt64 = 0
    var told: [String] = []

    /// The knowledge of an outsider.
    struct Known {
        var asks: [NotificationID: Seen] = [:]
        /// The ask of each key.
        var keys: [UInt64: NotificationID] = [:]
        /// The clients that have asked for suspension.
        var suspended: Set<UInt64> = []
    }

    /// The knowledge about an ask.
    struct Seen {
        let ask: Ask
        let key: UInt64?
        /// By the monotonic clock of this life, and by the wall for what outlives it.
        var endsAt: Int64
        var answerBy: Int64
        let keyEndsAt: Int64
        /// Which life it was asked in.
        let life: Int
        var shown: [Showing] = []
        var answers: [AskAnswer] = []
        var end: AskOutcome.State?
        /// Whether a responder has handed it on.
        var wasPassed = false
        /// The waiters: the command, and the client that asks over its connection.
        var waiters: [(command: UInt64, client: UInt64?)] = []

        var isOver: Bool { end != nil }
    }

    /// How an ask was shown.
    struct Showing {
        let observer: UInt64
        let client: UInt64
        let sequence: UInt64
        let life: Int
        /// A look into a mailbox has shown it: the reader has it when the store was told.
        var isLook = false
        /// The connection that it was written to has ended.
        var isLost = false
        /// The broker died before the store was told: of a mailbox, which may show anything again.
        var isForgotten = false
    }

    /// The work of one turn for the store.
    struct Turn {
        let changes: [Change]
        let known: Known
        /// The asks up to this one are shown once it is stored.
        let announcement: UInt64
    }

    init(seed: UInt64) {
        dice = Dice(seed: seed)
        if dice.oneIn(3) { limits.unacknowledgedLimit = dice.number(in: 1...4) }
        if dice.oneIn(3) { limits.causedByDepthLimit = dice.number(in: 2...4) }
        if dice.oneIn(3) { limits.askLimit = dice.number(in: 1...5) }
        limits.isDurable = true
        let name = [UInt8]("default")
        let epoch = [UInt8]("k\(seed)")
        center = NotificationCenter(
            name: name, epoch: epoch, limits: limits, seed: HashSeed(seed, dice.next()))
        recorder = Recorder(name: name, epoch: epoch, limits: limits)
        store = CenterStore(name: name)
    }

    /// The last commands, for the report of a violation.
    var lastTold: ArraySlice<String> { told.suffix(12) }

    func step() throws(Violation) {
        if !flushing.isEmpty, dice.oneIn(2) {
            let (client, connection) = flushing.removeFirst()
            if clients[client] == connection { return try tellRoom(client) }
        }
        switch dice.below(29) {
        case 0: try connect()
        case 1, 2, 3: try register()
        case 4, 5, 6, 7, 8: try ask()
        case 9: try askAgain()
        case 10, 11, 12, 13: try answer()
        case 14: try suspend()
        case 15: try cut()
        case 16: try comeBack()
        case 17:
            if let id = dice.pick(ids) { try submit(.withdraw(id)) }
        case 18:
            let serial = UInt64(dice.number(in: 0...Int(lastNumber)))
            try submit(.removeObserver(serial: serial, by: .broker))
        case 19: try openMailbox()
        case 20, 21: try look()
        case 22, 23: handOver()
        case 24: try commit(dice.number(in: 1...3))
        case 25:
            // The clock is set.
            wall += Int64(dice.number(in: -4_000...4_000))
        case 26: if dice.oneIn(4) { try restart(isComplete: dice.oneIn(3)) }
        case 27: try leave()
        default: try passTime()
        }
    }

    // MARK: Steps

    /// The answer of a registration has left, and more may follow.
    private func tellRoom(_ client: UInt64) throws(Violation) {
        try submit(.drain(client: client))
    }

    var time: CommandTime {
        CommandTime(wallMilliseconds: wall, monotonicNanoseconds: now)
    }

    private var ids: [NotificationID] { known.asks.keys.sorted { $0.low < $1.low }.suffix(12) }
    private var someClient: UInt64 { dice.pick(clients.keys.sorted()) ?? 1 }
    private var someConnected: UInt64? {
        dice.pick(clients.keys.filter { clients[$0] ?? nil != nil }.sorted())
    }
    private var someAddress: [UInt8] { [UInt8](["w", "x", "y"][dice.below(3)]) }

    private func connect() throws(Violation) {
        guard clients.count < 5 else { return }
        lastNumber += 2
        let registration = ClientRegistration(
            id: lastNumber, transport: .webSocket,
            connection: ConnectionName(node: 0, number: lastNumber - 1),
            sessionHash: SecretHash(high: lastNumber, low: 0), principal: principal(of: lastNumber),
            owner: Owner(ofPrincipal: principal(of: lastNumber)))
        clients[lastNumber] = lastNumber - 1
        try submit(.connect(registration, observers: [], since: nil))
    }

    private func register() throws(Violation) {
        try submit(.addObserver(responder(), client: someClient, since: nil))
    }

    private func openMailbox() throws(Violation) {
        guard mailboxes.count < 3 else {
            if let serial = dice.pick(mailboxes.sorted()), dice.oneIn(2) {
                try submit(.removeObserver(serial: serial, by: .broker))
                mailboxes.remove(serial)
            }
            return
        }
        lastNumber += 2
        let client = ClientRegistration(
            id: lastNumber, transport: .mailbox,
            connection: ConnectionName(node: 0, number: 0),
            sessionHash: SecretHash(high: lastNumber, low: 0), principal: [UInt8]("p"),
            owner: Owner(ofPrincipal: [UInt8]("p")))
        let registration = responder(outlives: true)
        let outcome = try submit(.connect(client, observers: [registration], since: nil))
        if case .refused = outcome { return }
        mailboxes.insert(registration.serial)
    }

    /// A responder of some address.
    private func responder(outlives: Bool = false) -> ObserverRegistration {
        lastNumber += 1
        var terms = ObserverTerms()
        terms.suspensionBehavior =
            SuspensionBehavior.allCases[dice.below(SuspensionBehavior.allCases.count)]
        terms.endsWithConnection = !outlives && dice.oneIn(5)
        let names = ["a", "b", "c"].filter { _ in !dice.oneIn(3) }
        var responder = ResponderTerms(
            implements: names.map { [UInt8]($0) }, next: dice.oneIn(2) ? someAddress : nil)
        responder.ifHeld =
            dice.oneIn(2) ? .share : dice.oneIn(2) ? .replace : .refuse
        responder.concurrency = dice.oneIn(3) ? 1_000 : dice.number(in: 1...3)
        return ObserverRegistration(
            serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1), name: nil,
            object: someAddress, selector: [], terms: terms, role: .responder(responder))
    }

    private func ask() throws(Violation) {
        lastNumber += 1
        let lifetime = Int64(dice.number(in: 1...5)) * 1_000_000_000
        let ask = Ask(
            id: NotificationID(milliseconds: wall, place: lastNumber, random: lastNumber),
            content: Notification.Content(
                name: [UInt8](["a", "b", "c"][dice.below(3)]), object: someAddress,
                userInfo: [UInt8](#"{"k":\#(lastNumber)}"#)),
            causedBy: dice.oneIn(5) ? dice.pick(ids) : nil,
            fallback: dice.oneIn(3) ? [UInt8]("\(lastNumber)") : nil, isOnce: dice.oneIn(4),
            lifetime: lifetime,
            wait: dice.oneIn(2) ? nil : Int64(dice.below(2)) * 500_000_000, options: options())
        var terms = AskTerms()
        terms.principal = [UInt8]("p")
        if dice.oneIn(2) { terms.client = someConnected }
        try make(ask, terms, key: dice.oneIn(3) ? lastNumber : nil)
    }

    /// Asks, and judges what becomes of the key if there is one.
    private func make(
        _ ask: Ask, _ terms: AskTerms, key: UInt64?
    ) throws(Violation) {
        var terms = terms
        terms.key = key.map { key in
            IdempotencyKey(
                principal: terms.principal, text: [UInt8]("\(key)"),
                requestHash: SecretHash(high: key, low: 2), form: 7)
        }
        let earlier = key.flatMap { known.keys[$0] }
        known.asks[ask.id] = Seen(
            ask: ask, key: key, endsAt: now + ask.lifetime,
            answerBy: wall + ask.lifetime / 1_000_000, keyEndsAt: now + 290_000_000_000,
            life: life)
        if let key { known.keys[key] = ask.id }
        let outcome = try submit(.ask(ask, terms))
        if case .awaiting(let awaited) = outcome {
            known.asks[awaited]?.waiters.append((commandCount, terms.client))
        }
        let isRefused = if case .refused = outcome { true } else { false }
        if center.ask(ask.id, at: time) != nil {
            return try judgeNew(ask.id, after: earlier.flatMap { known.asks[$0] })
        }
        known.asks[ask.id] = nil
        if let key { known.keys[key] = earlier }
        guard !isRefused else { return }
        guard let earlier, let first = known.asks[earlier] else {
            throw Violation("rule R17: ask #\(ask.id.low) is gone, and repeats none")
        }
        if case .asked(let again, _) = outcome { try judge(again, repeating: earlier, first) }
    }

    /// Repeats an ask with its key.
    private func askAgain() throws(Violation) {
        guard let key = dice.pick(known.keys.keys.sorted().suffix(6)), let id = known.keys[key],
            let first = known.asks[id]
        else { return }
        lastNumber += 1
        let ask = Ask(
            id: NotificationID(milliseconds: wall, place: lastNumber, random: lastNumber),
            content: first.ask.content, fallback: first.ask.fallback, isOnce: first.ask.isOnce,
            lifetime: first.ask.lifetime, wait: first.ask.wait, options: first.ask.options)
        var terms = AskTerms()
        terms.principal = [UInt8]("p")
        if dice.oneIn(2) { terms.client = someConnected }
        try make(ask, terms, key: key)
    }

    private func answer() throws(Violation) {
        guard let id = dice.pick(ids), let shown = known.asks[id].flatMap({ dice.pick($0.shown) })
        else { return }
        lastNumber += 1
        let text = [UInt8]("\(lastNumber)")
        let reason = dice.oneIn(3) ? [UInt8]("because of \(lastNumber)") : nil
        let response: Response =
            dice.oneIn(4)
            ? .passed(text) : dice.oneIn(6) ? .refusal(text) : .result(text, reason: reason)
        func answer(of principal: [UInt8]) {
            if case .passed = response { known.asks[id]?.wasPassed = true }
            guard case .result = response else { return }
            known.asks[id]?.answers.append(
                AskAnswer(text, observer: shown.observer, principal: principal, reason: reason))
        }
        if dice.oneIn(3) || mailboxes.contains(shown.observer) {
            let caller = principal(of: lastNumber)
            answer(of: caller)
            try submit(.answer(id, observer: shown.observer, response, principal: caller))
        } else {
            let owner = center.observer(shown.observer)?.client ?? 0
            answer(of: principal(of: owner))
            try submit(
                .acknowledge(
                    client: owner, DeliveryName(observer: shown.observer, sequence: shown.sequence),
                    response))
        }
    }

    private func suspend() throws(Violation) {
        let client = someClient
        guard dice.oneIn(2) else {
            known.suspended.remove(client)
            try submit(.setSuspended(client: client, false))
            return
        }
        if case .refused = try submit(.setSuspended(client: client, true)) { return }
        known.suspended.insert(client)
    }

    private func cut() throws(Violation) {
        let client = someClient
        guard let number = clients[client] ?? nil else { return }
        clients[client] = .some(nil)
        loseShown(to: client)
        let before = known.asks
        try submit(
            .disconnect(client: client, connection: ConnectionName(node: 0, number: number)))
        try judge(before) { $0.client == client }
    }

    /// Lets a waiter over HTTP go away.
    private func leave() throws(Violation) {
        guard let id = dice.pick(ids), let waiter = dice.pick(known.asks[id]?.waiters ?? []),
            waiter.client == nil
        else { return }
        let before = known.asks
        let name = CommandID(node: 0, incarnation: 1, counter: waiter.command)
        try submit(.leaveAsk(id, name))
        try judge(before) { $0.command == waiter.command }
    }

    func loseShown(to client: UInt64) {
        for id in known.asks.keys {
            for place in known.asks[id]?.shown.indices ?? 0..<0
            where known.asks[id]?.shown[place].client == client {
                known.asks[id]?.shown[place].isLost = true
            }
        }
    }

    private func comeBack() throws(Violation) {
        let client = someClient
        try connect()
        let newcomer = lastNumber
        // Where there are clients enough, the last one may have no connection any more.
        guard case .some(.some) = clients[newcomer], newcomer != client else { return }
        loseShown(to: client)
        let before = known.asks
        let outcome = try submit(
            .resume(Resumption(newcomer: newcomer, client: client, after: nil)))
        if case .refused = outcome {
            clients[client] = nil
        } else {
            clients[client] = clients[newcomer]
            clients[newcomer] = nil
            try judge(before) { $0.client == client }
        }
    }

    /// Looks into a mailbox.
    private func look() throws(Violation) {
        guard let serial = dice.pick(mailboxes.sorted()) else { return }
        try submit(.readMailbox(observer: serial, through: nil))
        guard let page = center.mailbox(of: serial, after: 0, limit: 100) else {
            mailboxes.remove(serial)
            return
        }
        for element in page.elements where element.addressed != nil {
            try judge(element, in: serial)
        }
    }

    private func passTime() throws(Violation) {
        let step = Int64(dice.number(in: 1...1_500))
        now += step * 1_000_000
        wall += step
        try submit(.passTime(workLimit: .max))
        for (id, ask) in known.asks where !ask.isOver && ask.endsAt <= now {
            throw Violation("ask #\(id.low) is open, and its time is over")
        }
    }
}
