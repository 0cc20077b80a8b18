import BelfryCenter
import BelfryJSON
import TestSupport

/// Everything at once: all kinds of clients share a few names, so that all parts meet.
///
/// It has no model. Its rules hold whatever happens: nothing stops the process or runs for ever, a
/// second center does the same, no frame is of an observer that is gone (rule C11), and an open ask
/// is at an observer that is there (rule R11).
final class MixedWorld {
    var dice: Dice
    private(set) var center: NotificationCenter
    private var effects = Effects()
    var recorder: Recorder
    private var limits: CenterLimits
    private var now: Int64 = 1_000_000_000_000
    private(set) var commandCount: UInt64 = 0
    var lastNumber: UInt64 = 0
    /// The connections of clients; 0 while one is away.
    private var connections: [UInt64: UInt64] = [:]
    var observers: [UInt64] = []
    private var mailboxes: [UInt64] = []
    private(set) var posts: [NotificationID] = []
    /// The deliveries that observers were sent and may answer.
    private var deliveries: [(observer: UInt64, sequence: UInt64, row: UInt64?)] = []
    private var announcement: UInt64 = 0
    private var judge = MixedJudge()
    /// A caller over HTTP that waits, or has waited, for an answer.
    private var waiter: (ask: NotificationID, command: CommandID)?
    private var told: [Command.Action] = []
    /// Few clients meet themselves more often.
    private let clientLimit: Int
    var filters: FilterProfile

    init(seed: UInt64) {
        dice = Dice(seed: seed)
        filters = FilterProfile(seed: seed)
        clientLimit = dice.number(in: 1...5)
        var limits = CenterLimits().ofLog
        limits.isDurable = dice.oneIn(2)
        limits.replayCountLimit = 40
        limits.clientHeldCountLimit = 20
        limits.unacknowledgedLimit = 3
        limits.flushByteLimit = 400
        limits.queueEntryLimit = dice.number(in: 4...20)
        limits.askLimit = 20
        limits.clientAskLimit = 12
        limits.fateLimit = 30
        let (name, epoch) = ([UInt8]("default"), [UInt8]("k\(seed)"))
        center = NotificationCenter(
            name: name, epoch: epoch, limits: limits, seed: HashSeed(seed, dice.next()))
        recorder = Recorder(name: name, epoch: epoch, limits: limits)
        self.limits = limits
    }

    var lastTold: ArraySlice<String> { told.suffix(30).map(Show.action)[...] }

    func step() throws(Violation) {
        switch dice.below(41) {
        case 0, 1: try connect()
        case 2...6: try observe()
        case 7...12: try submit(.post(post(), postTerms))
        case 13: try submit(.postBatch((0..<dice.number(in: 1...3)).map { _ in post() }, postTerms))
        case 14...18: try ask()
        case 19...23: try answer()
        case 24, 25: try write()
        case 26: try submit(.setSuspended(client: client, !dice.oneIn(3)))
        case 27: try submit(.becomeSlow(client: client))
        case 28, 29: try submit(.drain(client: client))
        case 30: try leave()
        case 31: try submit(.removeObserver(serial: dice.pick(observers) ?? 1, by: .broker))
        case 32: try readMailbox()
        case 33: if let ask = dice.pick(posts) { try submit(.withdraw(ask)) }
        case 34: try submit(.idle)
        case 35: try remove()
        case 36: try mode()
        case 37: try forget()
        default: try endTurn()
        }
    }

    // MARK: What they are made of

    var client: UInt64 { dice.pick(connections.keys.sorted()) ?? 1 }
    var name: [UInt8] {
        if filters.isUsed, !dice.oneIn(4) { return dice.pick(filters.names) ?? [] }
        return [UInt8](["a", "b", "c"][dice.below(3)])
    }
    var object: [UInt8] {
        if filters.isUsed, let object = dice.pick(filters.objects).flatMap({ $0 }) { return object }
        return [UInt8](["w", "x"][dice.below(2)])
    }
    var path: DocumentPath {
        let text = [UInt8](["", "k", "k.l"][dice.below(3)])
        guard let path = try? DocumentPath.parse(text.span) else {
            preconditionFailure("it is a key path")
        }
        return path
    }

    var owner: Owner { Owner(ofPrincipal: [UInt8](["p", "q"][dice.below(2)])) }

    func newID() -> NotificationID {
        lastNumber += 1
        posts.append(NotificationID(high: UInt64(now) << 16 | 0x7000, low: lastNumber))
        if posts.count > 12 { posts.removeFirst() }
        return posts[posts.count - 1]
    }

    // MARK: Steps

    private func connect() throws(Violation) {
        guard connections.count < clientLimit else { return try comeBack(client) }
        lastNumber += 1
        let isMailbox = dice.oneIn(4)
        let id = lastNumber
        let registration = Self.registration(ofClient: id, isMailbox: isMailbox)
        let observer = isMailbox ? [self.registration()] : []
        guard case .registered = try submit(.connect(registration, observers: observer, since: nil))
        else { return }
        if isMailbox { mailboxes.append(lastNumber) } else { connections[id] = id }
    }

    private static func registration(
        ofClient id: UInt64, isMailbox: Bool
    ) -> ClientRegistration {
        ClientRegistration(
            id: id, transport: isMailbox ? .mailbox : .webSocket,
            connection: ConnectionName(node: 0, number: isMailbox ? 0 : id),
            sessionHash: SecretHash(high: id, low: 0), principal: [UInt8]("p"),
            owner: Owner(ofPrincipal: [UInt8]("p")))
    }

    private func comeBack(_ client: UInt64) throws(Violation) {
        lastNumber += 1
        let newcomer = lastNumber
        let registration = Self.registration(ofClient: newcomer, isMailbox: false)
        try submit(.connect(registration, observers: [], since: nil))
        let after: UInt64? = dice.oneIn(2) ? nil : center.sequence - min(center.sequence, 3)
        let outcome = try submit(
            .resume(Resumption(newcomer: newcomer, client: client, after: after)))
        if case .resumed = outcome {
            connections[client] = newcomer
        } else {
            connections[newcomer] = newcomer
            connections[client] = center.client(client) == nil ? nil : connections[client]
        }
    }

    private func observe() throws(Violation) {
        let since: UInt64? = dice.oneIn(4) ? center.sequence / 2 : nil
        try submit(.addObserver(registration(), client: client, since: since))
    }

    private func ask() throws(Violation) {
        var terms = AskTerms()
        terms.client = dice.oneIn(2) ? client : nil
        terms.principal = [UInt8]("p")
        terms.owner = owner
        let ask = Ask(
            id: newID(),
            content: Notification.Content(name: name, object: object, userInfo: [UInt8]("{}")),
            fallback: dice.oneIn(4) ? [UInt8]("1") : nil, isOnce: dice.oneIn(3),
            lifetime: Int64(dice.number(in: 1...6)) * 1_000_000_000,
            wait: terms.client == nil && dice.oneIn(2) ? Int64(dice.below(2)) * 1_000_000_000 : nil)
        if try submit(.ask(ask, terms)) == .awaiting(ask.id), terms.client == nil {
            waiter = (ask.id, lastCommand)
        }
    }

    private func answer() throws(Violation) {
        let response: Response =
            [.result([UInt8]("{}")), .refusal([UInt8]("{}")), .passed([UInt8]("{}"))][dice.below(3)]
        if dice.oneIn(8), let ask = dice.pick(center.openAsks) {
            try submit(.answer(ask.id, observer: ask.observer, response))
            return
        }
        guard let place = dice.pick(Array(deliveries.indices)) else { return }
        let delivery = deliveries[place]
        if dice.oneIn(2) { deliveries.remove(at: place) }
        try submit(
            .acknowledge(
                client: center.observer(delivery.observer)?.client ?? 1,
                DeliveryName(
                    observer: delivery.observer, sequence: delivery.sequence, row: delivery.row),
                response))
    }

    private func write() throws(Violation) {
        var write = ValueWrite(id: newID(), object: object, path: path)
        write.client = dice.oneIn(2) ? client : nil
        write.owner = owner
        let text = [UInt8](["{\"l\":1}", "{\"k\":{\"l\":2}}", "{}"][dice.below(3)])
        guard let document = try? Document.parse(text.span),
            let patch = try? Document.parsePatch([UInt8]("{\"k\":null,\"l\":3}").span)
        else { return }
        switch dice.below(4) {
        case 0: try submit(.mergeValue(write, patch: patch))
        case 1: try submit(.removeValue(write))
        default:
            let lifetime = ValueLifetime(
                timeToLive: dice.oneIn(4) ? 1_000_000_000 : nil,
                lease: write.client != nil && dice.oneIn(3) ? 1_000_000_000 : nil)
            try submit(.setValue(write, document, lifetime))
        }
    }

    private func leave() throws(Violation) {
        let client = client
        let connection = connections[client] ?? 0
        try submit(
            .disconnect(
                client: client, connection: ConnectionName(node: 0, number: connection),
                end: dice.oneIn(2) ? .closed : .broken))
        if center.client(client) == nil { connections[client] = nil }
    }

    private func remove() throws(Violation) {
        guard dice.oneIn(3) else {
            try submit(
                .removeObservers(client: client, removal()))
            return
        }
        let client = client
        try submit(.removeClient(client: client, by: .broker))
        connections[client] = nil
    }

    private func readMailbox() throws(Violation) {
        guard let observer = dice.pick(mailboxes) else { return }
        let connection = ConnectionName(node: 0, number: 1_000_000 + observer)
        switch dice.below(4) {
        case 0:
            try submit(
                dice.oneIn(2)
                    ? .attachStream(observer: observer, connection)
                    : .readMailbox(observer: observer, through: center.sequence, wait: connection))
        case 1: try submit(.detachReader(observer: observer, connection))
        default:
            let through: UInt64? = dice.oneIn(2) ? nil : center.sequence / 2
            try submit(.readMailbox(observer: observer, through: through))
        }
    }

    private func mode() throws(Violation) {
        lastNumber += 1
        guard dice.oneIn(2) else {
            try submit(.leaveMode(serial: lastNumber - 1))
            return
        }
        try submit(
            .enterMode(
                ModeEntry(
                    serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 2),
                    mode: name, client: client, lease: dice.oneIn(3) ? 1_500_000_000 : nil)))
    }

    /// Takes something back, for its client or for lack of room.
    private func forget() throws(Violation) {
        switch dice.below(9) {
        case 0, 1:
            let match = QueueMatch(
                name: name, object: object, mask: dice.oneIn(2) ? .onName : .onSender,
                scope: .everything)
            try submit(.dequeue(match))
        case 2:
            guard let post = dice.pick(posts) else { return }
            try submit(.dequeueEntry(post, scope: .everything))
        case 3: if let waiter { try submit(.leaveAsk(waiter.ask, waiter.command)) }
        case 4: try submit(.trimHeld(byteCount: dice.below(200)))
        case 5: try submit(.trimOwned(dice.oneIn(2) ? .held : .keys, owner))
        case 6:
            limits.queueEntryLimit = dice.number(in: 4...20)
            limits.replayCountLimit = dice.number(in: 10...40)
            limits.fateLimit = dice.number(in: 10...30)
            try submit(.configure(limits))
        default:
            let kinds: [KeptKind] = [.channels, .replay, .keys, .fates, .tombstones]
            try submit(.trim(kinds[dice.below(kinds.count)], count: dice.below(20)))
        }
    }

    /// Kills the broker when everything is stored, or stops it in order; then the next life begins.
    func restart(isComplete: Bool) throws(Violation) {
        if isComplete {
            try submit(.terminate)
            // As the server does it, which may have more to tell by then.
            try submit(.terminate)
        }
        recorder.endTurn()
        try recorder.commit()
        now += Int64(dice.below(5_000)) * 1_000_000
        let epoch = center.epoch + [UInt8](".2")
        let image = try recorder.restart(
            limits: limits, epoch: epoch, isComplete: isComplete, time: time)
        let seed = HashSeed(dice.next(), 1)
        if let image {
            center = NotificationCenter(restoring: image, limits: limits, seed: seed, time: time)
            center.assignOwners { Owner(ofPrincipal: $0) }
        } else {
            center = NotificationCenter(
                name: center.name, epoch: epoch, limits: limits, seed: seed)
        }
        connections = connections.filter { center.client($0.key) != nil }.mapValues { _ in 0 }
        announcement = 0
        judge.restart(center)
        try submit(.configure(limits))
    }

    private func endTurn() throws(Violation) {
        now += Int64(dice.below(800)) * 1_000_000
        try submit(.passTime(workLimit: dice.oneIn(2) ? .max : 20))
        try submit(.endTurn(workLimit: dice.oneIn(2) ? .max : 20))
        if announcement > 0, dice.oneIn(2) {
            let number = announcement
            announcement = 0
            try submit(.showAnnounced(through: number))
        }
    }

    // MARK: Judging

    private var time: CommandTime {
        CommandTime(
            wallMilliseconds: 700_000_000_000 + now / 1_000_000, monotonicNanoseconds: now)
    }

    private var lastCommand: CommandID {
        CommandID(node: 0, incarnation: 1, counter: commandCount)
    }

    @discardableResult
    func submit(_ action: Command.Action) throws(Violation) -> Outcome {
        commandCount += 1
        let command = Command(id: lastCommand, time: time, action: action)
        told.append(action)
        if told.count > 100 { told.removeFirst(50) }
        let before = center.living(observers)
        try recorder.record(command)
        judge.begin(action, in: center)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        try recorder.compare(with: center, effects)
        announcement = max(announcement, effects.announcement)
        let living = before.union(center.living(effects.deliveries.map(\.observer)))
        for delivery in effects.deliveries { try judge(delivery, living) }
        try judge.end(effects, in: center, isStoring: announcement > 0, at: time)
        return effects.outcome
    }

    private func judge(_ delivery: Delivery, _ living: Set<UInt64>) throws(Violation) {
        let sequence = effects.notifications[Int(delivery.notification)].sequence
        guard living.contains(delivery.observer) else {
            throw Violation(
                "rule C11: \(sequence) is written to o\(delivery.observer), which is gone")
        }
        let row = effects.addressed(of: delivery.notification).flatMap { addressed -> UInt64? in
            if case .action(_, let row) = addressed.kind { row } else { nil }
        }
        deliveries.append((delivery.observer, sequence, row))
        if deliveries.count > 12 { deliveries.removeFirst() }
    }
}

extension NotificationCenter {
    /// Those of the observers with these numbers that are there.
    fileprivate func living(_ observers: [UInt64]) -> Set<UInt64> {
        Set(observers.filter { observer($0) != nil })
    }
}
