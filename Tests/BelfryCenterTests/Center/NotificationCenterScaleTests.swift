import Testing

@testable import BelfryCenter

/// Work is counted, not timed: adding and removing n observers must not take n steps for each.
@Suite("NotificationCenter with many observers")
struct NotificationCenterScaleTests {
    private static let count = 20_000

    private enum Order: CaseIterable { case rising, falling, shuffled, byFilter, wholeClient }

    private func name(_ number: Int, isWildcard: Bool) -> String? {
        isWildcard ? nil : "name\(number)"
    }

    @Test(
        "one client's observers can be removed in any order, wildcards or not",
        arguments: Order.allCases, [true, false])
    private func removal(order: Order, isWildcard: Bool) {
        var limits = CenterLimits()
        limits.clientObserverLimit = Self.count
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let registrations = (0..<Self.count).map { number in
            scenario.registration(name(number, isWildcard: isWildcard), "o")
        }
        for registration in registrations {
            scenario.apply(.addObserver(registration, client: client, since: nil))
        }
        #expect(scenario.center.observerCount == Self.count)
        var serials = registrations.map(\.serial)
        switch order {
        case .rising: break
        case .falling: serials.reverse()
        case .shuffled:
            var generator = SeededGenerator(seed: 7)
            for place in serials.indices {
                serials.swapAt(place, place + generator.below(serials.count - place))
            }
        case .byFilter:
            #expect(scenario.remove(object: "o", of: client) == .removed(Self.count))
            serials = []
        case .wholeClient:
            #expect(scenario.disconnect(client) == .removed(Self.count))
            serials = []
        }
        for serial in serials { scenario.remove(serial, by: .broker) }
        #expect(scenario.center.observerCount == 0)
        #expect(scenario.center.index.isEmpty)
        #expect(scenario.post("name1", "o") == [])
    }

    @Test("observers of other names cost a post nothing: their buckets are not looked at")
    func unrelated() {
        var scenario = Scenario()
        let client = scenario.connect()
        for number in 0..<5_000 { scenario.observe("one-off \(number)", by: client) }
        let channels = scenario.center.index.channels
        #expect(channels.index(of: bytes("Orders").span) == nil)
        let serial = scenario.observe("Orders", by: client)
        #expect(scenario.post("Orders") == [serial])
    }

    @Test("a stream with many filters replays by look-up, and each gets what it asked for")
    func manyFilters() {
        var scenario = Scenario()
        for number in 0..<1_000 { scenario.post("n\(number % 100)", "o\(number % 10)") }
        let registrations = (0..<5_000).map { number in
            scenario.registration("n\(number % 200)", "o\(number / 200)")
        }
        _ = scenario.connect(registrations, since: 0, transport: .events)
        // Each post has one observer of its name and object: names and objects below 10 agree.
        #expect(scenario.effects.deliveries.count == 1_000)
        #expect(scenario.effects.notifications.count == 1_000)
    }
}
