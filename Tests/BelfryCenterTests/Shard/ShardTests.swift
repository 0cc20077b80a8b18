import Testing

@testable import BelfryCenter

@Suite("A shard applies a log (decision 100)")
struct ShardTests {
    private static let a = bytes("a")

    /// A log with one broker that is up and has made a center.
    private static func begun() throws -> LogScenario {
        var log = LogScenario()
        try log.write("n1", .nodeUp(level: 1), .makeCenter(a, epoch: bytes("e1")))
        return log
    }

    private static func post(_ number: UInt64, style: PostingStyle? = nil) -> ShardCommand.Action {
        let options = style.map { PostOptions(style: $0) }
        return .tell(
            center: a,
            .post(
                Post(
                    id: NotificationID(high: 0x7000, low: number),
                    content: Notification.Content(
                        name: bytes("n"), object: nil, userInfo: nil),
                    options: options),
                PostTerms()))
    }

    private static func connect(
        _ number: UInt64, _ transport: Transport = .webSocket, seat: UInt32 = 0,
        names: [String] = ["n"]
    ) -> ShardCommand.Action {
        .tell(
            center: a,
            .connect(
                ClientRegistration(
                    transport: transport,
                    connection: ConnectionName(node: seat, number: seat == 0 ? 0 : number),
                    sessionHash: SecretHash(high: number, low: 0), principal: bytes("p")),
                observers: names.map {
                    ObserverRegistration(
                        tokenHash: SecretHash(high: number, low: 1), name: bytes($0),
                        object: nil, selector: bytes("s"))
                }, since: nil))
    }

    // MARK: Which entries count

    @Test(
        "an entry that the log has twice counts once, and one before its time not until it comes again"
    )
    func order() throws {
        var log = try Self.begun()
        let first = log.entry(of: "n1", Self.post(1))
        let second = log.entry(of: "n1", Self.post(2))
        #expect(try log.apply(second).skip == .outOfOrder)
        #expect(try log.apply(first).results == [.told])
        #expect(try log.apply(first).skip == .outOfOrder)
        #expect(try log.apply(second).results == [.told])
        #expect(log.shard.centers[0].sequence == 2)
        #expect(log.shard.logIndex == 5)
    }

    @Test("a life that is over, or was never begun, says nothing any more")
    func lives() throws {
        var log = try Self.begun()
        #expect(try log.write("n2", Self.post(1)).skip == .lifeIsOver)
        log.restart("n2", life: 7)
        #expect(try log.write("n2", .nodeUp(level: 1)).results == [.began(seat: 2)])
        let late = log.entry(of: "n2", Self.post(2))
        try log.write("n1", .nodeDown(bytes("n2"), life: 6))
        #expect(try log.write("n2", Self.post(3)).skip == .outOfOrder)
        try log.write("n1", .nodeDown(bytes("n2"), life: 7))
        #expect(try log.apply(late).skip == .lifeIsOver)
        for life: UInt64 in [6, 7] {
            log.restart("n2", life: life)
            #expect(try log.write("n2", .nodeUp(level: 1)).skip == .lifeIsOver)
        }
        log.restart("n2", life: 8)
        #expect(
            try log.write("n2", .nodeUp(level: 1), .nodeUp(level: 1)).results
                == [.began(seat: 3), .refused])
        #expect(log.shard.centers[0].sequence == 0)
    }

    @Test(
        "the connections of a life end with it: by a word of another broker, and by a second process of its name"
    )
    func departures() throws {
        for isRestarted in [false, true] {
            var log = try Self.begun()
            try log.write("n2", .nodeUp(level: 1))
            try log.write("n1", Self.connect(5, seat: 1))
            let steps = try log.write("n2", Self.connect(5, seat: 2)).steps
            #expect(steps.map(\.number) == [2])
            if isRestarted {
                log.restart("n2", life: 2)
                try log.write("n2", .nodeUp(level: 1))
            } else {
                try log.write("n1", .nodeDown(bytes("n2"), life: 1))
            }
            #expect(log.shard.centers[0].client(1)?.state == .live)
            #expect(log.shard.centers[0].client(2)?.state == .disconnected)
        }
    }

    @Test("a reader of a mailbox ends with the life of its broker, and no other of the same number")
    func readers() throws {
        var log = try Self.begun()
        try log.write("n2", .nodeUp(level: 1))
        try log.write("n1", Self.connect(1, .mailbox), Self.connect(2, .mailbox))
        for seat: UInt32 in 1...2 {
            try log.write(
                "n\(seat)",
                .tell(
                    center: Self.a,
                    .attachStream(
                        observer: UInt64(seat), ConnectionName(node: seat, number: 9))))
        }
        try log.write("n1", .nodeDown(bytes("n2"), life: 1))
        #expect(log.shard.centers[0].client(1)?.state == .live)
        #expect(log.shard.centers[0].client(2)?.state == .disconnected)
    }

    @Test("who knows another past stops the shard, and who was away for too long is not heard")
    func past() throws {
        var log = try Self.begun()
        let entry = log.entry(of: "n1", Self.post(1))
        let other = Entry(
            node: entry.node, life: 1, number: 2, appliedIndex: 1, chain: entry.chain ^ 1,
            elapsed: 0, wallMilliseconds: 0, commands: entry.commands)
        #expect(throws: Shard.Fault.otherPast(index: 2)) { try log.apply(other) }
        let ahead = Entry(
            node: entry.node, life: 1, number: 2, appliedIndex: 2, chain: entry.chain,
            elapsed: 0, wallMilliseconds: 0, commands: entry.commands)
        #expect(throws: Shard.Fault.otherPast(index: 2)) { try log.apply(ahead) }
        try log.write("n2", .nodeUp(level: 1))
        for _ in 1..<LogPast.limit { try log.write("n2", .nothing) }
        #expect(try log.apply(entry).skip == .isTooLate)
    }

    @Test("a level holds when all that are up know it, and who does not know it does not come up")
    func levels() throws {
        var log = LogScenario()
        try log.write("n1", .nodeUp(level: 3))
        try log.write("n2", .nodeUp(level: 2))
        #expect(try log.write("n1", .level(3)).results == [.refused])
        #expect(try log.write("n1", .level(2)).results == [.done])
        try log.write("n1", .nodeDown(bytes("n2"), life: 1))
        #expect(try log.write("n1", .level(3)).results == [.done])
        #expect(log.shard.level == 3)
        log.restart("n2", life: 2)
        #expect(try log.write("n2", .nodeUp(level: 2)).skip == .isTooOld(level: 3))
    }

    @Test("as many brokers as may be share a log, and not one more")
    func nodeLimit() throws {
        var log = LogScenario()
        for number in 1...NodeTable.limit {
            #expect(try log.write("n\(number)", .nodeUp(level: 1)).skip == nil)
        }
        #expect(
            try log.write("another", .nodeUp(level: 1)).skip
                == .isOneTooMany(limit: NodeTable.limit))
    }

    // MARK: Time

    @Test(
        "time is what brokers agree on: it never goes back, and one that was away does not move it")
    func time() throws {
        var log = try Self.begun()
        try log.write("n1", elapsed: 5_000, .nothing)
        #expect(log.shard.logTime == 5_000_000_000)
        let late = log.entry(of: "n1", elapsed: 101, .nothing)
        let soon = log.entry(of: "n1", elapsed: 100, .nothing)
        try log.write("n2", .nodeUp(level: 1))
        #expect(try log.apply(late).skip == nil)
        #expect(log.shard.logTime == 5_000_000_000)
        try log.apply(soon)
        #expect(log.shard.logTime == 5_100_000_000)
        try log.write("n2", elapsed: .max, .nothing)
        #expect(log.shard.logTime == 5_100_000_000)
    }

    @Test("what is due happens before the commands of the entry with whose time it is due")
    func due() throws {
        var log = try Self.begun()
        try log.write(
            "n1",
            .tell(
                center: Self.a,
                .enterMode(
                    ModeEntry(
                        tokenHash: SecretHash(high: 1, low: 1), mode: bytes("m"), client: nil,
                        lease: 1_000_000_000))))
        #expect(log.shard.centers[0].modes.stack.count == 1)
        let steps = try log.write("n1", elapsed: 1_000, Self.post(1)).steps
        #expect(steps.map { $0.id == nil } == [true, false])
        #expect(log.shard.centers[0].modes.stack.isEmpty)
    }

    // MARK: Commands

    @Test("the first that makes a center gives it its epoch; one with something does not end")
    func centers() throws {
        var log = try Self.begun()
        try log.write(
            "n1", .makeCenter(Self.a, epoch: bytes("e2")), .makeCenter(bytes("b"), epoch: Self.a))
        #expect(log.shard.centers[0].epoch == bytes("e1"))
        try log.write("n1", Self.connect(1, seat: 1), Self.post(1, style: .idle))
        let results = try log.write(
            "n1", .endCenter(Self.a), .endCenter(bytes("c")), .tell(center: bytes("c"), .idle)
        ).results
        #expect(results == [.inUse, .noCenter, .noCenter])
        try log.write("n1", .makeCenter(bytes("c"), epoch: Self.a))
        #expect(try log.write("n1", .endCenter(bytes("b"))).results == [.ended])
        #expect(log.shard.position(of: bytes("c")) == 1)
        #expect(log.shard.count == 2)
    }

    @Test("asap entries leave at the end of their entry, and idle ones when nothing lies between")
    func styles() throws {
        var log = try Self.begun()
        let asap = try log.write("n1", Self.post(1, style: .asap), Self.post(2)).steps
        #expect(asap.map { $0.id == nil } == [false, false, true])
        try log.write("n1", Self.post(3, style: .idle))
        let idle = log.entry(of: "n1", .tell(center: Self.a, .idle))
        let again = log.entry(of: "n1", .tell(center: Self.a, .idle))
        try log.write("n2", .nodeUp(level: 1))
        #expect(try log.apply(idle).results == [.done])
        #expect(log.shard.centers[0].needs.idle)
        try log.apply(again)
        #expect(log.shard.centers[0].needs.idle)
        try log.write("n1", .tell(center: Self.a, .idle))
        #expect(!log.shard.centers[0].needs.idle)
        #expect(log.shard.centers[0].sequence == 3)
    }

    private static func make(
        _ number: UInt64, _ principal: String = "a", shown: [UInt8] = bytes("key"), share: Int = 9
    ) -> ShardCommand.Action {
        .makeTicket(
            SecretHash(high: 4, low: number), principal: bytes(principal), shown: shown,
            share: share)
    }

    private static func use(_ number: UInt64, until end: Int64 = .max) -> ShardCommand.Action {
        .useTicket(SecretHash(high: 4, low: number), until: end)
    }

    @Test("a ticket is used up by the first who has it in the log, within 30 s")
    func tickets() throws {
        var log = try Self.begun()
        #expect(!log.shard.hasTicket(SecretHash(high: 4, low: 1)))
        #expect(try log.write("n1", Self.make(1), Self.make(2)).results == [.done, .done])
        #expect(log.shard.hasTicket(SecretHash(high: 4, low: 1)))
        #expect(
            try log.write("n1", Self.use(1), Self.use(1)).results
                == [.used(shown: bytes("key")), .refused])
        // A use that comes too late has no waiter.
        #expect(try log.write("n1", Self.use(2, until: 0)).results == [.refused])
        #expect(try log.write("n1", elapsed: 29_999, Self.use(3)).results == [.refused])
        #expect(try log.write("n1", Self.use(2)).results == [.used(shown: bytes("key"))])
        #expect(try log.write("n1", Self.make(5)).results == [.done])
        #expect(try log.write("n1", elapsed: 30_000, Self.use(5)).results == [.refused])
    }

    @Test("a ticket takes a place for each KiB that it keeps, of which a principal has a share")
    func ticketPlaces() throws {
        var log = try Self.begun()
        let long = [UInt8](repeating: 1, count: 1_025)
        try log.write("n1", Self.make(1, "b"), Self.make(2), Self.make(3))
        try log.write("n1", Self.make(4, shown: long, share: 3))
        let uses = try log.write("n1", Self.use(1), Self.use(2), Self.use(3), Self.use(4))
        #expect(
            uses.results == [
                .used(shown: bytes("key")), .refused, .used(shown: bytes("key")),
                .used(shown: long),
            ])
    }

    @Test("a snapshot has the tickets in their order")
    func ticketSnapshot() throws {
        var log = try Self.begun()
        try log.write("n1", Self.make(9), Self.make(8), Self.make(7))
        try log.write("n1", Self.use(8))
        let snapshot = log.shard.snapshot()
        try log.restore()
        #expect(log.shard.snapshot() == snapshot)
        // The oldest goes still.
        try log.write("n1", Self.make(6, share: 2))
        let uses = try log.write("n1", Self.use(9), Self.use(8), Self.use(7), Self.use(6))
        let key = Shard.Result.used(shown: bytes("key"))
        #expect(uses.results == [.refused, .refused, key, key])
    }

    @Test(
        "centers report the last broker that leaves, and the first that comes, from level 2 on",
        arguments: [1, 2])
    func startAndEnd(level: UInt64) throws {
        var log = LogScenario()
        try log.write("n1", .nodeUp(level: 2), .level(level))
        try log.write("n1", .makeCenter(Self.a, epoch: bytes("e1")))
        let names = ["belfry.center.willTerminate", "belfry.center.didStart"]
        try log.write("n1", Self.connect(1, .mailbox, names: names))
        // A report with an observer has a number.
        func sequence() -> UInt64 { log.shard.centers[0].sequence }
        try log.write("n2", .nodeUp(level: 2))
        try log.write("n2", .nodeDown(bytes("n2"), life: 1))
        #expect(sequence() == 0)
        try log.write("n1", .nodeDown(bytes("n1"), life: 1))
        #expect(sequence() == (level == 2 ? 1 : 0))
        try log.restore()
        log.restart("n2", life: 2)
        try log.write("n2", .nodeUp(level: 2))
        #expect(sequence() == (level == 2 ? 2 : 0))
        // A client was there all the time.
        log.restart("n1", life: 2)
        try log.write("n1", .nodeUp(level: 2))
        log.restart("n2", life: 3)
        try log.write("n2", .nodeUp(level: 2))
        #expect(sequence() == (level == 2 ? 2 : 0))
        // A broker that is alone and dies without a word was not there until it comes back.
        try log.write("n2", .nodeDown(bytes("n1"), life: 2))
        log.restart("n2", life: 4)
        try log.write("n2", .nodeUp(level: 2))
        #expect(sequence() == (level == 2 ? 3 : 0))
    }
}
