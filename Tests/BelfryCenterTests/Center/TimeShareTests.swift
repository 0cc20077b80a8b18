import Testing

@testable import BelfryCenter

@Suite("What ends with time ends in shares (decision 69)")
struct TimeShareTests {
    private static let second: Int64 = 1_000_000_000

    /// Clients with observers whose leases end a second after their connections, which end now.
    private static func leased(clients: Int, observers: Int) -> Scenario {
        var scenario = Scenario()
        for _ in 0..<clients {
            let client = scenario.connect()
            for _ in 0..<observers {
                scenario.observe("a", by: client, .hold) { $0.lease = second }
            }
            scenario.cut(client)
        }
        return scenario
    }

    private static func isDue(_ scenario: Scenario) -> Bool {
        scenario.center.needs.deadline <= scenario.time.monotonicNanoseconds
    }

    @Test(
        "an observer that goes is 16 of work: the client with which the limit is reached is the last",
        arguments: [(0, 2), (1, 2), (32, 2), (33, 4), (64, 4), (65, 6), (Int.max, 6)])
    func limit(workLimit: Int, removedCount: Int) {
        var scenario = Self.leased(clients: 3, observers: 2)
        scenario.milliseconds += 1_000
        scenario.apply(.passTime(workLimit: workLimit))
        #expect(scenario.center.observerCount == 6 - removedCount)
        #expect(Self.isDue(scenario) == (removedCount < 6))
        // Those that go first are those of the first client.
        #expect(scenario.center.observer(1) == nil && scenario.center.observer(2) == nil)
        scenario.apply(.passTime(workLimit: .max))
        #expect(scenario.center.clientCount == 0 && !Self.isDue(scenario))
    }

    @Test("what an observer held and those who watch the broker's own channels are work too")
    func more() {
        for (text, count) in [("a1", 2), ("b1", 4)] {
            var scenario = Self.leased(clients: 2, observers: 2)
            scenario.say(text)
            scenario.milliseconds += 1_000
            scenario.apply(.passTime(workLimit: 33))
            // Two observers that hold nothing are 32.
            #expect(scenario.center.observerCount == 4 - count)
        }
        var watched = Scenario()
        let watcher = watched.connect()
        watched.observe("belfry.observer.expired", by: watcher)
        for _ in 0..<3 {
            let client = watched.connect()
            watched.observe("a", by: client, .hold) { $0.lease = Self.second }
            watched.cut(client)
        }
        watched.milliseconds += 1_000
        watched.apply(.passTime(workLimit: 17))
        #expect(watched.effects.deliveries.count == 1)
        watched.apply(.passTime(workLimit: 18))
        #expect(watched.effects.deliveries.count == 2)
    }

    @Test("between two shares a client whose lease is over can come back, and is posted for")
    func meanwhile() {
        var scenario = Self.leased(clients: 2, observers: 1)
        scenario.milliseconds += 1_000
        scenario.apply(.passTime(workLimit: 1))
        scenario.say("a1")
        #expect(scenario.effects.receipts.first?.held == 1)
        scenario.back(2)
        #expect(scenario.frames == ["a1"])
        scenario.apply(.passTime(workLimit: 1))
        #expect(scenario.center.observer(2) != nil && !Self.isDue(scenario))
    }

    @Test("notifications that are too old, and posters that have waited, go one after the other")
    func others() {
        var scenario = Scenario()
        let holder = scenario.connect()
        for _ in 0..<2 { scenario.observe("a", by: holder, .hold) }
        scenario.cut(holder)
        for number in 0..<3 { scenario.say("a\(number)", ttl: Self.second) }
        let asked = scenario.connect()
        scenario.observeAcknowledging("b", by: asked)
        for _ in 0..<2 { scenario.say("b1") { $0.wait = 2 * Self.second } }
        scenario.milliseconds += 2_000
        var steps: [(held: Int, answered: Int)] = []
        while Self.isDue(scenario) {
            scenario.apply(.passTime(workLimit: 17))
            steps.append(
                (scenario.center.needs.heldCount - 2, scenario.effects.completions.count))
        }
        #expect(steps.map(\.held) == [2, 1, 0, 0, 0])
        #expect(steps.map(\.answered) == [0, 0, 0, 1, 1])
    }

    @Test(
        "keys that are too old are forgotten last, as many as there is room for, and one at least")
    func keys() {
        var limits = CenterLimits()
        limits.keyLifetime = .seconds(1)
        var scenario = Scenario(limits: limits)
        for number in 0..<10 {
            scenario.say("a1") {
                $0.details = PostTerms.Details(
                    scope: .everything,
                    key: IdempotencyKey(
                        principal: bytes("p"), text: bytes("\(number)"),
                        requestHash: SecretHash(high: 1, low: 1), form: 0))
            }
        }
        let client = scenario.connect()
        scenario.observe("a", by: client, .hold) { $0.lease = Self.second }
        scenario.cut(client)
        scenario.milliseconds += 1_000
        var counts: [Int] = []
        while Self.isDue(scenario) {
            scenario.apply(.passTime(workLimit: 64))
            counts.append(scenario.center.keys.count)
        }
        #expect(counts == [7, 3, 0])
        #expect(scenario.center.observerCount == 0)
    }

    @Test("deadlines that mean nothing any more are looked at in shares too")
    func vain() {
        var scenario = Scenario()
        let holder = scenario.connect()
        scenario.observe("a", by: holder, .hold)
        scenario.cut(holder)
        // More than a sweep leaves.
        for number in 0..<400 { scenario.say("a\(number)", ttl: Self.second) }
        scenario.back(holder)
        scenario.milliseconds += 1_000
        var deadlines = scenario.center.deadlines
        #expect(deadlines.count == 401)
        var heap = DeadlineHeap<NotificationCenter.Deadline>()
        while let deadline = deadlines.popDue(at: .max) {
            for _ in 0..<10 { heap.add(at: 0, rank: deadline.rank, key: deadline) }
        }
        scenario.center.deadlines = heap
        var shareCount = 0
        repeat {
            scenario.apply(.passTime(workLimit: 1))
            shareCount += 1
        } while Self.isDue(scenario)
        #expect(shareCount == 4)
    }

    @Test("a deadline that means nothing any more keeps no queue entry waiting behind the limit")
    func vainIsNoWork() {
        var scenario = Scenario()
        let away = scenario.connect()
        scenario.observe("a", by: away, .hold)
        scenario.cut(away)
        let back = scenario.connect()
        scenario.observe("b", by: back, .hold)
        scenario.cut(back)
        for text in ["a1", "b1"] { scenario.say(text, ttl: Self.second) }
        scenario.back(back)
        scenario.say("c1", style: .idle, maxDelay: Self.second)
        scenario.milliseconds += 1_000
        // The first deadline is all that the limit allows, and the second one's notification is not
        // held.
        scenario.apply(.passTime(workLimit: 16))
        #expect(scenario.center.needs.heldCount == 0 && !Self.isDue(scenario))
        #expect(scenario.center.needsTurnEnd)
    }

    @Test("ten thousand clients whose leases end together cost no more by shares than at once")
    func many() {
        var scenario = Self.leased(clients: 10_000, observers: 1)
        scenario.milliseconds += 1_000
        var shareCount = 0
        while Self.isDue(scenario) {
            scenario.apply(.passTime(workLimit: 1))
            shareCount += 1
        }
        #expect(shareCount == 10_000 && scenario.center.observerCount == 0)
    }
}
