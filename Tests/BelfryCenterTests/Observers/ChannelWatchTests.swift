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
        "L12: the first observer without a name observes all names that somebody watches or posts"
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

    /// Registers an observer with a prefix of names or with a set of them.
    @discardableResult
    private mutating func observe(
        prefix: String? = nil, names: [String] = [], by client: UInt64
    ) -> UInt64 {
        var terms = FilterTerms()
        terms.namePrefix = prefix.map { bytes($0) }
        terms.names = names.map { bytes($0) }
        let plain = scenario.registration(nil)
        let registration = ObserverRegistration(
            serial: plain.serial, tokenHash: plain.tokenHash, name: nil, object: nil,
            selector: plain.selector, terms: plain.terms, role: .filtered(terms, target: nil))
        scenario.apply(.addObserver(registration, client: client, since: nil))
        return plain.serial
    }

    @Test("L12: a prefix observes the watched and the posted names that begin so, until it goes")
    mutating func prefixes() {
        for name in ["Order.new", "Order.posted", "other"] { scenario.post(name) }
        watch()
        for name in ["Order.new", "Order.watched", "Orde"] { watch(name) }
        let client = scenario.connect()
        // Those that are watched by name are told to two observers.
        let names = ["Order.new", "Order.new", "Order.posted", "Order.watched", "Order.watched"]
        let first = observe(prefix: "Order.", by: client)
        #expect(reports().sorted() == names.map { "observed/\($0)" })
        observe(prefix: "Order.", by: client)
        observe(prefix: "Order.n", by: client)
        observe(names: ["Order.watched", "more"], by: client)
        #expect(reports() == ["observed/more"])
        scenario.remove(first, by: .client(client))
        #expect(reports() == [])
        scenario.disconnect(client)
        #expect(reports().sorted() == (names + ["more"]).map { "unobserved/\($0)" })
    }

    @Test("L12: a prefix that another one follows in one turn changes nothing")
    mutating func followingPrefixes() {
        watch("ab")
        let client = scenario.connect()
        var last = observe(prefix: "a", by: client)
        #expect(reports() == ["observed/ab"])
        for prefix in ["ab", "a", "ab"] {
            let next = observe(prefix: prefix, by: client)
            scenario.remove(last, by: .client(client))
            last = next
        }
        scenario.remove(last, by: .client(client))
        observe(names: ["ab", "c"], by: client)
        #expect(reports() == [])
    }

    @Test("L12: the row of a name counts observers of it, of a set, of a prefix and of all names")
    mutating func rows() {
        let all: NotificationCenter.Visibility = { _, _ in true }
        func counts(_ center: NotificationCenter) -> [Int?] {
            ["Order.x", "Order.new", "a", "other", "belfry.client.left"].map { name in
                var query = ObserverQuery()
                query.name = bytes(name)
                return center.channels(matching: query, visible: all).rows.first?.observerCount
            }
        }
        let client = scenario.connect()
        scenario.post("Order.x")
        #expect(counts(scenario.center) == [0, nil, nil, nil, nil])
        observe(prefix: "Order.", by: client)
        observe(prefix: "Order.", by: client)
        observe(prefix: "O", by: client)
        observe(names: ["Order.x", "a"], by: client)
        observe(prefix: "belfry.client.", by: client)
        observe(prefix: "bel", by: client)
        #expect(counts(scenario.center) == [4, 3, 1, nil, 1])
        scenario.observe(where: #"{"v":1}"#, by: client)
        scenario.observe(nil, "o", by: client)
        #expect(counts(scenario.center) == [6, 5, 3, 2, 1])
        // Whole and sorted listings count the same.
        for order in [nil, RowOrder.observers] {
            var query = ObserverQuery()
            query.order = order
            let rows = scenario.center.channels(matching: query, visible: all).rows
            #expect(rows.map(\.observerCount).sorted() == [3, 6])
            #expect(rows.map(\.namedCount) == [1, 1])
        }
        scenario.disconnect(client)
        #expect(counts(scenario.center) == [0, nil, nil, nil, nil])
    }

    @Test("a client that leaves with many prefixes has each watched name looked at once")
    mutating func manyPrefixes() throws {
        for number in 0..<100 { watch("name\(number)") }
        watch()
        for number in 0..<50 { scenario.post("name\(number)") }
        let client = scenario.connect()
        for number in 0..<100 { observe(prefix: String("name\(number)".dropLast()), by: client) }
        _ = reports()
        // Each removal notes its prefix; what begins with it is looked for behind the last one.
        let slot = try #require(scenario.center.registry.clients.slot(of: client))
        var hasCrossings = false
        for slot in scenario.center.registry.observerSlots(of: slot) {
            _ = scenario.center.remove(
                slot, by: .broker, reason: .removed, at: scenario.time, &scenario.effects)
            hasCrossings = hasCrossings || scenario.center.registry.watch.hasCrossings
        }
        #expect(!hasCrossings)
        let taken = scenario.center.registry.watch.takeGonePrefixes()
        let prefixes = try #require(taken)
        let names = scenario.center.registry.spreadNames(beginningWith: prefixes)
        #expect(names.count == 150 && Set(names).count == 100)
    }

    @Test("what a prefix costs does not depend on the watched names that begin otherwise")
    func looks() {
        var (watch, prefixes) = (ChannelWatch(), PrefixTable())
        for number in 0..<1_000 { watch.add(watching: bytes("n\(number)")) }
        for prefix in ["n77", "n7", "n775", "x", "n12"] { _ = prefixes.insert(bytes(prefix).span) }
        var names: [[UInt8]] = []
        watch.forEachName(beginningWith: prefixes) { names.append($0) }
        #expect(names.count == 111 + 11 && Set(names).count == names.count)
    }

    @Test("watched names come back with a state, each with its watchers")
    mutating func restored() throws {
        for name in ["b", "ba", "b", "a"] { watch(name) }
        scenario.remove(1, by: .broker)
        scenario.center = try NotificationCenter(
            snapshot: scenario.center.snapshot(), seed: HashSeed(3, 4))
        for serial in 2...6 as ClosedRange<UInt64> { scenario.remove(serial, by: .broker) }
        let client = scenario.connect()
        observe(prefix: "b", by: client)
        scenario.observe("a", by: client)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["belfry.channel.observed/a"])
        scenario.remove(7, by: .broker)
        scenario.disconnect(client)
        scenario.apply(.endTurn(workLimit: .max))
        #expect(scenario.frames == ["belfry.channel.unobserved/a"])
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
