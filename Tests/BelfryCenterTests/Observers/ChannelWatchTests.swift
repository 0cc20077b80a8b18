import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: names that are observed, and no more (Rules.md, L)")
struct ChannelWatchTests {
    private var scenario = Scenario()

    private var watcher: UInt64 = 0

    init() {
        watcher = scenario.connect()
    }

    /// The reports of the end of the turn to the watcher.
    private mutating func reports() -> [String] {
        scenario.apply(.endTurn(workLimit: .max))
        return scenario.frames.map { text in
            text.replacing("belfry.channel.", with: "")
        }
    }

    private mutating func watch(_ name: String? = nil) {
        scenario.observe("belfry.channel.observed", name, by: watcher)
        scenario.observe("belfry.channel.unobserved", name, by: watcher)
    }

    @Test("L12: a name gets its first observer and loses its last one")
    mutating func firstAndLast() {
        watch()
        let client = scenario.connect()
        let first = scenario.observe("price", "x", by: client)
        #expect(scenario.center.needs.turnEnd)
        #expect(reports() == ["observed/price"])
        let second = scenario.observe("price", by: client)
        #expect(reports() == [] && !scenario.center.needs.turnEnd)
        scenario.remove(first, by: .client(client))
        #expect(reports() == [])
        scenario.remove(second, by: .client(client))
        #expect(reports() == ["unobserved/price"])
    }

    @Test("L12: it is told once for each change, at the end of the turn")
    mutating func onceATurn() {
        watch()
        let client = scenario.connect()
        let first = scenario.observe("price", by: client)
        scenario.remove(first, by: .client(client))
        #expect(reports() == [])
        let second = scenario.observe("price", by: client)
        #expect(reports() == ["observed/price"])
        scenario.remove(second, by: .client(client))
        scenario.observe("price", by: client)
        #expect(reports() == [])
        scenario.disconnect(client)
        #expect(reports() == ["unobserved/price"])
    }

    @Test("L12: a responder observes what it implements")
    mutating func responders() {
        watch()
        let client = scenario.connect()
        let responder = scenario.respond("w", ["didMove", "didClose"], by: client)
        #expect(reports() == ["observed/didMove", "observed/didClose"])
        scenario.remove(responder, by: .client(client))
        #expect(reports() == ["unobserved/didMove", "unobserved/didClose"])
    }

    @Test(
        "L12: the first observer without a name observes all names, as far as somebody watches or posts them"
    )
    mutating func wildcards() {
        watch("price")
        watch("volume")
        let client = scenario.connect()
        scenario.post("posted")
        let named = scenario.observe("volume", by: client)
        #expect(reports() == ["observed/volume"])
        let wildcard = scenario.observe(nil, "x", by: client)
        #expect(reports() == ["observed/price"])
        scenario.observe(nil, nil, by: client)
        scenario.observe("price", by: client)
        scenario.remove(named, by: .client(client))
        #expect(reports() == [])
        scenario.remove(wildcard, by: .client(client))
        #expect(reports() == [])
        scenario.disconnect(client)
        #expect(reports() == ["unobserved/price", "unobserved/volume"])
    }

    @Test(
        "L12: who watches all names hears of those that were posted lately, not of the broker's own"
    )
    mutating func allNames() {
        scenario.post("posted")
        watch()
        let client = scenario.connect()
        scenario.observe("belfry.client.left", by: client)
        #expect(reports() == [])
        let wildcard = scenario.observe(nil, nil, by: client)
        #expect(reports() == ["observed/posted"])
        scenario.remove(wildcard, by: .client(client))
        #expect(reports() == ["unobserved/posted"])
    }

    @Test("L12, V13: an observer of a value observes no name, and leaves all as it was")
    mutating func values() {
        scenario.post("posted")
        watch()
        let client = scenario.connect()
        let looking = scenario.look("o", "", by: client)
        #expect(reports() == [])
        let named = scenario.observe("price", by: client)
        #expect(reports() == ["observed/price"])
        scenario.remove(looking, by: .client(client))
        #expect(reports() == [])
        scenario.remove(named, by: .client(client))
        #expect(reports() == ["unobserved/price"])
        scenario.look("o", "a", by: client)
        let wildcard = scenario.observe(nil, nil, by: client)
        #expect(reports() == ["observed/posted"])
        scenario.remove(wildcard, by: .client(client))
        #expect(reports() == ["unobserved/posted"])
    }

    @Test("L12: many names are told in shares, each as it is then")
    mutating func shares() {
        for number in 0..<100 { scenario.post("n\(number)") }
        watch()
        let client = scenario.connect()
        let wildcard = scenario.observe(nil, nil, by: client)
        scenario.apply(.endTurn(workLimit: 180))
        #expect(scenario.frames.count == 10 && scenario.center.needs.turnEnd)
        scenario.remove(wildcard, by: .client(client))
        #expect(reports() == (0..<10).map { "unobserved/n\($0)" })
        #expect(!scenario.center.needs.turnEnd)
    }

    @Test("L12: where nobody watches nothing is noted")
    mutating func nobodyWatches() {
        let client = scenario.connect()
        scenario.observe("price", by: client)
        #expect(!scenario.center.needs.turnEnd)
        watch()
        #expect(reports() == [])
        scenario.remove(name: "belfry.channel.observed", of: watcher)
        scenario.remove(name: "belfry.channel.unobserved", of: watcher)
        scenario.disconnect(client)
        #expect(!scenario.center.needs.turnEnd)
    }

    @Test("L12: observers that come back with a restart are no news")
    mutating func restarts() {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        stored.run { $0.observe("belfry.channel.observed", by: client, .hold) }
        stored.run { $0.observe("price", by: client, .hold) }
        stored.run { $0.apply(.endTurn(workLimit: .max)) }
        stored.restart()
        stored.run { $0.apply(.endTurn(workLimit: .max)) }
        stored.run { $0.back(client) }
        #expect(stored.scenario.frames == [])
    }

    @Test("L12, V13: an observer of a value that comes back with a restart observes no name")
    mutating func valuesAfterRestart() {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        stored.run { $0.look("o", "a", by: client) { $0.behavior = .hold } }
        stored.restart()
        let watcher = stored.run { $0.connect() }
        stored.run { $0.observe("belfry.channel.observed", by: watcher) }
        stored.run { $0.observe("price", by: watcher) }
        stored.run { $0.apply(.endTurn(workLimit: .max)) }
        #expect(stored.scenario.frames == ["belfry.channel.observed/price"])
    }
}
