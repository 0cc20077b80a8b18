import BelfryCenter
import BelfryHistory
import TestSupport

// One step: what it is comes from the dice, and what it needs from what is there.

extension World {
    /// Does one step, and checks what it brings about.
    func step() throws(Violation) {
        stepCount += 1
        let kind = StepKind.allCases[dice.weighted(profile.weights, sum: profile.weightSum)]
        try perform(kind)
        if stepCount % 64 == 0 { try checkAll() }
        if stepCount % 16 == 0 { try watchPipes() }
    }

    private func perform(_ kind: StepKind) throws(Violation) {
        switch kind {
        case .connect: if ends.count < profile.clientLimit { try connect(.webSocket) }
        case .connectEvents: if ends.count < profile.clientLimit { try connect(.events) }
        case .cut: if let place = pickEnd(connected: true) { try cut(place) }
        case .comeBack: if let place = pickEnd(connected: false) { try comeBack(place) }
        case .takeOver: if let place = pickEnd(connected: true) { try comeBack(place) }
        case .addObserver: try addObserver()
        case .addMailbox: if ends.count < profile.clientLimit { try connect(.mailbox) }
        case .removeObserver: try submit(.removeObserver(serial: someObserver(), by: someRemover()))
        case .removeObservers: try removeObservers()
        case .removeClient: try submit(.removeClient(client: someClient(), by: someRemover()))
        case .suspend: try submit(suspension(true))
        case .resume: try submit(suspension(false))
        case .postPlain, .postNow, .postAsap, .postIdle, .postBatch, .postAgain: try post(kind)
        case .read: try read(dice.number(in: 1...profile.readLimit))
        case .readAll: for place in ends.indices { try read(.max, at: place) }
        case .acknowledge, .acknowledgeOld, .refuse: try acknowledge(kind)
        case .readMailbox, .poll, .stream, .detach: try mailbox(kind)
        case .dequeue, .dequeueEntry, .enterMode, .leaveMode: try queue(kind)
        case .advance: try advance(Int64(dice.below(50_000_000)))
        case .advanceFar: try advance(Int64(dice.below(Int(profile.longest * 2))))
        case .endTurn: try endTurn()
        case .idle: try idle()
        case .commit: try commit(dice.number(in: 1...4))
        case .crash: try crash()
        case .restart: try restart()
        case .trim:
            let kind = KeptKind.allCases[dice.below(KeptKind.allCases.count)]
            try submit(trim(kind))
        case .configure:
            profile.changeLimits(&dice)
            try submit(.configure(profile.limits))
        }
    }

    /// A client asks for suspension, or for its end, perhaps on another client's connection.
    private func suspension(_ isSuspended: Bool) -> Command.Action {
        guard dice.oneIn(2), let number = dice.pick(pipes.keys.sorted()), let pipe = pipes[number]
        else { return .setSuspended(client: someClient(), isSuspended) }
        let client = dice.oneIn(4) ? someClient() : pipe.client
        return Self.onConnection(
            number, of: client, .setSuspended(client: client, isSuspended))
    }

    /// Forgets some of a kind; owners take turns, as observers and queues cannot be forgotten.
    private func trim(_ kind: KeptKind) -> Command.Action {
        switch kind {
        case .held: .trimHeld(byteCount: dice.below(200))
        case .observers: .trimOwned(.held, someOwner())
        case .queue: .trimOwned(.keys, someOwner())
        case .channels, .replay, .keys, .fates, .tombstones, .archives:
            .trim(kind, count: dice.below(8))
        }
    }

    private func someOwner() -> Owner { Owner(ofPrincipal: [UInt8](dice.oneIn(2) ? "p" : "q")) }

    // MARK: Time

    /// Lets time pass; the timers of the loop fire on the way, or all at its end.
    func advance(_ duration: Int64) throws(Violation) {
        let end = now + duration
        let isLate = dice.oneIn(20)
        while !isLate, let next = center.nextDeadline, next <= end {
            setTime(max(next, now))
            // A turn may end before all that is due has happened; other things may come between.
            if dice.oneIn(4) {
                try submit(.passTime(workLimit: dice.number(in: 0...60)))
                return
            }
            try submit(.passTime(workLimit: .max))
            // Due work is done at once, and not due again.
            if let again = center.nextDeadline, again <= now {
                throw Violation("after passTime at \(now) it is due again at \(again)")
            }
        }
        setTime(end)
        try submit(.passTime(workLimit: dice.oneIn(4) ? dice.number(in: 0...60) : .max))
    }

    private func setTime(_ time: Int64) {
        wall += (time - now) / 1_000_000
        now = time
    }

    private func idle() throws(Violation) {
        try endTurn()
        if center.needsIdle { try submit(.idle) }
        handOver()
    }

    // MARK: Picking

    func pickEnd(connected: Bool) -> Int? {
        let places = ends.indices.filter {
            ends[$0].transport != .mailbox && (ends[$0].connection != nil) == connected
        }
        return dice.pick(places)
    }

    func someClient() -> UInt64 {
        if dice.oneIn(20) { return UInt64(dice.number(in: 1...Int(lastClient) + 2)) }
        return dice.pick(ends)?.client ?? 1
    }

    func someObserver() -> UInt64 {
        if dice.oneIn(6) { return UInt64(dice.number(in: 1...Int(lastObserver) + 2)) }
        return dice.pick(serials) ?? 1
    }

    func someRemover() -> Remover {
        switch dice.below(4) {
        case 0, 1: .client(someClient())
        case 2: .principal([UInt8]("p"))
        default: .broker
        }
    }

    func has(_ option: Profile.Option) -> Bool {
        guard let rarity = profile.rarity[option], rarity > 0 else { return false }
        return dice.oneIn(rarity)
    }

    /// A duration up to the profile's longest, mostly a short one; never the same twice.
    func someDuration() -> Int64 {
        let longest = dice.oneIn(3) ? profile.longest : 1_000_000_000
        return Int64(dice.number(in: 1...Int(longest)))
    }

    func hash() -> SecretHash { SecretHash(high: dice.next(), low: dice.next()) }

    // MARK: Clients

    private func connect(_ transport: Transport) throws(Violation) {
        var end = RemoteEnd(transport: transport, client: 0, connection: nil)
        end.client = try open(transport)
        if transport != .mailbox { end.connection = lastConnection }
        if case .refused = lastOutcome { return }
        if transport == .mailbox { end.mailbox = lastObserver }
        ends.append(end)
    }

    /// A connection opens, and with it a client; tells its number.
    private func open(_ transport: Transport) throws(Violation) -> UInt64 {
        lastConnection += 1
        lastClient += 1
        let sessionHash = hash()
        let principal = [UInt8](dice.oneIn(2) ? "p" : "q")
        let registration = ClientRegistration(
            id: lastClient, transport: transport,
            connection: ConnectionName(node: 0, number: lastConnection),
            sessionHash: sessionHash, principal: principal, owner: Owner(ofPrincipal: principal))
        var observers: [ObserverRegistration] = []
        switch transport {
        case .webSocket: break
        case .events: for _ in 0..<dice.number(in: 1...2) { observers.append(observer(transport)) }
        case .mailbox: observers.append(observer(transport))
        }
        if transport != .mailbox {
            pipes[lastConnection] = Pipe(transport: transport, client: lastClient)
        }
        let since = has(.since) ? UInt64(dice.below(Int(center.sequence) + 2)) : nil
        lastOutcome = try submit(
            .connect(registration, observers: observers, since: observers.isEmpty ? nil : since))
        if case .refused = lastOutcome { pipes[lastConnection] = nil }
        return lastClient
    }

    private func cut(_ place: Int) throws(Violation) {
        guard let number = ends[place].connection else { return }
        // Written frames may still arrive, or not.
        if dice.oneIn(2) { try read(dice.below(profile.readLimit + 1), at: place) }
        ends[place].connection = nil
        ends[place].answered += ends[place].owed
        ends[place].owed = []
        pipes[number] = nil
        let name = ConnectionName(node: 0, number: number)
        try submit(.disconnect(client: ends[place].client, connection: name))
        if dice.oneIn(10) { try submit(.disconnect(client: ends[place].client, connection: name)) }
        if ends[place].transport == .events { ends.remove(at: place) }
    }

    /// A client comes back on a new connection: while it has an old one, it takes over.
    func comeBack(_ place: Int) throws(Violation) {
        guard ends[place].transport == .webSocket else { return }
        let client = ends[place].client
        let newcomer = try open(.webSocket)
        let connection = lastConnection
        if dice.oneIn(12) {
            try submit(.addObserver(observer(.webSocket), client: newcomer, since: nil))
        }
        let after: UInt64? =
            dice.oneIn(2)
            ? nil
            : dice.oneIn(2)
                ? ends[place].lastSequence : UInt64(dice.below(Int(center.sequence) + 2))
        let old = ends[place].connection
        pipes[connection]?.client = client
        let outcome = try submit(
            .resume(Resumption(newcomer: newcomer, client: client, after: after)))
        guard case .refused(let refusal) = outcome else {
            if let old { pipes[old] = nil }
            ends[place].connection = connection
            ends[place].answered += ends[place].owed
            ends[place].owed = []
            return
        }
        // The newcomer stays what it is, or takes the place of what is gone.
        pipes[connection]?.client = newcomer
        if refusal == .unknownClient {
            ends[place] = RemoteEnd(
                transport: .webSocket, client: newcomer, connection: connection)
        } else {
            pipes[connection] = nil
            try submit(
                .disconnect(
                    client: newcomer, connection: ConnectionName(node: 0, number: connection)))
        }
    }

    func read(_ count: Int) throws(Violation) {
        let places = ends.indices.filter { ends[$0].connection != nil }
        if let place = dice.pick(places) { try read(count, at: place) }
    }

    // MARK: Observers

    private func observer(_ transport: Transport) -> ObserverRegistration {
        lastObserver += 1
        var terms = ObserverTerms()
        terms.suspensionBehavior = dice.pick(profile.behaviors) ?? .hold
        let holds =
            terms.suspensionBehavior == .hold || terms.suspensionBehavior == .deliverImmediately
        terms.acknowledges = transport == .webSocket && holds && has(.acknowledges)
        terms.endsWithConnection =
            transport == .events || transport == .webSocket && has(.endsWithConnection)
        terms.holdLimit = dice.oneIn(2) ? dice.number(in: 1...5) : 1_000
        if transport == .webSocket, has(.minInterval) { terms.minInterval = someDuration() }
        terms.lease = has(.forever) ? nil : someDuration() * 4
        var name = has(.wildcard) ? nil : dice.pick(profile.names)
        if has(.reports) { name = dice.pick(Model.reportNames) }
        var object = has(.anyObject) ? nil : dice.pick(profile.objects).flatMap { $0 }
        let filter = profile.filters.filter(&name, &object, &dice)
        return ObserverRegistration(
            serial: lastObserver, tokenHash: hash(), name: name, object: object,
            selector: dice.pick(profile.selectors) ?? [UInt8]("notify"), terms: terms,
            role: filter.map { .filtered(FilterTerms($0), target: nil) } ?? .plain)
    }

    private func addObserver() throws(Violation) {
        guard center.observerCount < profile.observerLimit else { return }
        let client =
            dice.oneIn(30) ? someClient() : pickEnd(connected: true).map { ends[$0].client }
        guard let client else { return }
        let transport = center.client(client)?.transport ?? .webSocket
        let since = has(.since) ? UInt64(dice.below(Int(center.sequence) + 2)) : nil
        try submit(.addObserver(observer(transport), client: client, since: since))
    }

    private func removeObservers() throws(Violation) {
        let name = dice.oneIn(2) ? nil : dice.pick(profile.names)
        let object = dice.oneIn(2) ? nil : dice.pick(profile.objects).flatMap { $0 }
        var filter = ObserverFilter(name: name, object: object)
        var client: UInt64?
        if profile.filters.isUsed {
            // Mostly one that is there: few clients have what is drawn.
            let row = dice.oneIn(4) ? nil : dice.pick(filteredRows)
            client = row?.client
            let known = HistoryFilter(row?.role.filter)
            if let terms = profile.filters.removal(&dice, like: known) {
                if !dice.oneIn(4) { (filter.name, filter.object) = (nil, nil) }
                filter.terms = FilterTerms(terms)
            }
        }
        try submit(.removeObservers(client: client ?? someClient(), filter))
    }

    /// The observers with a finer filter.
    private var filteredRows: [ObserverRow] {
        center.observers(matching: ObserverQuery(after: 0, limit: 1_000)) { _, _ in true }.rows
            .filter { $0.role.filter != nil }
    }

    // MARK: Acknowledgements

    private func acknowledge(_ kind: StepKind) throws(Violation) {
        let isOld = kind == .acknowledgeOld
        let places = ends.indices.filter {
            isOld ? !ends[$0].answered.isEmpty : !ends[$0].owed.isEmpty
        }
        guard let place = dice.pick(places) else { return }
        let pick: (observer: UInt64, sequence: UInt64)
        if isOld {
            guard let old = dice.pick(ends[place].answered) else { return }
            pick = old
        } else {
            pick = ends[place].owed.remove(at: dice.below(min(ends[place].owed.count, 3)))
            ends[place].answered.append(pick)
            if ends[place].answered.count > 8 { ends[place].answered.removeFirst() }
        }
        answersWhatIsOwed =
            !isOld && !ends[place].answered.dropLast().contains { $0 == pick }
        let result: Response =
            switch dice.below(8) {
            case 0: .result(Array("{\"by\":\(pick.observer)}".utf8))
            case 1: .result(Array("[1]".utf8), canKeep: false)
            case 2: .oversized(error: [])
            default: .result([])
            }
        let error = kind == .refuse ? [UInt8](#"{"code":-1,"message":"no"}"#) : nil
        try submit(
            .acknowledge(
                client: ends[place].client,
                DeliveryName(observer: pick.observer, sequence: pick.sequence),
                error.map { .refusal($0) } ?? result))
    }

    // MARK: Queue

    private func queue(_ kind: StepKind) throws(Violation) {
        switch kind {
        case .dequeue:
            let masks: [Coalescing] = [.onName, .onSender, [.onName, .onSender]]
            try submit(
                .dequeue(
                    QueueMatch(
                        name: dice.pick(profile.names),
                        object: dice.pick(profile.objects).flatMap { $0 },
                        mask: dice.pick(masks) ?? .onName, scope: scope())))
        case .dequeueEntry:
            let id =
                dice.oneIn(3) ? dice.pick(recentIDs) : dice.pick(queuedIDs)
            guard let id else { return }
            try submit(.dequeueEntry(id, scope: scope()))
        case .enterMode:
            lastMode += 1
            let client = dice.oneIn(2) ? nil : someClient()
            let names = profile.modes.filter { $0 != Mode.common }
            try submit(
                .enterMode(
                    ModeEntry(
                        serial: lastMode, tokenHash: hash(),
                        mode: dice.pick(names) ?? Mode.default, client: client,
                        lease: client == nil ? someDuration() : nil)))
        default:
            guard lastMode > 0 else { return }
            let serial =
                dice.oneIn(4)
                ? UInt64(dice.number(in: 1...Int(lastMode))) : dice.pick(center.modes.stack)?.serial
            if let serial { try submit(.leaveMode(serial: serial)) }
        }
    }

    func scope() -> PostScope {
        guard has(.scope) else { return .everything }
        let names: [PostScope.Text] =
            dice.oneIn(2) ? [.prefix([UInt8]("a"))] : [.exact(dice.pick(profile.names) ?? [])]
        let objects: [PostScope.Text] = dice.oneIn(2) ? [] : [.prefix([UInt8]("o"))]
        return .some([PostScope.Pattern(names: names, objects: objects)])
    }
}
