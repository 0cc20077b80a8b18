import TestSupport
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: tokens and removal (rules O)")
struct ObserverTests {
    @Test("O1: registering answers the observer with the hash of its token")
    func registration() {
        var scenario = Scenario()
        let client = scenario.connect()
        let registration = scenario.registration("a", nil, selector: "input:")
        let outcome = scenario.apply(.addObserver(registration, client: client, since: nil))
        let row = ObserverRow(
            serial: 1, client: client, transport: .webSocket, name: bytes("a"), object: nil,
            selector: bytes("input:"), terms: registration.terms, since: 0, createdAt: 1_000,
            state: .live, stateSince: 1_000, principal: bytes("anonymous"),
            tally: ObserverTally(), held: 0,
            tokenHash: SecretHash(high: 1, low: 9))
        #expect(outcome == .registered([row]))
        #expect(scenario.center.observer(1) == row)
        #expect(row.tokenHash.matches(SecretHash(high: 1, low: 9)))
        #expect(!row.tokenHash.matches(SecretHash(high: 1, low: 8)))
        #expect(!row.tokenHash.matches(SecretHash(high: 0, low: 9)))
    }

    @Test("O1 (T41): registering produces no delivery")
    func silent() {
        var scenario = Scenario()
        scenario.post("a")
        let client = scenario.connect()
        scenario.observe("a", by: client)
        #expect(scenario.effects.deliveries.isEmpty && scenario.effects.notices.isEmpty)
    }

    @Test("O2 (T25): removing a client removes all of its observers, duplicates too")
    func removeClient() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.observe("a", by: client)
        let other = scenario.connect()
        let kept = scenario.observe("a", by: other)
        #expect(
            scenario.apply(.removeClient(client: client, by: .principal(bytes("root"))))
                == .removed(2))
        #expect(
            scenario.effects.notices
                == [.clientRemoved(connection: connection(101), transport: .webSocket)])
        #expect(scenario.post("a") == [kept])
        #expect(scenario.center.client(client) == nil)
        #expect(scenario.center.tombstone(1)?.reason == .clientRemoved)
        #expect(scenario.center.tombstone(2)?.removedBy == .principal(bytes("root")))
        #expect(
            scenario.apply(.removeClient(client: client, by: .broker))
                == .refused(.unknownClient))
    }

    @Test("O2: a connection that ends takes its observers along, and nobody is told")
    func disconnect() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client)
        #expect(scenario.disconnect(client) == .removed(1))
        #expect(scenario.effects.notices.isEmpty)
        #expect(scenario.center.tombstone(serial)?.reason == .connectionClosed)
        #expect(scenario.center.tombstone(serial)?.removedBy == .broker)
        #expect(scenario.center.clientCount == 0 && scenario.center.observerCount == 0)
        #expect(scenario.disconnect(client) == .done)
    }

    @Test("O2 (T29): removing by name takes all objects of it")
    func removeByName() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", "o", by: client)
        scenario.observe("a", "p", by: client)
        let other = scenario.observe("b", "o", by: client)
        #expect(scenario.remove(name: "a", of: client) == .removed(2))
        #expect(scenario.rows.map(\.serial) == [other])
    }

    @Test("O2: removing by name and object takes only observers with both")
    func removeByBoth() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", "o", by: client)
        let kept = [
            scenario.observe("a", "p", by: client), scenario.observe("a", by: client),
            scenario.observe(nil, "o", by: client), scenario.observe("b", "o", by: client),
        ]
        #expect(scenario.remove(name: "a", object: "o", of: client) == .removed(1))
        #expect(scenario.rows.map(\.serial) == kept)
    }

    @Test("O2: removal by filter takes only the client's own observers")
    func onlyOwn() {
        var scenario = Scenario()
        let first = scenario.connect()
        let second = scenario.connect()
        scenario.observe("a", by: first)
        let kept = scenario.observe("a", by: second)
        #expect(scenario.remove(name: "a", of: first) == .removed(1))
        #expect(scenario.post("a") == [kept])
        #expect(scenario.remove(name: "a", of: 99) == .refused(.unknownClient))
    }

    @Test("O3 (T28): removing a name leaves a wildcard registration alone")
    func wildcardStays() {
        var scenario = Scenario()
        let client = scenario.connect()
        let wildcard = scenario.observe(nil, by: client)
        scenario.observe("a", by: client)
        #expect(scenario.remove(name: "a", of: client) == .removed(1))
        #expect(scenario.post("a") == [wildcard])
    }

    @Test("O3: a name or object that nobody registered removes nothing", arguments: ["x", "A"])
    func unknownFilter(text: String) {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", "o", by: client)
        #expect(scenario.remove(name: text, of: client) == .removed(0))
        #expect(scenario.remove(object: text, of: client) == .removed(0))
        #expect(scenario.remove(name: "a", object: text, of: client) == .removed(0))
        #expect(scenario.center.observerCount == 1)
    }

    @Test("O4 (T26): the second removal is refused with the tombstone and touches nobody")
    func removeTwice() throws {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client)
        let other = scenario.observe("a", by: client)
        #expect(scenario.remove(serial, by: .client(client)) == .removed(1))
        let tombstone = try #require(scenario.center.tombstone(serial))
        #expect(
            scenario.remove(serial, by: .client(client)) == .refused(.observerRemoved(tombstone)))
        #expect(scenario.post("a") == [other])
    }

    @Test("O4: an observer that never was is refused as unknown", arguments: [0, 2, .max])
    func neverKnown(serial: UInt64) {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        #expect(scenario.remove(serial, by: .broker) == .refused(.unknownObserver))
        #expect(scenario.center.observer(serial) == nil)
    }

    @Test("O5: a stale token never reaches the observer that took its slot")
    func noAlias() {
        var scenario = Scenario()
        let client = scenario.connect()
        var removed: [UInt64] = []
        for _ in 0..<50 {
            let serial = scenario.observe("a", by: client)
            scenario.remove(serial, by: .client(client))
            removed.append(serial)
        }
        let alive = scenario.observe("a", by: client)
        for serial in removed { scenario.remove(serial, by: .client(client)) }
        #expect(Set(removed).count == 50)
        #expect(scenario.post("a") == [alive])
    }

    @Test("O6: an observer that nobody removes stays and keeps being called")
    func staysForEver() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client)
        for _ in 0..<100 {
            scenario.milliseconds += 86_400_000
            #expect(scenario.post("a") == [serial])
        }
        #expect(scenario.center.observer(serial)?.tally.delivered == 100)
    }

    @Test("O9 (T32): the owner hears who removed its observer and why")
    func ownerHears() throws {
        var scenario = Scenario()
        let owner = scenario.connect()
        let other = scenario.connect()
        let serial = scenario.observe("a", by: owner)
        scenario.remove(serial, by: .client(other))
        let tombstone = try #require(scenario.center.tombstone(serial))
        #expect(tombstone.removedBy == .client(other) && tombstone.reason == .removed)
        #expect(
            scenario.effects.notices == [
                .removed(
                    connection: connection(101), transport: .webSocket, observer: serial, tombstone)
            ])
    }

    @Test("O9 (T34): the tombstone tells when, by whom and why")
    func whoWhenWhy() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client)
        scenario.milliseconds = 9_000
        scenario.remove(serial, by: .client(client))
        #expect(scenario.effects.notices.isEmpty)
        let tombstone = scenario.center.tombstone(serial)
        #expect(tombstone?.removedAt == 9_000)
        #expect(tombstone?.removedBy == .client(client))
        #expect(tombstone?.reason == .removed)
    }

    @Test("O10 (T30): a removal without a criterion removes nothing")
    func noCriterion() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.observe(nil, by: client)
        #expect(scenario.remove(of: client) == .removed(0))
        #expect(scenario.center.observerCount == 2)
    }

    @Test("O11: a registration that cannot be is refused at once")
    func refusedAtOnce() {
        var scenario = Scenario()
        scenario.observe("a", by: 5)
        #expect(scenario.effects.outcome == .refused(.unknownClient))
        #expect(scenario.center.observerCount == 0)
    }

    @Test("O11: a client has as many observers as its limit, and not one more")
    func clientLimit() {
        var limits = CenterLimits()
        limits.clientObserverLimit = 3
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        for _ in 1...3 {
            scenario.observe("a", by: client)
            guard case .registered = scenario.effects.outcome else {
                Issue.record("refused")
                return
            }
        }
        scenario.observe("a", by: client)
        #expect(scenario.effects.outcome == .refused(.tooManyObservers(limit: 3)))
        scenario.remove(1, by: .client(client))
        scenario.observe("a", by: client)
        #expect(scenario.center.client(client)?.observerCount == 3)
    }

    @Test("O11: a client that connects with too many observers does not come into being")
    func connectLimit() {
        var limits = CenterLimits()
        limits.clientObserverLimit = 2
        var scenario = Scenario(limits: limits)
        let three = ["a", "b", "c"].map { scenario.registration($0) }
        let refused = scenario.connect(three)
        #expect(scenario.effects.outcome == .refused(.tooManyObservers(limit: 2)))
        #expect(scenario.center.client(refused) == nil && scenario.center.observerCount == 0)
        let accepted = scenario.connect(Array(three.prefix(2)))
        #expect(scenario.center.client(accepted)?.observerCount == 2)
    }

    @Test("O5 (T44): observers that come and go in any order leave counters that agree")
    func churn() {
        var scenario = Scenario()
        var generator = SplitMix(seed: 44)
        let clients = (0..<5).map { _ in scenario.connect() }
        var deliveries: [UInt64: UInt64] = [:]
        var alive: [UInt64] = []
        for _ in 0..<300 {
            switch generator.below(3) {
            case 0: alive.append(scenario.observe("a", by: clients[generator.below(5)]))
            case 1: for serial in scenario.post("a") { deliveries[serial, default: 0] += 1 }
            default:
                guard !alive.isEmpty else { continue }
                let serial = alive.remove(at: generator.below(alive.count))
                scenario.remove(serial, by: .broker)
            }
        }
        #expect(scenario.rows.map(\.serial) == alive)
        for row in scenario.rows { #expect(row.tally.delivered == deliveries[row.serial] ?? 0) }
    }
}
