import BelfryCenter
import BelfryJSON
import TestSupport

/// Present values beside posts that are held and replayed, over lost frames and lives.
///
/// It has no model, and is judged from outside. A listener has all posts, and nothing else (rules
/// C1 and V13, law 3). A looker has the value as soon as its line is whole and nothing holds it
/// back, by a socket, a stream or a mailbox (rules V6, V8 and V10), is told nothing when only a
/// sister has changed (rule V10), and no present value while it is suspended (rule D4). A value
/// that has ended is not there (rule V16).
final class PresentWorld {
    var dice: Dice
    private(set) var center: NotificationCenter
    private(set) var effects = Effects()
    private var recorder: Recorder
    private var limits = CenterLimits().ofLog
    private(set) var now: Int64 = 1_000_000_000_000
    private(set) var commandCount: UInt64 = 0
    private(set) var lastNumber: UInt64 = 0
    private var told = PresentTold()
    var truth = PresentTruth()
    var clients: [UInt64: Client] = [:]
    var lookers: [UInt64: Looker] = [:]
    /// Ended streams: their places, their values, and their last numbers.
    private var past: [(places: [PresentTruth.Place], values: [Int?], position: UInt64)] = []

    init(seed: UInt64) {
        dice = Dice(seed: seed)
        limits.isDurable = true
        let epoch = [UInt8]("k\(seed)")
        let name = [UInt8]("default")
        center = NotificationCenter(
            name: name, epoch: epoch, limits: limits, seed: HashSeed(seed, dice.next()))
        recorder = Recorder(name: name, epoch: epoch, limits: limits)
    }

    var lastTold: ArraySlice<String> { told.last }

    func step() throws(Violation) {
        if commandCount == 0, dice.oneIn(3) { try suspendFirst() }
        switch dice.below(20) {
        case 0, 1: try connect()
        case 2, 3: try look()
        case 4...6: try post()
        case 7...10: try write()
        case 11: try suspend()
        case 12, 13: try cut()
        case 14, 15: try comeBack()
        case 16: try visit()
        case 17: try listen()
        case 18: if dice.oneIn(2) { try readMailbox() } else { try passTime() }
        default: if dice.oneIn(6) { try restart() } else { try readMailbox() }
        }
        try judge()
    }

    // MARK: Clients

    private func connectClient(
        _ registrations: [ObserverRegistration] = [], since: UInt64? = nil,
        transport: Transport = .webSocket, known: [Int?] = []
    ) throws(Violation) -> UInt64 {
        lastNumber += 1
        let id = lastNumber
        clients[id] = Client(
            transport: transport, connection: transport == .mailbox ? nil : id, seen: since ?? 0)
        for registration in registrations { note(registration, of: id, hasSeen: since) }
        for (registration, value) in zip(registrations, known) {
            lookers[registration.serial]?.value = value
            lookers[registration.serial]?.isKnown = true
        }
        try submit(
            .connect(
                ClientRegistration(
                    id: id, transport: transport,
                    connection: ConnectionName(node: 0, number: transport == .mailbox ? 0 : id),
                    sessionHash: SecretHash(high: id, low: 0), principal: [UInt8]("p")),
                observers: registrations, since: since))
        return id
    }

    private func note(
        _ registration: ObserverRegistration, of client: UInt64, hasSeen since: UInt64? = nil
    ) {
        guard let path = registration.role.value?.pathText, let object = registration.object
        else { return }
        lookers[registration.serial] = Looker(
            client: client, place: PresentTruth.Place(object: object, key: path),
            since: center.sequence, named: since)
    }

    private func registration(
        _ place: PresentTruth.Place?, ends: Bool = false, behavior: SuspensionBehavior = .hold
    ) throws(Violation) -> ObserverRegistration {
        lastNumber += 1
        var terms = ObserverTerms()
        terms.suspensionBehavior = behavior
        terms.endsWithConnection = ends
        var role = ObserverRole.plain
        if let place { role = .value(ValueTerms(path: try Self.path(place.key))) }
        return ObserverRegistration(
            serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1),
            name: place == nil ? PresentTruth.name : nil, object: place?.object,
            selector: [UInt8]("s"), terms: terms, role: role)
    }

    var somePlace: PresentTruth.Place { PresentTruth.places[dice.below(4)] }

    /// One or two places, often those that one change can change.
    private var somePlaces: [PresentTruth.Place] {
        let first = somePlace
        if dice.oneIn(2) { return PresentTruth.places.filter { $0.object == first.object } }
        return Set([first, somePlace]).sorted()
    }

    private func pick(_ isWanted: (Client) -> Bool) -> UInt64? {
        dice.pick(clients.keys.filter { clients[$0].map(isWanted) ?? false }.sorted())
    }

    private func connect() throws(Violation) {
        guard clients.values.count(where: { $0.transport != .events }) < 6 else { return }
        if dice.oneIn(3) {
            let registration = try registration(somePlace)
            _ = try connectClient([registration], transport: .mailbox)
        } else {
            let listener = try registration(nil)
            let client = try connectClient()
            try submit(.addObserver(listener, client: client, since: nil))
            clients[client]?.listener = listener.serial
        }
    }

    private func look() throws(Violation) {
        guard lookers.count < 16,
            let client = pick({ $0.connection != nil && $0.transport == .webSocket })
        else { return }
        let behavior: SuspensionBehavior = dice.oneIn(2) ? .coalesce : .hold
        let registration = try registration(somePlace, behavior: behavior)
        note(registration, of: client)
        // The answer comes; the line may end behind it. Deliveries that wait for a suspended client
        // are not behind its number.
        let isDeaf = clients[client]?.isDeaf ?? false
        if clients[client]?.isLive == true { clients[client]?.see(center.sequence) }
        clients[client]?.isDeaf = isDeaf || dice.oneIn(6)
        try submit(.addObserver(registration, client: client, since: nil))
    }

    /// A client that has asked for suspension looks while an ask waits for it, before all else.
    private func suspendFirst() throws(Violation) {
        let client = try connectClient()
        var terms = ObserverTerms()
        terms.suspensionBehavior = .hold
        lastNumber += 1
        let responder = ObserverRegistration(
            serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1), name: nil,
            object: [UInt8]("d"), selector: [], terms: terms,
            role: .responder(ResponderTerms(implements: [[UInt8]("m")], next: nil)))
        try submit(.addObserver(responder, client: client, since: nil))
        clients[client]?.isAsked = true
        try submit(.setSuspended(client: client, true))
        let ask = Ask(
            id: newID(),
            content: Notification.Content(name: [UInt8]("m"), object: [UInt8]("d")),
            lifetime: 60_000_000_000)
        try submit(.ask(ask, AskTerms()))
        let registration = try registration(somePlace, behavior: .coalesce)
        note(registration, of: client)
        try submit(.addObserver(registration, client: client, since: nil))
    }

    private func suspend() throws(Violation) {
        guard let id = pick({ $0.connection != nil && $0.transport == .webSocket }),
            let isAsked = clients[id]?.isAsked
        else { return }
        clients[id]?.isAsked = !isAsked
        try submit(.setSuspended(client: id, !isAsked))
    }

    private func cut() throws(Violation) {
        let id = pick { $0.isDeaf && $0.connection != nil } ?? pick { $0.connection != nil }
        if let id { try cut(id) }
    }

    private func cut(_ id: UInt64) throws(Violation) {
        guard let client = clients[id], let connection = client.connection else { return }
        clients[id]?.connection = nil
        let own = lookers.filter { $0.value.client == id }.sorted { $0.key < $1.key }
        try submit(
            .disconnect(
                client: id, connection: ConnectionName(node: 0, number: connection), end: .broken))
        guard client.transport == .events else { return }
        clients[id] = nil
        for looker in own { lookers[looker.key] = nil }
        guard !own.isEmpty, own.allSatisfy(\.value.isKnown) else { return }
        past.append((own.map(\.value.place), own.map(\.value.value), client.seen))
        if past.count > 6 { past.removeFirst() }
    }

    private func comeBack() throws(Violation) {
        guard let id = pick({ $0.connection == nil && $0.transport == .webSocket }) else { return }
        let newcomer = try connectClient()
        clients[newcomer] = nil
        clients[id]?.connection = newcomer
        clients[id]?.isDeaf = false
        let seen = clients[id]?.seen
        for serial in lookers.keys where lookers[serial]?.client == id {
            lookers[serial]?.named = seen
        }
        try submit(.resume(Resumption(newcomer: newcomer, client: id, after: seen)))
    }

    // MARK: Short visits

    /// A stream that looks at values begins, or comes back to what it has.
    private func visit() throws(Violation) {
        let earlier = past.isEmpty || dice.oneIn(3) ? nil : past.remove(at: dice.below(past.count))
        let places = earlier?.places ?? somePlaces
        var registrations: [ObserverRegistration] = []
        for place in places { registrations.append(try registration(place, ends: true)) }
        _ = try connectClient(
            registrations, since: earlier?.position, transport: .events,
            known: earlier?.values ?? [])
    }

    /// Asks for the posts since a number.
    private func listen() throws(Violation) {
        guard truth.posts.count < 500 else { return }
        let since = UInt64(dice.below(Int(center.sequence - truth.start) + 1)) + truth.start
        let client = try connectClient(
            [try registration(nil, ends: true)], since: since, transport: .events)
        let wanted = truth.posts.filter { $0 > since }.sorted()
        let got = effects.deliveries.filter { $0.connection.number == client }.map {
            effects.notifications[Int($0.notification)].sequence
        }
        guard got == wanted else {
            throw Violation("law 3: since \(since) there were \(wanted), and \(got) came")
        }
        clients[client] = nil
        try submit(
            .disconnect(
                client: client, connection: ConnectionName(node: 0, number: client), end: .closed))
    }

    private func readMailbox() throws(Violation) {
        let boxes = lookers.filter { clients[$0.value.client]?.transport == .mailbox }.keys.sorted()
        guard let serial = dice.pick(boxes), let looker = lookers[serial] else { return }
        let through = looker.next ?? (dice.oneIn(2) ? nil : looker.since)
        try submit(.readMailbox(observer: serial, through: through))
        guard let page = center.mailbox(of: serial, after: through ?? 0, limit: 1_000) else {
            throw Violation("the mailbox of o\(serial) is gone")
        }
        for element in page.elements { try take(element.notification, serial) }
        lookers[serial]?.next = page.next
        guard let now = lookers[serial], now.isKnown, now.value == truth.values[now.place] else {
            throw Violation("rule V6: a look into the mailbox of o\(serial) lacks the value")
        }
    }

    func newID() -> NotificationID {
        lastNumber += 1
        return NotificationID(high: UInt64(now), low: lastNumber)
    }

    // MARK: Time

    private func passTime() throws(Violation) {
        now += Int64(dice.below(2_000)) * 1_000_000
        truth.end(at: now, number: center.sequence + 4)
        try submit(.passTime(workLimit: .max))
    }

    /// The broker stops or dies when all is stored, and begins again later.
    private func restart() throws(Violation) {
        let isComplete = dice.oneIn(2)
        if isComplete {
            // A stop in order writes all frames (decision 62): a line that has lost some has ended
            // before.
            while let id = pick({ $0.isDeaf && $0.connection != nil }) { try cut(id) }
            try submit(.terminate)
        }
        recorder.endTurn()
        try recorder.commit()
        now += Int64(dice.below(3_000)) * 1_000_000
        let epoch = center.epoch + [UInt8](".2")
        let image = try recorder.restart(
            limits: limits, epoch: epoch, isComplete: isComplete, time: time)
        guard let image else { return try restartEmpty(epoch) }
        center = NotificationCenter(
            restoring: image, limits: limits, seed: HashSeed(dice.next(), 1), time: time)
        center.assignOwners { Owner(ofPrincipal: $0) }
        truth.beginLife(at: center.sequence, now)
        past = []
        for id in clients.keys {
            clients[id]?.connection = nil
            if center.client(id) == nil { clients[id] = nil }
            let held = clients[id]?.held ?? []
            clients[id]?.owed.formIntersection(held)
        }
        lookers = lookers.filter { clients[$0.value.client] != nil }
        for place in PresentTruth.places {
            let found = center.value(of: place.object, at: try Self.path(place.key))
            guard (found == nil) == (truth.values[place] == nil) else {
                throw Violation("rule V16: \(place) is not as it was stored, or has not ended")
            }
        }
        try submit(.configure(limits))
    }

    private func restartEmpty(_ epoch: [UInt8]) throws(Violation) {
        center = NotificationCenter(
            name: center.name, epoch: epoch, limits: limits, seed: HashSeed(dice.next(), 1))
        (clients, lookers, past, truth) = ([:], [:], [], PresentTruth())
    }

    // MARK: Commands

    private var time: CommandTime {
        CommandTime(
            wallMilliseconds: 700_000_000_000 + now / 1_000_000, monotonicNanoseconds: now)
    }

    func submit(_ action: Command.Action) throws(Violation) {
        commandCount += 1
        let command = Command(
            id: CommandID(node: 0, incarnation: 1, counter: commandCount), time: time,
            action: action)
        told.note(action)
        try recorder.record(command)
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        try recorder.compare(with: center, effects)
        var waiting: [UInt64] = []
        for notice in effects.notices {
            switch notice {
            case .flushGoesOn(let client, _), .flushFollows(let client, _): waiting.append(client)
            case .gap(_, _, let gap) where gap.lostCount == 0:
                throw Violation("law 3: a gap of nothing")
            case .gap(_, _, let gap):
                // A loss that is told is none in silence.
                for id in clients.keys.sorted() {
                    guard var client = clients[id], client.listener == gap.observer,
                        !client.isDeaf
                    else { continue }
                    let told = gap.firstSequence...gap.lastSequence
                    client.owed = client.owed.filter { !told.contains($0) }
                    clients[id] = client
                }
            default: break
            }
        }
        for delivery in effects.deliveries {
            let notification = effects.notifications[Int(delivery.notification)]
            let isLost = loses(delivery, notification)
            told.note(delivery, notification, isLost: isLost)
            if !isLost { try take(delivery, notification) }
        }
        let last = effects
        for client in waiting { try submit(.drain(client: client)) }
        if case .connect = action { effects = last }
    }
}
