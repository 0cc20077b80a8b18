@testable import BelfryCenter

/// Makes the same endless list of commands from the same seed, in every process.
///
/// A source of `everything` makes all kinds of commands; one that is `plain` makes those that a
/// center without suspension, queue and acknowledgement has.
struct CommandSource {
    private var generator: SeededGenerator
    private let isPlain: Bool
    private var lastSerial: UInt64 = 0
    private var lastClient: UInt64 = 0
    private var lastConnection: UInt64 = 0
    private var lastMode: UInt64 = 0
    private var lastIndex: UInt64 = 0
    private var clients: [(id: UInt64, connection: UInt64)] = []
    private var readers: [(observer: UInt64, connection: UInt64)] = []
    private var mailboxes: [UInt64] = []
    private var recentPosts: [NotificationID] = []
    private var milliseconds: Int64 = 1_000_000

    init(seed: UInt64, isPlain: Bool = false) {
        generator = SeededGenerator(seed: seed)
        self.isPlain = isPlain
    }

    mutating func next() -> Command {
        lastIndex += 1
        milliseconds += Int64(generator.below(40))
        return Command(
            id: CommandID(node: 1, incarnation: 1, counter: lastIndex),
            time: CommandTime(
                wallMilliseconds: milliseconds, monotonicNanoseconds: milliseconds * 1_000_000),
            action: isPlain || generator.below(5) < 2 ? plainAction() : richAction())
    }

    private mutating func plainAction() -> Command.Action {
        switch generator.below(100) {
        case 0..<6: return connect()
        case 6..<8:
            guard let client = takeClient() else { return connect() }
            return .disconnect(client: client.id, connection: name(client.connection))
        case 8..<9:
            guard let client = takeClient() else { return connect() }
            return .removeClient(client: client.id, by: remover())
        case 9..<40: return .addObserver(registration(), client: client(), since: since())
        case 40..<55: return .removeObserver(serial: serial(), by: remover())
        case 55..<59:
            return .removeObservers(
                client: client(), ObserverFilter(name: name(), object: object()))
        case 59..<64:
            return .postBatch((0..<(1 + generator.below(5))).map { _ in post() }, terms())
        default: return .post(post(), terms())
        }
    }

    private mutating func richAction() -> Command.Action {
        switch generator.below(100) {
        case 0..<5: return .setSuspended(client: client(), generator.below(2) == 0)
        case 5..<8: return .becomeSlow(client: client())
        case 8..<15: return .drain(client: client())
        case 15..<19:
            // The connection ends, and the client may come back.
            guard !clients.isEmpty else { return connect() }
            let client = clients[generator.below(clients.count)]
            return .disconnect(client: client.id, connection: name(client.connection))
        case 19..<23: return resume()
        case 23..<37:
            return .acknowledge(
                client: client(),
                DeliveryName(
                    observer: serial(), sequence: UInt64(generator.below(Int(lastIndex) + 1))),
                generator.below(4) == 0 ? .refusal(bytes("{}")) : .result([]))
        case 37..<41: return readMailbox()
        case 41..<44: return wait()
        case 44..<46:
            guard !readers.isEmpty else { return .endTurn(workLimit: .max) }
            let reader = readers.remove(at: generator.below(readers.count))
            return .detachReader(observer: reader.observer, name(reader.connection))
        case 46..<50: return dequeue()
        case 50..<53: return enterMode()
        case 53..<55: return .leaveMode(serial: UInt64(generator.below(Int(lastMode) + 2)))
        case 55..<68:
            return .endTurn(workLimit: generator.below(3) == 0 ? generator.below(40) : .max)
        case 68..<74: return .idle
        case 74..<84:
            return .passTime(workLimit: generator.below(3) == 0 ? generator.below(40) : .max)
        case 84..<85:
            let kind = KeptKind.allCases[generator.below(KeptKind.allCases.count)]
            switch kind {
            case .held: return .trimHeld(byteCount: generator.below(4_000))
            case .observers: return .trimOwned(.held, owner())
            case .queue: return .trimOwned(.keys, owner())
            default: return .trim(kind, count: generator.below(40))
            }
        case 85..<86: return .terminate
        default:
            if generator.below(3) == 0 {
                return .postBatch((0..<(1 + generator.below(4))).map { _ in post() }, terms())
            }
            return .post(post(), terms())
        }
    }

    // MARK: Owners

    /// The owner of a principal's objects.
    static func owner(of principal: [UInt8]) -> Owner {
        Owner(number: principal.last.map { UInt32($0) } ?? 0)
    }

    /// All owners.
    static let owners = ["p0", "p1", "p2", "p"].map { owner(of: bytes($0)) }

    private mutating func owner() -> Owner { Self.owners[generator.below(Self.owners.count)] }

    // MARK: Clients

    private mutating func connect() -> Command.Action {
        lastClient += 1
        lastConnection += 10
        clients.append((lastClient, lastConnection))
        var transport = generator.below(2) == 0 ? Transport.webSocket : .events
        if !isPlain {
            transport = generator.below(4) == 0 ? .mailbox : .webSocket
        }
        let sessionHash = SecretHash(high: generator.next(), low: generator.next())
        let principal = bytes("p\(generator.below(3))")
        let registration = ClientRegistration(
            id: lastClient, transport: transport, connection: name(lastConnection),
            sessionHash: sessionHash, principal: principal, owner: Self.owner(of: principal))
        let observers = (0..<generator.below(4)).map { _ in self.registration() }
        if transport == .mailbox { mailboxes += observers.map(\.serial) }
        return .connect(registration, observers: observers, since: since())
    }

    private mutating func resume() -> Command.Action {
        guard clients.count > 2, let newcomer = clients.last else { return connect() }
        let place = generator.below(clients.count - 1)
        clients.removeLast()
        clients[place].connection = newcomer.connection
        return .resume(
            Resumption(newcomer: newcomer.id, client: clients[place].id, after: since()))
    }

    private func name(_ connection: UInt64) -> ConnectionName {
        ConnectionName(node: 1, number: connection)
    }

    /// A client that is there, or now and then one that is not.
    private mutating func client() -> UInt64 {
        guard !clients.isEmpty, generator.below(20) > 0 else { return lastClient + 1_000 }
        return clients[generator.below(clients.count)].id
    }

    private mutating func takeClient() -> (id: UInt64, connection: UInt64)? {
        guard clients.count > 2 else { return nil }
        return clients.remove(at: generator.below(clients.count))
    }

    private mutating func remover() -> Remover {
        switch generator.below(3) {
        case 0: .broker
        case 1: .principal(bytes("root"))
        default: .client(client())
        }
    }

    // MARK: Observers

    private mutating func since() -> UInt64? {
        generator.below(4) == 0 ? UInt64(generator.below(Int(lastIndex) + 5)) : nil
    }

    private mutating func serial() -> UInt64 { UInt64(generator.below(Int(lastSerial) + 3)) }

    private mutating func registration() -> ObserverRegistration {
        lastSerial += UInt64(1 + generator.below(2))
        return ObserverRegistration(
            serial: lastSerial,
            tokenHash: SecretHash(high: generator.next(), low: generator.next()), name: name(),
            object: object(), selector: bytes("s\(generator.below(4))"), terms: observerTerms())
    }

    private mutating func observerTerms() -> ObserverTerms {
        var terms = ObserverTerms()
        terms.endsWithConnection = isPlain || generator.below(3) == 0
        if isPlain { return terms }
        switch generator.below(5) {
        case 0: terms.suspensionBehavior = .drop
        case 1: terms.suspensionBehavior = .hold
        case 2: terms.suspensionBehavior = .deliverImmediately
        case 3:
            terms.suspensionBehavior = .hold
            terms.acknowledges = true
        default: break
        }
        terms.holdLimit = generator.below(12)
        if generator.below(6) == 0 { terms.minInterval = Int64(generator.below(400)) * 1_000_000 }
        terms.lease = generator.below(4) == 0 ? nil : Int64(generator.below(9_000)) * 1_000_000
        return terms
    }

    private mutating func mailbox() -> UInt64 {
        guard !mailboxes.isEmpty, generator.below(10) > 0 else { return serial() }
        return mailboxes[generator.below(mailboxes.count)]
    }

    private mutating func readMailbox() -> Command.Action {
        let through = generator.below(3) == 0 ? nil : UInt64(generator.below(Int(lastIndex)))
        return .readMailbox(observer: mailbox(), through: through)
    }

    private mutating func wait() -> Command.Action {
        lastConnection += 10
        readers.append((mailbox(), lastConnection))
        let (observer, connection) = readers[readers.count - 1]
        return generator.below(2) == 0
            ? .attachStream(observer: observer, name(connection))
            : .readMailbox(observer: observer, through: .max, wait: name(connection))
    }

    // MARK: Posts

    private mutating func name() -> [UInt8]? {
        if !isPlain, generator.below(20) == 0 {
            return Report.names[generator.below(Report.names.count)]
        }
        return generator.below(6) == 0 ? nil : bytes("name\(generator.below(25))")
    }

    private mutating func object() -> [UInt8]? {
        generator.below(2) == 0 ? nil : bytes("object\(generator.below(6))")
    }

    private mutating func terms() -> PostTerms {
        var terms = PostTerms()
        if isPlain { return terms }
        if generator.below(3) == 0 { terms.wait = Int64(generator.below(300)) * 1_000_000 }
        terms.reportsObservers = generator.below(4) == 0
        terms.canStore = generator.below(30) > 0
        if generator.below(8) == 0 { terms.queueByteRoom = generator.below(100) }
        if generator.below(5) == 0 { terms.details = details() }
        if generator.below(2) == 0 { terms.owner = owner() }
        return terms
    }

    private mutating func details() -> PostTerms.Details {
        var scope = PostScope.everything
        if generator.below(3) == 0 {
            let names = [PostScope.Text.prefix(bytes("name\(1 + generator.below(2))"))]
            scope = .some([PostScope.Pattern(names: names)])
        }
        guard generator.below(2) == 0 else { return PostTerms.Details(scope: scope) }
        let key = IdempotencyKey(
            principal: bytes("p"), text: bytes("key\(generator.below(40))"),
            requestHash: SecretHash(high: 1, low: UInt64(generator.below(6) / 5)), form: 3,
            owner: Self.owner(of: bytes("p")))
        return PostTerms.Details(scope: scope, key: key)
    }

    private mutating func post() -> Post {
        let id = NotificationID(high: generator.next(), low: generator.next())
        var cause: NotificationID?
        if generator.below(3) == 0, !recentPosts.isEmpty {
            cause = recentPosts[generator.below(recentPosts.count)]
        }
        recentPosts.append(id)
        if recentPosts.count > 20 { recentPosts.removeFirst() }
        let userInfo = [UInt8](repeating: 32, count: generator.below(30))
        var name = name() ?? bytes("odd\(generator.below(400))")
        if name.starts(with: "belfry.".utf8) { name = bytes("name1") }
        return Post(
            id: id,
            content: Notification.Content(
                name: name, object: object(),
                userInfo: generator.below(3) == 0 ? nil : userInfo), causedBy: cause,
            options: isPlain || generator.below(2) == 0 ? nil : options())
    }

    private mutating func options() -> PostOptions {
        let styles: [PostingStyle?] = [nil, .now, .asap, .idle]
        let style = styles[generator.below(4)]
        let delay = Int64(generator.below(500)) * 1_000_000
        let life = Int64(generator.below(2_000)) * 1_000_000
        return PostOptions(
            style: style, coalescing: Coalescing(rawValue: UInt8(generator.below(4))),
            keepsLatest: generator.below(3) == 0, modes: modes(),
            maxDelay: generator.below(4) == 0 ? delay : nil,
            isImmediate: generator.below(4) == 0,
            timeToLive: generator.below(3) == 0 ? life : nil)
    }

    // MARK: Queue and modes

    private mutating func mode() -> [UInt8] {
        [Mode.default, Mode.common, bytes("modal"), bytes("held")][generator.below(4)]
    }

    private mutating func modes() -> [[UInt8]] {
        generator.below(2) == 0
            ? [Mode.default] : (0..<(1 + generator.below(3))).map { _ in mode() }
    }

    private mutating func dequeue() -> Command.Action {
        if generator.below(3) == 0, !recentPosts.isEmpty {
            return .dequeueEntry(
                recentPosts[generator.below(recentPosts.count)], scope: .everything)
        }
        return .dequeue(
            QueueMatch(
                name: name(), object: object(),
                mask: Coalescing(rawValue: UInt8(generator.below(4))), scope: .everything))
    }

    private mutating func enterMode() -> Command.Action {
        lastMode += 1
        let isLeased = generator.below(2) == 0
        return .enterMode(
            ModeEntry(
                serial: lastMode, tokenHash: SecretHash(high: lastMode, low: 1), mode: mode(),
                client: isLeased ? nil : client(),
                lease: isLeased ? Int64(generator.below(4_000)) * 1_000_000 : nil))
    }
}
