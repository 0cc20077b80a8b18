@testable import BelfryCenter

/// A log with brokers and clients, and the frames of each observer over its whole life.
///
/// A broker writes the effects of the entries that it has applied; on a connection that has ended
/// after it had applied one entry, it writes nothing of later ones.
struct LogAudience {
    /// A frame that an observer was written.
    enum Frame: Equatable {
        case number(UInt64)
        /// It may have been written before.
        case again(UInt64)
        case gap(Gap.Reason, UInt64, UInt64)

        var number: UInt64? {
            switch self {
            case .number(let number), .again(let number): number
            case .gap: nil
            }
        }
    }

    private(set) var log: LogScenario
    /// The frames of each observer, by its number.
    private(set) var frames: [UInt64: [Frame]] = [:]
    /// The last entry of which a connection that has ended was written what it brought about.
    private var ends: [ConnectionName: UInt64] = [:]
    /// The contents of the frames of changes.
    private(set) var changes: [UInt64: [String]] = [:]
    private(set) var lastClient: UInt64 = 0
    private(set) var lastObserver: UInt64 = 0
    private var lastPost: UInt64 = 0
    /// How the steps of the last entry have ended.
    private(set) var outcomes: [Outcome] = []

    static let center = bytes("a")

    init(limits: CenterLimits = CenterLimits(), nodeCount: Int = 2) throws {
        log = LogScenario(limits: limits)
        try write(1, .nodeUp(level: 1), .makeCenter(Self.center, epoch: bytes("e1")))
        for node in 1..<nodeCount { try write(node + 1, .nodeUp(level: 1)) }
    }

    var center: NotificationCenter { log.shard.centers[0] }
    /// The index of the last entry.
    var index: UInt64 { log.shard.logIndex }
    var sequence: UInt64 { center.sequence }

    mutating func restore() throws { try log.restore() }

    // MARK: Entries

    mutating func write(
        _ node: Int, elapsed: UInt64 = 0, applied: UInt64? = nil,
        _ actions: ShardCommand.Action...
    ) throws {
        try write(node, elapsed: elapsed, applied: applied, actions)
    }

    mutating func write(
        _ node: Int, elapsed: UInt64 = 0, applied: UInt64? = nil, _ actions: [ShardCommand.Action]
    ) throws {
        let entry = log.entry(of: "n\(node)", elapsed: elapsed, applied: applied, actions)
        let index = self.index + 1
        var steps: [Effects] = []
        _ = try log.apply(Entry(code: entry.code)) { _, effects in steps.append(effects) }
        outcomes = steps.map(\.outcome)
        for effects in steps { read(effects, of: index) }
    }

    /// A command for the center.
    mutating func tell(_ node: Int, applied: UInt64? = nil, _ actions: Command.Action...) throws {
        try write(node, applied: applied, actions.map { .tell(center: Self.center, $0) })
    }

    /// Another process begins under the name of a broker.
    mutating func restart(_ node: Int, life: UInt64) throws {
        log.restart("n\(node)", life: life)
        try write(node, .nodeUp(level: 1))
    }

    private mutating func read(_ effects: Effects, of index: UInt64) {
        for case .gap(let connection, _, let gap) in effects.notices
        where index <= ends[connection] ?? .max {
            frames[gap.observer, default: []].append(
                .gap(gap.reason, gap.firstSequence, gap.lastSequence))
        }
        for delivery in effects.deliveries where index <= ends[delivery.connection] ?? .max {
            let notification = effects.notifications[Int(delivery.notification)]
            frames[delivery.observer, default: []].append(
                delivery.isRedelivered
                    ? .again(notification.sequence) : .number(notification.sequence))
            if delivery.form == .change {
                changes[delivery.observer, default: []].append(
                    String(decoding: notification.content.userInfoBytes ?? [], as: UTF8.self))
            }
        }
    }

    // MARK: Clients

    /// The connection that a client had first.
    static func connection(_ client: UInt64, _ seat: UInt32) -> ConnectionName {
        ConnectionName(node: seat, number: client + 100)
    }

    /// Connects a client, and tells its number.
    @discardableResult
    mutating func connect(
        _ node: Int, seat: UInt32? = nil, _ registrations: [ObserverRegistration] = []
    ) throws -> UInt64 {
        lastClient += 1
        lastObserver += UInt64(registrations.count)
        try tell(
            node,
            .connect(
                ClientRegistration(
                    transport: .webSocket,
                    connection: Self.connection(lastClient, seat ?? UInt32(node)),
                    sessionHash: SecretHash(high: lastClient, low: 0), principal: bytes("p")),
                observers: registrations, since: nil))
        return lastClient
    }

    /// An observer that outlives its connection.
    static func observer(
        _ name: String = "n", _ behavior: SuspensionBehavior = .hold,
        _ change: (inout ObserverTerms) -> Void = { _ in }
    ) -> ObserverRegistration {
        var terms = ObserverTerms()
        terms.suspensionBehavior = behavior
        change(&terms)
        return ObserverRegistration(
            tokenHash: SecretHash(high: 1, low: 1), name: bytes(name), object: nil,
            selector: bytes("s"), terms: terms)
    }

    /// Ends the connection of a client after an entry of its broker; the log hears of it now.
    mutating func disconnect(
        _ node: Int, _ client: UInt64, _ connection: ConnectionName? = nil, applied: UInt64
    ) throws {
        let connection = connection ?? Self.connection(client, UInt32(node))
        end(connection, applied: applied)
        try tell(
            node, .disconnect(client: client, connection: connection, appliedIndex: applied))
    }

    /// A connection was written nothing behind an entry, which the log does not hear.
    mutating func end(_ connection: ConnectionName, applied: UInt64) {
        ends[connection] = applied
    }

    /// Another connection takes a client over, and is told by its name.
    @discardableResult
    mutating func resume(
        _ node: Int, seat: UInt32? = nil, _ client: UInt64, after: UInt64? = nil,
        applied: UInt64? = nil
    ) throws -> ConnectionName {
        let newcomer = try connect(node, seat: seat)
        try tell(
            node,
            .resume(
                Resumption(
                    newcomer: newcomer, client: client, after: after,
                    appliedIndex: applied ?? index)))
        return Self.connection(newcomer, seat ?? UInt32(node))
    }

    @discardableResult
    mutating func post(_ node: Int = 1, _ name: String = "n", count: Int = 1) throws -> UInt64 {
        for _ in 0..<count {
            lastPost += 1
            let content = Notification.Content(name: bytes(name), object: nil, userInfo: nil)
            try tell(
                node,
                .post(
                    Post(id: NotificationID(high: 0x7000, low: lastPost), content: content),
                    PostTerms()))
        }
        return sequence
    }
}
