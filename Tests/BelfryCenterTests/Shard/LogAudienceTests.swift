import Testing

@testable import BelfryCenter

/// Brokers, connections and the log fail at random, judged by the frames of observers alone.
@Suite("What observers of several brokers are written (laws 2 and 3)")
struct LogAudienceTests {
    private struct Client {
        let number: UInt64
        /// The broker of its last connection.
        var node = 0
        var connection = ConnectionName(node: 0, number: 0)
        /// The last entry that its connection was written; nil while that is open.
        var end: UInt64?
        var isAsked = false
        /// Whether it has ever said what it had seen.
        var saidSeen = false
        let observers: [UInt64]
    }

    /// A broker: the seat of its life, and whether that is not over.
    private struct Node {
        var seat: UInt32
        var life: UInt64 = 1
        var isAlive = true
    }

    private struct World {
        var audience: LogAudience
        var generator: SeededGenerator
        var clients: [Client] = []
        var nodes: [Node] = []
        var lastSeat: UInt32 = 3
        /// The numbers of the notifications of each name.
        var posted: [String: [UInt64]] = [:]
        /// The ends of connections that the log has not heard of yet, with their clients' places.
        var unheard: [(place: Int, node: Int, connection: ConnectionName, end: UInt64)] = []

        mutating func isOneOf(_ count: Int) -> Bool { generator.below(count) == 0 }

        mutating func pick(_ places: [Int]) -> Int? {
            places.isEmpty ? nil : places[generator.below(places.count)]
        }

        /// A broker with a life, and its number in names.
        mutating func liveNode() -> Int {
            pick(nodes.indices.filter { nodes[$0].isAlive }) ?? 0
        }

        /// The highest number that a client was written, of whatever observer.
        func seen(by client: Client) -> UInt64 {
            client.observers
                .flatMap { audience.frames[$0] ?? [] }.compactMap(\.number).max() ?? 0
        }
    }

    private static func begun(_ seed: UInt64, ringCount: Int) throws -> World {
        var limits = CenterLimits()
        limits.replayCountLimit = ringCount
        var world = World(
            audience: try LogAudience(limits: limits, nodeCount: 3),
            generator: SeededGenerator(seed: seed))
        world.nodes = (1...3).map { Node(seat: UInt32($0)) }
        for number in 0..<4 {
            let node = number % 3
            let first = world.audience.lastObserver + 1
            let client = try world.audience.connect(
                node + 1,
                [
                    LogAudience.observer("n", .hold), LogAudience.observer("n", .drop),
                    LogAudience.observer("m", .hold) { $0.holdLimit = 2 },
                ])
            world.clients.append(
                Client(
                    number: client, node: node,
                    connection: LogAudience.connection(client, UInt32(node + 1)),
                    observers: [first, first + 1, first + 2]))
        }
        return world
    }

    private static func post(_ world: inout World) throws {
        let name = world.isOneOf(3) ? "m" : "n"
        let node = try writer(&world)
        world.posted[name, default: []].append(try world.audience.post(node + 1, name))
    }

    /// A connection ends: its broker writes it nothing more.
    private static func cut(_ world: inout World, _ place: Int) {
        guard world.clients[place].end == nil else { return }
        let (connection, end) = (world.clients[place].connection, world.audience.index)
        world.clients[place].end = end
        world.audience.end(connection, applied: end)
        world.unheard.append((place, world.clients[place].node, connection, end))
    }

    /// A broker with a life; the next of its entries first tells the ends that it has seen.
    private static func writer(_ world: inout World) throws -> Int {
        let node = world.liveNode()
        try hear(&world, from: node)
        return node
    }

    /// The log hears of the ends that a broker has seen.
    private static func hear(_ world: inout World, from node: Int) throws {
        while let place = world.unheard.firstIndex(where: { $0.node == node }) {
            try hear(&world, place)
        }
    }

    private static func hear(_ world: inout World, _ number: Int) throws {
        let ended = world.unheard.remove(at: number)
        try world.audience.tell(
            ended.node + 1,
            .disconnect(
                client: world.clients[ended.place].number, connection: ended.connection,
                appliedIndex: ended.end))
    }

    /// A client has a new connection, whether the log knows that the last one has ended or not.
    ///
    /// - Parameter isShort: whether the new one has ended, too, before its broker applies that.
    private static func resume(
        _ world: inout World, _ place: Int, isShort: Bool = false
    ) throws {
        let client = world.clients[place]
        let node = world.liveNode()
        // Its own broker may have the resumption before it sees the end.
        if node != client.node || !world.isOneOf(2) { try hear(&world, from: node) }
        var after: UInt64?
        if world.isOneOf(2) {
            after = world.seen(by: client)
            world.clients[place].saidSeen = true
        }
        let applied = client.end.map { min($0, world.audience.index) } ?? world.audience.index
        let (seat, index) = (world.nodes[node].seat, world.audience.index)
        let connection = LogAudience.connection(world.audience.lastClient + 1, seat)
        if isShort { world.audience.end(connection, applied: index) }
        try world.audience.resume(
            node + 1, seat: seat, client.number, after: after, applied: applied)
        world.clients[place].connection = connection
        world.clients[place].node = node
        world.clients[place].end = isShort ? index : nil
        if isShort { world.unheard.append((place, node, connection, index)) }
        try hear(&world, from: node)
    }

    /// A broker dies, and the log hears of it some entries later, by another one or the next life.
    private static func kill(_ world: inout World) throws {
        let node = world.liveNode()
        for place in world.clients.indices where world.clients[place].node == node {
            cut(&world, place)
        }
        world.nodes[node].isAlive = false
        world.unheard.removeAll { $0.node == node }
        for _ in 0..<world.generator.below(5) { try post(&world) }
        if world.isOneOf(2), let place = world.pick(Array(world.clients.indices)),
            world.clients[place].node == node
        {
            try resume(&world, place)
        }
        world.nodes[node].life += 1
        if world.isOneOf(2) {
            let by = try writer(&world)
            try world.audience.write(
                by + 1, .nodeDown(bytes("n\(node + 1)"), life: world.nodes[node].life - 1))
        }
        try world.audience.restart(node + 1, life: world.nodes[node].life)
        world.lastSeat += 1
        world.nodes[node].seat = world.lastSeat
        world.nodes[node].isAlive = true
    }

    private static func step(_ world: inout World) throws {
        let place = world.generator.below(world.clients.count)
        switch world.generator.below(20) {
        case 0...7: try post(&world)
        case 8, 9:
            guard world.clients[place].end == nil else { return }
            try hear(&world, from: world.clients[place].node)
            world.clients[place].isAsked.toggle()
            // It has asked for that, and is gone before its broker applies it.
            if world.isOneOf(3) { cut(&world, place) }
            try world.audience.tell(
                world.clients[place].node + 1,
                .setSuspended(
                    client: world.clients[place].number, world.clients[place].isAsked))
        case 10, 11, 12: cut(&world, place)
        case 13, 14:
            if let ended = world.unheard.first { try hear(&world, from: ended.node) }
        case 15, 16:
            if world.clients[place].end != nil || world.isOneOf(3) {
                let isShort = world.isOneOf(4)
                try resume(&world, place, isShort: isShort)
            }
        case 17: try world.audience.write(try writer(&world) + 1, .nothing)
        case 18: if world.isOneOf(4) { try kill(&world) }
        default: try world.audience.restore()
        }
    }

    @Test(
        "each number is written once and in order, or told in a gap",
        arguments: 1...40, [1_000, 4])
    func coverage(seed: UInt64, ringCount: Int) throws {
        var world = try Self.begun(seed, ringCount: ringCount)
        for _ in 0..<150 { try Self.step(&world) }
        while !world.unheard.isEmpty { try Self.hear(&world, 0) }
        for place in world.clients.indices {
            try Self.resume(&world, place)
            if world.clients[place].isAsked {
                try world.audience.tell(
                    world.clients[place].node + 1,
                    .setSuspended(client: world.clients[place].number, false))
            }
        }
        for client in world.clients {
            for (place, observer) in client.observers.enumerated() {
                let name = place == 2 ? "m" : "n"
                let complaint = Self.complaint(
                    about: world.audience.frames[observer] ?? [], world.posted[name] ?? [],
                    saidSeen: client.saidSeen)
                #expect(
                    complaint == nil,
                    "seed \(seed), o\(observer): \(complaint ?? "")")
            }
        }
    }

    /// Tells what is wrong with the frames of an observer, given what was posted for it.
    private static func complaint(
        about frames: [LogAudience.Frame], _ posted: [UInt64], saidSeen: Bool
    ) -> String? {
        var counts: [UInt64: Int] = [:]
        var last: UInt64 = 0
        var told: [ClosedRange<UInt64>] = []
        for frame in frames {
            switch frame {
            case .number(let number):
                if number <= last { return "\(number) comes behind \(last): \(frames)" }
                last = number
                counts[number, default: 0] += 1
            case .again(let number): counts[number, default: 0] += 1
            case .gap(_, let first, let last): told.append(first...last)
            }
        }
        for number in posted {
            let count = counts[number] ?? 0
            if count == 0, !told.contains(where: { $0.contains(number) }) {
                return "\(number) is missing: \(frames)"
            }
            // The number that a client says it has seen may have reached any of its observers.
            if count > 1, !saidSeen { return "\(number) comes \(count) times: \(frames)" }
        }
        return nil
    }
}
