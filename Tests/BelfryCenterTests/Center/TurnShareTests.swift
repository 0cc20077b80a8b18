import Testing

@testable import BelfryCenter

@Suite("The end of a turn is left between two asap entries (rule Q11)")
struct TurnShareTests {
    private static func scenario(_ texts: [String]) -> Scenario {
        var scenario = Scenario()
        let client = scenario.connect()
        for _ in 0..<3 { scenario.observe(nil, by: client) }
        for text in texts { scenario.say(text, style: .asap, coalesce: .none) }
        return scenario
    }

    /// Ends a turn, and tells what was posted.
    private static func post(_ scenario: inout Scenario, workLimit: Int) -> [String] {
        scenario.apply(.endTurn(workLimit: workLimit))
        return scenario.effects.notifications.map {
            String(decoding: $0.content.nameBytes, as: UTF8.self)
        }
    }

    @Test(
        "an entry is its deliveries and 16 of work: the one with which the limit is reached is the last",
        arguments: [(0, 1), (1, 1), (19, 1), (20, 2), (38, 2), (39, 3), (Int.max, 3)])
    func limit(workLimit: Int, count: Int) {
        var scenario = Self.scenario(["a", "b", "c"])
        let posted = Self.post(&scenario, workLimit: workLimit)
        #expect(posted == Array(["a", "b", "c"].prefix(count)))
        #expect(scenario.center.needs.turnGoesOn == (count < 3))
        #expect(scenario.center.needs.turnEnd == (count < 3))
    }

    @Test("large content is work too: 1 for 256 bytes")
    func largeContent() {
        var scenario = Scenario()
        for name in ["a", "b"] {
            let content = Notification.Content(
                name: bytes(name), object: nil, userInfo: [UInt8](repeating: 32, count: 25_600))
            let options = PostOptions(style: .asap)
            scenario.apply(
                .post(
                    Post(id: scenario.newPost(name).id, content: content, options: options),
                    PostTerms()))
        }
        #expect(Self.post(&scenario, workLimit: 116) == ["a"])
        #expect(Self.post(&scenario, workLimit: 117) == ["b"])
    }

    @Test("what is enqueued meanwhile waits until the entries are out that were there before it")
    func meanwhile() {
        var scenario = Self.scenario(["a", "b", "c"])
        #expect(Self.post(&scenario, workLimit: 1) == ["a"])
        scenario.say("late", style: .asap)
        #expect(Self.post(&scenario, workLimit: 1) == ["b"])
        #expect(Self.post(&scenario, workLimit: .max) == ["c"])
        #expect(scenario.center.needs.turnEnd && !scenario.center.needs.turnGoesOn)
        #expect(Self.post(&scenario, workLimit: .max) == ["late"])
        #expect(!scenario.center.needs.turnEnd)
    }

    @Test("between two shares an entry can still be merged, dequeued, or left for another mode")
    func touched() throws {
        var scenario = Self.scenario(["a1", "b1", "c1", "d1"])
        #expect(Self.post(&scenario, workLimit: 1) == ["a"])
        scenario.say("c2", style: .asap)
        #expect(scenario.effects.receipts.first?.state != .queued)
        scenario.apply(
            .dequeue(QueueMatch(name: bytes("b"), object: nil, mask: .onName, scope: .everything)))
        let mode = ModeEntry(
            serial: 1, tokenHash: SecretHash(high: 1, low: 1), mode: bytes("held"), client: nil,
            lease: nil)
        scenario.apply(.enterMode(mode))
        scenario.say("e1", style: .asap)
        #expect(!scenario.center.needs.turnEnd)
        scenario.apply(.leaveMode(serial: 1))
        #expect(Self.post(&scenario, workLimit: .max) == ["c", "d"])
        #expect(Self.post(&scenario, workLimit: .max) == ["e"])
    }

    @Test("a snapshot that another mode has ended does not keep back what came later")
    func endedByMode() {
        var scenario = Self.scenario(["a", "b"])
        #expect(Self.post(&scenario, workLimit: 1) == ["a"])
        let mode = ModeEntry(
            serial: 1, tokenHash: SecretHash(high: 1, low: 1), mode: bytes("held"), client: nil,
            lease: nil)
        scenario.apply(.enterMode(mode))
        scenario.apply(
            .post(
                Post(
                    id: scenario.newPost("c").id,
                    content: Notification.Content(name: bytes("c"), object: nil, userInfo: nil),
                    options: PostOptions(style: .asap, modes: [bytes("held")])), PostTerms()))
        #expect(Self.post(&scenario, workLimit: 1) == ["c"])
        #expect(!scenario.center.needs.turnGoesOn)
    }

    @Test("a stop posts what a turn has left, and then what came behind it (rule Q23)")
    func stop() {
        var scenario = Self.scenario(["a", "b"])
        #expect(Self.post(&scenario, workLimit: 1) == ["a"])
        scenario.say("late", style: .asap)
        scenario.apply(.terminate)
        let posted = scenario.effects.notifications.map {
            String(decoding: $0.content.nameBytes, as: UTF8.self)
        }
        #expect(posted.filter { !$0.hasPrefix("belfry.") } == ["b", "late"])
        #expect(!scenario.center.needs.turnEnd)
    }

    @Test("ten thousand entries cost no more by shares than at once")
    func many() {
        var scenario = Scenario()
        for number in 0..<10_000 { scenario.say("a\(number)", style: .asap, coalesce: .none) }
        var shareCount = 0
        var posted = 0
        while scenario.center.needs.turnEnd {
            scenario.apply(.endTurn(workLimit: 1))
            posted += scenario.effects.notifications.count
            shareCount += 1
        }
        #expect(posted == 10_000 && shareCount == 10_000)
    }
}
