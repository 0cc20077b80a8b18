import BelfryJSON

@testable import BelfryCenter

/// A connection of the machine that all clients of a ``Scenario`` are at.
func connection(_ number: UInt64) -> ConnectionName { ConnectionName(node: 1, number: number) }

/// A center with the next numbers for its commands, so that a test says only what matters to it.
struct Scenario {
    var center: NotificationCenter
    /// The effects of the last command.
    var effects = Effects()
    /// Both clocks of the next command; a test moves it by hand.
    var milliseconds: Int64 = 1_000
    private(set) var lastSerial: UInt64 = 0
    private(set) var lastClient: UInt64 = 0
    private(set) var lastPost: UInt64 = 0

    init(limits: CenterLimits = CenterLimits(), seed: HashSeed = HashSeed(1, 2)) {
        center = NotificationCenter(
            name: bytes("default"), epoch: bytes("k1"), limits: limits, seed: seed)
    }

    var time: CommandTime {
        CommandTime(
            wallMilliseconds: milliseconds, monotonicNanoseconds: milliseconds * 1_000_000)
    }

    @discardableResult
    mutating func apply(_ action: Command.Action) -> Outcome {
        let index = center.appliedIndex + 1
        let id = CommandID(node: 1, incarnation: 1, counter: index)
        center.apply(Command(id: id, time: time, action: action), at: index, into: &effects)
        return effects.outcome
    }

    /// Connects a client whose connection has its number plus 100, and tells its number.
    mutating func connect(
        _ observers: [ObserverRegistration] = [], since: UInt64? = nil,
        transport: Transport = .webSocket, owner: Owner = .none
    ) -> UInt64 {
        lastClient += 1
        let registration = ClientRegistration(
            id: lastClient, transport: transport,
            connection: ConnectionName(node: 1, number: lastClient + 100),
            sessionHash: SecretHash(high: lastClient, low: 7), principal: bytes("anonymous"),
            owner: owner)
        apply(.connect(registration, observers: observers, since: since))
        return lastClient
    }

    /// Connects a client with this number, which is its connection's too.
    mutating func connectAnew(number: UInt64) -> UInt64 {
        let registration = ClientRegistration(
            id: number, transport: .webSocket, connection: ConnectionName(node: 1, number: number),
            sessionHash: SecretHash(high: number, low: 7), principal: bytes("anonymous"))
        apply(.connect(registration, observers: [], since: nil))
        return number
    }

    /// Ends the connection of a client that was not resumed.
    @discardableResult
    mutating func disconnect(_ client: UInt64) -> Outcome {
        apply(
            .disconnect(
                client: client, connection: ConnectionName(node: 1, number: client + 100)))
    }

    /// A registration with the next serial number; its observer dies with its connection.
    mutating func registration(
        _ name: String?, _ object: String? = nil, selector: String = "notify"
    ) -> ObserverRegistration {
        var terms = ObserverTerms()
        terms.endsWithConnection = true
        return registration(name, object, terms, selector: selector)
    }

    /// A registration with the next serial number.
    mutating func registration(
        _ name: String?, _ object: String? = nil, _ terms: ObserverTerms,
        selector: String = "notify"
    ) -> ObserverRegistration {
        lastSerial += 1
        return ObserverRegistration(
            serial: lastSerial, tokenHash: SecretHash(high: lastSerial, low: 9),
            name: name.map { bytes($0) }, object: object.map { bytes($0) },
            selector: bytes(selector), terms: terms)
    }

    /// Registers an observer, and tells its serial number.
    @discardableResult
    mutating func observe(
        _ name: String?, _ object: String? = nil, by client: UInt64, selector: String = "notify",
        since: UInt64? = nil
    ) -> UInt64 {
        let registration = registration(name, object, selector: selector)
        apply(.addObserver(registration, client: client, since: since))
        return registration.serial
    }

    /// A registration with these terms alone.
    mutating func registration(
        _ terms: FilterTerms, _ observerTerms: ObserverTerms? = nil
    ) -> ObserverRegistration {
        let plain = registration(nil)
        return ObserverRegistration(
            serial: plain.serial, tokenHash: plain.tokenHash, name: nil, object: nil,
            selector: plain.selector, terms: observerTerms ?? ObserverTerms(),
            role: .filtered(terms, target: nil))
    }

    /// Registers an observer with these terms alone, and returns its serial number.
    @discardableResult
    mutating func observe(
        _ terms: FilterTerms, by client: UInt64, _ observerTerms: ObserverTerms? = nil,
        since: UInt64? = nil
    ) -> UInt64 {
        let registration = registration(terms, observerTerms)
        apply(.addObserver(registration, client: client, since: since))
        return registration.serial
    }

    /// Registers an observer of any name with a condition.
    mutating func observe(where condition: String, by client: UInt64) {
        var terms = FilterTerms()
        terms.condition = try? JSONCondition(bytes(condition).span)
        let plain = registration(nil)
        apply(
            .addObserver(
                ObserverRegistration(
                    serial: plain.serial, tokenHash: plain.tokenHash, name: nil, object: nil,
                    selector: plain.selector, terms: plain.terms,
                    role: .filtered(terms, target: nil)),
                client: client, since: nil))
    }

    /// Makes a post with the next identifier.
    mutating func newPost(
        _ name: String, _ object: String? = nil, userInfo: String? = nil,
        causedBy: NotificationID? = nil
    ) -> Post {
        lastPost += 1
        return Post(
            id: NotificationID(high: 0xb, low: lastPost),
            content: Notification.Content(
                name: bytes(name), object: object.map { bytes($0) },
                userInfo: userInfo.map { bytes($0) }), causedBy: causedBy)
    }

    /// Posts, and tells the serial numbers of the observers that get it in their order.
    @discardableResult
    mutating func post(
        _ name: String, _ object: String? = nil, userInfo: String? = nil,
        causedBy: NotificationID? = nil
    ) -> [UInt64] {
        let post = newPost(name, object, userInfo: userInfo, causedBy: causedBy)
        apply(.post(post, PostTerms()))
        return effects.deliveries.map(\.observer)
    }

    @discardableResult
    mutating func remove(_ serial: UInt64, by remover: Remover) -> Outcome {
        apply(.removeObserver(serial: serial, by: remover))
    }

    @discardableResult
    mutating func remove(
        name: String? = nil, object: String? = nil, target: String? = nil,
        selector: String? = nil, of client: UInt64
    ) -> Outcome {
        apply(
            .removeObservers(
                client: client,
                ObserverFilter(
                    name: name.map { bytes($0) }, object: object.map { bytes($0) },
                    target: target.map { bytes($0) }, selector: selector.map { bytes($0) })))
    }

    /// All observers, as one listing shows them.
    var rows: [ObserverRow] {
        var query = ObserverQuery()
        query.limit = 1_000
        return center.observers(matching: query, visible: { _, _ in true }).rows
    }

    /// The memory that the center keeps now.
    mutating func keptMemory() -> KeptMemory {
        var growth = KeptMemory()
        _ = center.noteKept(ifChangedBy: 0, addingTo: &growth)
        return center.keptMemory
    }

    func explain(_ name: String, _ object: String? = nil) -> Explanation {
        center.explain(name: bytes(name), object: object.map { bytes($0) }) { _, _ in true }
    }
}

extension Receipt {
    /// The account of a post with some of its numbers.
    init(
        id: NotificationID, sequence: UInt64, matched: UInt32, delivered: UInt32 = 0,
        held: UInt32 = 0, coalesced: UInt32 = 0, dropped: UInt32 = 0, acknowledged: UInt32 = 0,
        refused: UInt32 = 0, pending: UInt32 = 0
    ) {
        self.init(id: id, sequence: sequence)
        self.matched = matched
        self.delivered = delivered
        self.held = held
        self.coalesced = coalesced
        self.dropped = dropped
        self.acknowledged = acknowledged
        self.refused = refused
        self.pending = pending
    }

    /// Law 3: each observer that matched is counted once.
    var addsUp: Bool { matched == delivered + held + coalesced + dropped }
}
