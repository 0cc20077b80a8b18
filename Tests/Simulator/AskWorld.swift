import BelfryCenter
import BelfryHistory

/// Responders and asks of a few WebSockets, judged by what an outsider sees; there is no model of them yet.
///
/// Addresses and selectors are few, so that they collide often. A second center does the same, and has the same digest.
final class AskWorld {
    private var dice: Dice
    private var limits = CenterLimits()
    private var center: NotificationCenter
    private var effects = Effects()
    private var recorder: Recorder
    private var now: Int64 = 1_000_000_000_000
    private var wall: Int64 = 1_700_000_000_000
    private var lastNumber: UInt64 = 0
    private(set) var commandCount: UInt64 = 0
    /// The connection of each client, nil while it has none.
    private var clients: [UInt64: UInt64?] = [:]
    /// The clients that have asked for suspension.
    private var suspended: Set<UInt64> = []
    private var seen: [NotificationID: Seen] = [:]
    /// The number with which each observer was shown an ask last.
    private var lastAsked: [UInt64: UInt64] = [:]
    private var lastSequence: UInt64 = 0
    private var told: [String] = []

    /// What is known of an ask.
    private struct Seen {
        let ask: Ask
        let endsAt: Int64
        var shown: [Showing] = []
        var answers: [(observer: UInt64, text: [UInt8])] = []
        var isOver = false
    }

    /// How an ask was shown.
    private struct Showing {
        let observer: UInt64
        let client: UInt64
        let sequence: UInt64
        /// The connection that it was written to has ended.
        var isLost = false
    }

    init(seed: UInt64) {
        dice = Dice(seed: seed)
        if dice.oneIn(3) { limits.unacknowledgedLimit = dice.number(in: 1...4) }
        if dice.oneIn(3) { limits.causedByDepthLimit = dice.number(in: 2...4) }
        if dice.oneIn(3) { limits.askLimit = dice.number(in: 1...5) }
        limits.isDurable = true
        let epoch = [UInt8]("k\(seed)")
        center = NotificationCenter(
            name: [UInt8]("default"), epoch: epoch, limits: limits,
            seed: HashSeed(seed, dice.next()))
        recorder = Recorder(name: [UInt8]("default"), epoch: epoch, limits: limits)
    }

    /// The last commands, for the report of a violation.
    var lastTold: ArraySlice<String> { told.suffix(12) }

    func step() throws(Violation) {
        switch dice.below(20) {
        case 0: try connect()
        case 1, 2, 3: try register()
        case 4, 5, 6, 7, 8, 9: try ask()
        case 10, 11, 12, 13: try answer()
        case 14: try suspend()
        case 15: try cut()
        case 16: try comeBack()
        case 17:
            if let id = dice.pick(ids) { try submit(.withdraw(id)) }
        case 18:
            let serial = UInt64(dice.number(in: 0...Int(lastNumber)))
            try submit(.removeObserver(serial: serial, by: .broker))
        default: try passTime()
        }
    }

    // MARK: Steps

    private var time: CommandTime {
        CommandTime(wallMilliseconds: wall, monotonicNanoseconds: now)
    }

    private var ids: [NotificationID] { seen.keys.sorted { $0.low < $1.low }.suffix(12) }
    private var someClient: UInt64 { dice.pick(clients.keys.sorted()) ?? 1 }
    private var someAddress: [UInt8] { [UInt8](["w", "x", "y"][dice.below(3)]) }

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

    private func register() throws(Violation) {
        lastNumber += 1
        var terms = ObserverTerms()
        terms.suspensionBehavior =
            SuspensionBehavior.allCases[dice.below(SuspensionBehavior.allCases.count)]
        terms.endsWithConnection = dice.oneIn(5)
        let names = ["a", "b", "c"].filter { _ in !dice.oneIn(3) }
        var responder = ResponderTerms(
            implements: names.map { [UInt8]($0) }, next: dice.oneIn(2) ? someAddress : nil)
        responder.ifHeld =
            dice.oneIn(2) ? .share : dice.oneIn(2) ? .replace : .refuse
        responder.concurrency = dice.oneIn(3) ? 1_000 : dice.number(in: 1...3)
        let registration = ObserverRegistration(
            serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1), name: nil,
            object: someAddress, selector: [], terms: terms, role: .responder(responder))
        try submit(.addObserver(registration, client: someClient, since: nil))
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
            wait: dice.oneIn(2) ? nil : Int64(dice.below(2)) * 500_000_000)
        var terms = AskTerms()
        terms.principal = [UInt8]("p")
        if dice.oneIn(2) { terms.client = someClient }
        seen[ask.id] = Seen(ask: ask, endsAt: now + lifetime)
        if case .refused = try submit(.ask(ask, terms)) { seen[ask.id] = nil }
    }

    private func answer() throws(Violation) {
        guard let id = dice.pick(ids), let shown = seen[id].flatMap({ dice.pick($0.shown) }) else {
            return
        }
        lastNumber += 1
        let text = [UInt8]("\(lastNumber)")
        let response: Response =
            dice.oneIn(4) ? .passed(text) : dice.oneIn(6) ? .refusal(text) : .result(text)
        if case .result = response { seen[id]?.answers.append((shown.observer, text)) }
        if dice.oneIn(3) {
            try submit(.answer(id, observer: shown.observer, response))
        } else {
            let owner = center.observer(shown.observer)?.client ?? 0
            try submit(
                .acknowledge(
                    client: owner, DeliveryName(observer: shown.observer, sequence: shown.sequence),
                    response))
        }
    }

    private func suspend() throws(Violation) {
        let client = someClient
        guard dice.oneIn(2) else {
            suspended.remove(client)
            try submit(.setSuspended(client: client, false))
            return
        }
        if case .refused = try submit(.setSuspended(client: client, true)) { return }
        suspended.insert(client)
    }

    private func cut() throws(Violation) {
        let client = someClient
        guard let number = clients[client] ?? nil else { return }
        clients[client] = .some(nil)
        loseShown(to: client)
        try submit(
            .disconnect(client: client, connection: ConnectionName(node: 0, number: number)))
    }

    private func loseShown(to client: UInt64) {
        for id in seen.keys {
            for place in seen[id]?.shown.indices ?? 0..<0
            where seen[id]?.shown[place].client == client {
                seen[id]?.shown[place].isLost = true
            }
        }
    }

    private func comeBack() throws(Violation) {
        let client = someClient
        try connect()
        let newcomer = lastNumber
        guard clients[newcomer] != nil, newcomer != client else { return }
        loseShown(to: client)
        let outcome = try submit(
            .resume(Resumption(newcomer: newcomer, client: client, after: nil)))
        if case .refused = outcome {
            clients[client] = nil
        } else {
            clients[client] = clients[newcomer]
            clients[newcomer] = nil
        }
    }

    private func passTime() throws(Violation) {
        let step = Int64(dice.number(in: 1...1_500))
        now += step * 1_000_000
        wall += step
        try submit(.passTime(workLimit: .max))
        for (id, ask) in seen where !ask.isOver && ask.endsAt <= now {
            throw Violation("ask #\(id.low) is open, and its time is over")
        }
    }

    // MARK: Judging

    @discardableResult
    private func submit(_ action: Command.Action) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: 1, counter: commandCount), time: time,
            action: action)
        recorder.record(command)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        told.append("\(Show.action(action)): \(Show.effects(effects, center))")
        if told.count > 100 { told.removeFirst(50) }
        try recorder.compare(with: center)
        let showings = effects.deliveries.filter { $0.form == .ask }
        if case .ask = action, showings.count == 1, effects.askEnds.isEmpty {
            try judgeChoice(showings[0])
        }
        for delivery in showings { try judge(delivery) }
        for end in effects.askEnds { try judge(end) }
        return effects.outcome
    }

    private func judge(_ delivery: Delivery) throws(Violation) {
        let note = effects.notifications[Int(delivery.notification)]
        let name = "ask #\(note.id.low)"
        guard let ask = seen[note.id], !ask.isOver else {
            throw Violation("\(name) was shown, and is not open")
        }
        guard note.sequence > lastSequence else {
            throw Violation("rule R13: \(name) has no higher number than the one before")
        }
        lastSequence = note.sequence
        if ask.ask.isOnce, !ask.shown.isEmpty {
            throw Violation("rule R12: \(name) was shown again")
        }
        let wasShown = ask.shown.contains { $0.observer == delivery.observer }
        guard wasShown == delivery.isRedelivered else {
            throw Violation("rule R11: \(name) came again, or is marked so")
        }
        if ask.shown.contains(where: { $0.observer == delivery.observer && !$0.isLost }) {
            throw Violation("rule R11: \(name) came again to one that had not gone")
        }
        guard clients.values.contains(.some(delivery.connection)) else {
            throw Violation("rule R6: \(name) was written to nobody")
        }
        if let row = center.observer(delivery.observer) {
            guard row.role.responder?.implements.contains(ask.ask.content.nameBytes) == true else {
                throw Violation("rule R5: \(name) came to one that does not implement it")
            }
            let isHeldBack = row.terms.suspensionBehavior != .deliverImmediately
            if isHeldBack, suspended.contains(row.client) {
                throw Violation("rule R6: \(name) came to one that is suspended")
            }
        }
        seen[note.id]?.shown.append(
            Showing(
                observer: delivery.observer,
                client: center.observer(delivery.observer)?.client ?? 0, sequence: note.sequence))
        lastAsked[delivery.observer] = note.sequence
    }

    /// Of those who share an address the one is asked who has the fewest open asks, then who was asked longest ago, then the
    /// oldest.
    private func judgeChoice(_ delivery: Delivery) throws(Violation) {
        let note = effects.notifications[Int(delivery.notification)]
        guard let target = effects.addressed(of: delivery.notification)?.target else { return }
        let rows = center.responders(at: target)
        guard let chosen = rows.first(where: { $0.observer.serial == delivery.observer }) else {
            throw Violation(
                "rule R4: ask #\(note.id.low) came to one that does not hold the address")
        }
        let rank = self.rank(of: chosen, openAskCount: chosen.openAskCount - 1)
        for other in rows where other.observer.serial != delivery.observer {
            let terms = other.observer.role.responder
            guard let terms, terms.implements.contains(note.content.nameBytes),
                other.observer.state == .live, other.openAskCount < terms.concurrency,
                self.rank(of: other, openAskCount: other.openAskCount) < rank
            else { continue }
            throw Violation(
                "rule R2: ask #\(note.id.low) came to o\(delivery.observer), before o\(other.observer.serial)"
            )
        }
    }

    private func rank(of row: ResponderRow, openAskCount: Int) -> (Int, UInt64, UInt64) {
        (openAskCount, lastAsked[row.observer.serial] ?? 0, row.observer.serial)
    }

    private func judge(_ end: AskOutcome) throws(Violation) {
        let name = "ask #\(end.id.low)"
        guard let ask = seen[end.id], !ask.isOver else {
            throw Violation("\(name) ended twice, or was never asked")
        }
        seen[end.id]?.isOver = true
        switch end.state {
        case .open: throw Violation("\(name) ended, and is open")
        case .withdrawn: return
        case .answered(let text, let observer):
            guard ask.answers.contains(where: { $0.observer == observer && $0.text == text }) else {
                throw Violation("rule R7: o\(observer) did not answer \(name) so")
            }
        case .fallback(let text, _):
            guard ask.ask.fallback == text else {
                throw Violation("\(name) ended with a default that is not its own")
            }
        case .failed(let failure):
            if ask.ask.fallback != nil { throw Violation("\(name) has a default, and failed") }
            if failure == .noAnswer, ask.endsAt > now {
                throw Violation("\(name) ended before its time")
            }
        }
    }
}
