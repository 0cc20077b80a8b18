@testable import BelfryCenter

/// Makes the same endless list of commands from the same seed, in every process.
struct CommandSource {
    private var generator: SeededGenerator
    private var lastSerial: UInt64 = 0
    private var lastClient: UInt64 = 0
    private var lastIndex: UInt64 = 0
    private var clients: [UInt64] = []
    private var recentPosts: [NotificationID] = []
    private var milliseconds: Int64 = 1_000_000

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> Command {
        lastIndex += 1
        milliseconds += Int64(generator.below(40))
        return Command(
            id: CommandID(node: 1, incarnation: 1, counter: lastIndex),
            time: CommandTime(
                wallMilliseconds: milliseconds, monotonicNanoseconds: milliseconds * 1_000_000),
            action: action())
    }

    private mutating func action() -> Command.Action {
        switch generator.below(100) {
        case 0..<6: return connect()
        case 6..<8:
            guard let client = takeClient() else { return connect() }
            return .disconnect(client: client)
        case 8..<9:
            guard let client = takeClient() else { return connect() }
            return .removeClient(client: client, by: remover())
        case 9..<40: return .addObserver(registration(), client: client(), since: since())
        case 40..<55:
            return .removeObserver(
                serial: UInt64(generator.below(Int(lastSerial) + 3)), by: remover())
        case 55..<59:
            return .removeObservers(client: client(), name: name(), object: object())
        case 59..<64: return .postBatch((0..<(1 + generator.below(5))).map { _ in post() })
        default: return .post(post())
        }
    }

    private mutating func connect() -> Command.Action {
        lastClient += 1
        clients.append(lastClient)
        let registration = ClientRegistration(
            id: lastClient, transport: generator.below(2) == 0 ? .webSocket : .events,
            connection: ConnectionName(node: 1, number: lastClient * 10),
            sessionHash: SecretHash(high: generator.next(), low: generator.next()),
            principal: bytes("p\(generator.below(3))"))
        let observers = (0..<generator.below(4)).map { _ in self.registration() }
        return .connect(registration, observers: observers, since: since())
    }

    /// A client that is there, or now and then one that is not.
    private mutating func client() -> UInt64 {
        guard !clients.isEmpty, generator.below(20) > 0 else { return lastClient + 1_000 }
        return clients[generator.below(clients.count)]
    }

    private mutating func takeClient() -> UInt64? {
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

    private mutating func since() -> UInt64? {
        generator.below(4) == 0 ? UInt64(generator.below(Int(lastIndex) + 5)) : nil
    }

    private mutating func registration() -> ObserverRegistration {
        lastSerial += UInt64(1 + generator.below(2))
        return ObserverRegistration(
            serial: lastSerial,
            tokenHash: SecretHash(high: generator.next(), low: generator.next()), name: name(),
            object: object(), selector: bytes("s\(generator.below(4))"))
    }

    private mutating func name() -> [UInt8]? {
        generator.below(6) == 0 ? nil : bytes("name\(generator.below(25))")
    }

    private mutating func object() -> [UInt8]? {
        generator.below(2) == 0 ? nil : bytes("object\(generator.below(6))")
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
        return Post(
            id: id,
            content: Notification.Content(
                name: name() ?? bytes("odd\(generator.below(400))"), object: object(),
                userInfo: generator.below(3) == 0 ? nil : userInfo), causedBy: cause)
    }
}
