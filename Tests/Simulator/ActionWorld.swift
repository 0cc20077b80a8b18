import BelfryCenter
import BelfryHistory
import TestSupport

/// Observers with targets and responders of a few WebSockets: all output must be the model's.
///
/// Addresses and selectors are few, so that they collide often. The broker dies at any moment of
/// the store. A second center does the same, and has the same digest.
final class ActionWorld {
    var dice: Dice
    private var limits = CenterLimits().ofLog
    private(set) var center: NotificationCenter
    private(set) var effects = Effects()
    private var recorder: Recorder
    private var store: CenterStore
    private(set) var now: Int64 = 1_000_000_000_000
    private var wall: Int64 = 1_700_000_000_000
    private var lastNumber: UInt64 = 0
    private(set) var commandCount: UInt64 = 0
    private var life = 1
    private(set) var model = ActionModel()
    /// The changes of this turn, and of the turns handed to the store with the model then.
    private var turn: [Change] = []
    private var uncommitted: [(changes: [Change], model: ActionModel)] = []
    private var committed = ActionModel()
    /// The latest posts of this life.
    private(set) var posts: [NotificationID] = []
    private var told: [String] = []
    private var filters: FilterProfile

    init(seed: UInt64) {
        dice = Dice(seed: seed)
        // The model knows no reports.
        filters = FilterProfile(seed: seed, hearsReports: false)
        limits.isDurable = true
        // A client that was late three times is still waited for.
        limits.missedDeadlineLimit = 1_000_000
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
        switch dice.below(30) {
        case 0, 1: try connect()
        case 2, 3: try respond()
        case 4, 5, 6: try wire()
        case 7, 8, 9, 10, 11, 12: try post()
        case 13, 14, 15, 16: try answer()
        case 17: try suspend()
        case 18: try slow()
        case 19, 20: try cut()
        case 21, 22: try comeBack()
        case 23: try remove()
        case 24, 25: handOver()
        case 26: try commit(dice.number(in: 1...3))
        case 27: if dice.oneIn(4) { try restart(isComplete: dice.oneIn(3)) }
        default: try passTime()
        }
    }

    // MARK: Steps

    var time: CommandTime {
        CommandTime(wallMilliseconds: wall, monotonicNanoseconds: now)
    }

    private var someClient: UInt64 { dice.pick(model.clients.keys.sorted()) ?? 1 }
    private var someAddress: [UInt8] { [UInt8](["w", "x", "y", "z"][dice.below(4)]) }
    private var someSelector: [UInt8] { [UInt8](["a", "b", "c"][dice.below(3)]) }

    private var someName: [UInt8] {
        if filters.isUsed { return dice.pick(filters.names) ?? [] }
        return [UInt8](["up", "down"][dice.below(2)])
    }

    private var someObject: [UInt8]? {
        if filters.isUsed { return dice.pick(filters.objects).flatMap { $0 } }
        return dice.oneIn(3) ? nil : [UInt8](["s", "t"][dice.below(2)])
    }

    private func connect() throws(Violation) {
        guard model.clients.count < 5 else { return }
        lastNumber += 2
        let registration = ClientRegistration(
            id: lastNumber, transport: .webSocket,
            connection: ConnectionName(node: 0, number: lastNumber - 1),
            sessionHash: SecretHash(high: lastNumber, low: 0), principal: [UInt8]("p"),
            owner: Owner(ofPrincipal: [UInt8]("p")))
        model.clients[lastNumber] = ActionModel.Client(connection: lastNumber - 1)
        try submit(.connect(registration, observers: [], since: nil))
    }

    private func respond() throws(Violation) {
        lastNumber += 1
        var terms = ObserverTerms()
        terms.suspensionBehavior =
            dice.oneIn(2)
            ? .hold : SuspensionBehavior.allCases[dice.below(SuspensionBehavior.allCases.count)]
        terms.endsWithConnection = dice.oneIn(5)
        if dice.oneIn(4) { terms.holdLimit = dice.number(in: 1...3) }
        let selectors = ["a", "b", "c"].filter { _ in !dice.oneIn(3) }
        var responder = ResponderTerms(
            implements: selectors.map { [UInt8]($0) }, next: dice.oneIn(2) ? someAddress : nil)
        responder.ifHeld = dice.oneIn(3) ? .replace : dice.oneIn(4) ? .refuse : .share
        let (address, client) = (someAddress, someClient)
        let registration = ObserverRegistration(
            serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1), name: nil,
            object: address, selector: [], terms: terms, role: .responder(responder))
        let earlier = model.responders.filter { $0.address == address }.map(\.serial)
        let action = Command.Action.addObserver(registration, client: client, since: nil)
        try submit(action) { model, outcome in
            if case .refused = outcome { return }
            if responder.ifHeld == .replace { for serial in earlier { model.remove(serial) } }
            model.responders.append(
                ActionModel.Responder(
                    serial: registration.serial, client: client, address: address,
                    terms: responder, behavior: terms.suspensionBehavior,
                    holdLimit: terms.holdLimit, endsWithConnection: terms.endsWithConnection))
        }
    }

    private func wire() throws(Violation) {
        lastNumber += 1
        var terms = ObserverTerms()
        terms.acknowledges = dice.oneIn(2)
        terms.endsWithConnection = dice.oneIn(5)
        let client = someClient
        var (name, object): ([UInt8]?, [UInt8]?) = (someName, someObject)
        let filter = filters.filter(&name, &object, &dice)
        let row = ActionModel.Row(
            serial: lastNumber, client: client, name: name, object: object, filter: filter,
            target: someAddress, selector: someSelector, acknowledges: terms.acknowledges,
            endsWithConnection: terms.endsWithConnection)
        let registration = ObserverRegistration(
            serial: row.serial, tokenHash: SecretHash(high: row.serial, low: 1), name: row.name,
            object: row.object, selector: row.selector, terms: terms,
            role: filter.map { .filtered(FilterTerms($0), target: row.target) }
                ?? .action(target: row.target))
        guard model.rows.count < 12 else { return }
        try submit(.addObserver(registration, client: client, since: nil)) { model, outcome in
            if case .refused = outcome { return }
            model.rows.append(row)
        }
    }

    private func post() throws(Violation) {
        lastNumber += 1
        let (name, object) = (someName, someObject)
        let userInfo =
            filters.isUsed && !dice.oneIn(6)
            ? filters.userInfo(lastNumber, padding: "", &dice) : nil
        let content = HistoryContent(name: name, object: object, userInfo: userInfo)
        let post = Post(
            id: NotificationID(milliseconds: wall, place: lastNumber, random: lastNumber),
            content: Notification.Content(name: name, object: object, userInfo: userInfo))
        var terms = PostTerms()
        terms.reportsObservers = true
        terms.wait = dice.oneIn(2) ? 0 : Int64(dice.number(in: 1...4)) * 500_000_000
        let command = commandCount + 1
        let sequence = center.sequence + 1
        var expected: [ReportRow] = []
        let outcome = try submit(.post(post, terms)) { model, _ in
            let matching = model.rows.filter {
                content.matches(name: $0.name, object: $0.object, $0.filter)
            }
            model.accounts[post.id] = ActionModel.Account(matched: UInt32(matching.count))
            for row in matching {
                expected.append(
                    model.act(
                        ActionModel.Action(
                            id: post.id, name: name, object: object, row: row.serial,
                            selector: row.selector, acknowledges: row.acknowledges,
                            sequence: sequence, path: [row.target], responder: 0)))
            }
            let pending = expected.filter { $0.outcome == .pending }.map(\.observer)
            if terms.wait > 0, !pending.isEmpty {
                model.waits[post.id] = ActionModel.Wait(
                    command: command, endsAt: self.now + terms.wait, rows: Set(pending))
            }
        }
        posts.append(post.id)
        guard case .waiting = outcome else { return try judge(rows: expected, of: post.id) }
        guard model.waits[post.id] != nil else {
            throw Violation("rule K9: #\(post.id.low) waits, and nobody is to answer")
        }
        try judge(rows: expected, of: post.id)
    }

    private func answer() throws(Violation) {
        guard let action = dice.pick(model.actions.filter(\.isOwed)) ?? dice.pick(model.actions)
        else { return }
        lastNumber += 1
        let text = [UInt8]("\(lastNumber)")
        let response: Response =
            dice.oneIn(2) ? .passed(text) : dice.oneIn(4) ? .refusal(text) : .result(text)
        // Now and then another responder gives the answer.
        let responder =
            dice.oneIn(8)
            ? dice.pick(model.responders.map(\.serial)) ?? action.responder : action.responder
        let client = model.responders.first { $0.serial == responder }?.client ?? 0
        let next = center.sequence + 1
        let name = DeliveryName(observer: responder, sequence: action.sequence, row: action.row)
        try submit(.acknowledge(client: client, name, response)) { model, _ in
            model.answer(responder, action.sequence, row: action.row, response, next: next)
        }
    }

    private func suspend() throws(Violation) {
        let client = someClient
        let isSuspended = dice.oneIn(2)
        try submit(.setSuspended(client: client, isSuspended)) { model, outcome in
            if case .refused = outcome { return }
            guard model.clients[client]?.isAsked != isSuspended else { return }
            model.clients[client]?.isAsked = isSuspended
            model.flush(client)
        }
    }

    /// More waits for the socket of a client than may, or there is room again.
    private func slow() throws(Violation) {
        let client = someClient
        guard model.clients[client]?.connection != nil else { return }
        if dice.oneIn(2) {
            try submit(.becomeSlow(client: client)) { model, _ in
                model.clients[client]?.isSlow = true
            }
        } else {
            try submit(.drain(client: client)) { model, _ in
                model.clients[client]?.isSlow = false
                model.flush(client)
            }
        }
    }

    private func cut() throws(Violation) {
        let client = someClient
        guard let number = model.clients[client]?.connection else { return }
        let name = ConnectionName(node: 0, number: number)
        try submit(.disconnect(client: client, connection: name)) { model, _ in
            model.endConnection(of: client)
            if !model.isLasting(client) { model.clients[client] = nil }
        }
    }

    private func comeBack() throws(Violation) {
        let client = someClient
        let count = model.clients.count
        try connect()
        let newcomer = lastNumber
        guard model.clients.count > count, newcomer != client else { return }
        let resumption = Resumption(newcomer: newcomer, client: client, after: nil)
        try submit(.resume(resumption)) { model, outcome in
            if case .refused = outcome {
                model.clients[client] = nil
                return
            }
            if model.clients[client]?.connection != nil { model.endConnection(of: client) }
            let connection = model.clients.removeValue(forKey: newcomer)?.connection
            model.clients[client]?.connection = connection
            model.flush(client)
        }
    }

    private func remove() throws(Violation) {
        if filters.isUsed, dice.oneIn(2) { return try removeByFilter() }
        let serials = model.rows.map(\.serial) + model.responders.map(\.serial)
        guard let serial = dice.pick(serials) else { return }
        try submit(.removeObserver(serial: serial, by: .broker)) { model, _ in
            model.remove(serial)
        }
    }

    /// Removes those with the terms of a filter: no responder has any (rules O3 and P6).
    private func removeByFilter() throws(Violation) {
        guard let terms = filters.removal(&dice) else { return }
        let client = someClient
        var filter = ObserverFilter(target: dice.oneIn(2) ? someAddress : nil)
        filter.terms = FilterTerms(terms)
        let gone = model.rows.filter {
            $0.client == client && (filter.target == nil || filter.target == $0.target)
                && terms.isPart(of: $0.filter)
        }.map(\.serial)
        let outcome = try submit(.removeObservers(client: client, filter)) { model, outcome in
            if case .refused = outcome { return }
            for serial in gone { model.remove(serial) }
        }
        if case .removed(let count) = outcome, count != gone.count {
            throw Violation("rule P6: \(count) were removed, expected \(gone)")
        }
    }

    private func passTime() throws(Violation) {
        let step = Int64(dice.number(in: 1...1_500))
        now += step * 1_000_000
        wall += step
        try submit(.passTime(workLimit: .max)) { model, _ in model.passTime(to: self.now) }
    }

    // MARK: Judging

    @discardableResult
    private func submit(
        _ action: Command.Action, _ change: (inout ActionModel, Outcome) -> Void = { _, _ in }
    ) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: 1, counter: commandCount), time: time,
            action: action)
        try recorder.record(command)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        turn += effects.changes
        told.append("\(Self.text(action)): \(Self.text(effects, center))")
        if told.count > 100 { told.removeFirst(50) }
        try recorder.compare(with: center, effects)
        model.frames = []
        model.completed = []
        change(&model, effects.outcome)
        try judgeFrames()
        try judgeAccounts()
        return effects.outcome
    }

    // MARK: The store

    private func handOver() {
        guard !turn.isEmpty else { return }
        uncommitted.append((turn, model))
        turn = []
        recorder.endTurn()
    }

    private func commit(_ count: Int) throws(Violation) {
        for _ in 0..<min(count, uncommitted.count) {
            let oldest = uncommitted.removeFirst()
            try store.commit(oldest.changes)
            try recorder.commit()
            committed = oldest.model
        }
    }

    /// The broker is killed, or stops in order, and begins again with what the store was told.
    private func restart(isComplete: Bool) throws(Violation) {
        if isComplete {
            try submit(.terminate)
            // Polls that this has answered are told the second time, as the server does it.
            try submit(.terminate)
            handOver()
            try commit(.max)
            committed = model
        }
        told.append(isComplete ? "restart" : "crash")
        life += 1
        turn = []
        uncommitted = []
        wall += Int64(dice.below(3_000))
        now = Int64(dice.number(in: 1_000_000...2_000_000_000)) * 1_000
        let epoch = [UInt8]("k\(life)")
        if let image = try store.restart(isComplete: isComplete) {
            center = NotificationCenter(
                restoring: image, limits: limits, seed: HashSeed(dice.next(), 1), time: time)
            center.assignOwners { Owner(ofPrincipal: $0) }
        } else {
            center = NotificationCenter(
                name: center.name, epoch: epoch, limits: limits, seed: HashSeed(dice.next(), 1))
        }
        try recorder.restart(limits: limits, epoch: epoch, isComplete: isComplete, time: time)
        model = committed
        model.restart()
        posts = []
        try submit(.configure(limits))
        handOver()
        try commit(.max)
    }
}
