import BelfryJSON
import TestSupport
import Testing

@testable import BelfryCenter

@Suite("FilterIndex (rules P and W)")
struct FilterIndexTests {
    @Test(
        "the last observer with a prefix goes, and another one may come",
        arguments: [true, false])
    func lastPrefix(isOfName: Bool) {
        var index = ObserverIndex(seed: HashSeed(1, 2), unobservedNameLimit: 10)
        var terms = FilterTerms()
        if isOfName { terms.namePrefix = bytes("a.") } else { terms.objectPrefix = bytes("a.") }
        for serial in UInt64(1)...3 {
            let place = index.add(terms, name: nil, object: nil, serial: serial, slot: 0)
            #expect(index.filters.names.count == (isOfName ? 1 : 0))
            #expect(index.filters.objects.count == (isOfName ? 0 : 1))
            index.remove(terms, serial: serial, from: place)
            #expect(index.isEmpty)
            #expect(index.filters.names.count + index.filters.objects.count == 0)
        }
    }

    @Test("P5: observers of all kinds come in registration order, though no finer one matches")
    func order() throws {
        var scenario = Scenario()
        let client = scenario.connect()
        let everything = scenario.observe(nil, by: client)
        let object = scenario.observe(nil, "o", by: client)
        let name = scenario.observe("a", by: client)
        var terms = FilterTerms()
        terms.namePrefix = bytes("a")
        terms.condition = try JSONCondition(bytes(#"{"n":1}"#).span)
        let finer = scenario.observe(terms, by: client)
        let both = scenario.observe("a", "o", by: client)
        #expect(scenario.post("a", "o") == [everything, object, name, both])
        #expect(
            scenario.post("a", "o", userInfo: #"{"n":1}"#)
                == [everything, object, name, finer, both])
        #expect(scenario.post("b", "o") == [everything, object])
    }

    @Test("W8: a full store refuses no post because of an observer that is filtered out")
    func fullStore() throws {
        var limits = CenterLimits()
        limits.isDurable = true
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        var terms = FilterTerms()
        terms.condition = try JSONCondition(bytes(#"{"n":1}"#).span)
        scenario.observe(terms, by: client)
        scenario.apply(.setSuspended(client: client, true))
        var full = PostTerms()
        full.canStore = false
        let other = scenario.newPost("a", userInfo: #"{"n":2}"#)
        #expect(scenario.apply(.post(other, full)) == .done)
        let wanted = scenario.newPost("a", userInfo: #"{"n":1}"#)
        #expect(scenario.apply(.post(wanted, full)) == .refused(.cannotStore))
    }

    @Test("W9: the conditions of one replay do the work of one post; the rest is a gap")
    func replayWork() throws {
        var scenario = Scenario()
        let text = String(repeating: "x", count: 100_000)
        for number in 1...40 {
            scenario.post("a", userInfo: #"{"n":\#(number),"s":"\#(text)"}"#)
        }
        let readable = ConditionTruth.workLimit / 100_000
        // The ring is 4 MB, which a replay reads twice, and no third time.
        let client = scenario.connect()
        for number in 1...3 {
            let terms = try terms(where: #"{"n":{"above":\#(36 + number)}}"#)
            scenario.observe(terms, by: client, since: 0)
            #expect(scenario.effects.deliveries.count == 4 - number)
            #expect(scenario.effects.notices.isEmpty)
        }
        let registrations = try (1...3).map { number in
            let terms = try terms(where: #"{"n":{"above":\#(36 + number)}}"#)
            return scenario.registration(terms)
        }
        _ = scenario.connect(registrations, since: 0)
        let gaps = scenario.effects.notices.compactMap { notice -> Gap? in
            guard case .gap(_, _, let gap) = notice else { return nil }
            return gap
        }
        #expect(readable < 3 * 40 && gaps.count == 3)
        for gap in gaps {
            #expect(gap.reason == .overflow && gap.lostCount == nil && gap.lastSequence == 40)
        }
        #expect(scenario.effects.deliveries.isEmpty)
    }

    @Test("W9: a client that comes back has the same limit of work")
    func resumeWork() throws {
        var scenario = Scenario()
        let client = scenario.connect()
        for number in 1...3 {
            let terms = try terms(where: #"{"n":{"above":\#(36 + number)}}"#)
            var lasting = ObserverTerms()
            lasting.suspensionBehavior = .drop
            scenario.observe(terms, by: client, lasting)
        }
        let text = String(repeating: "x", count: 100_000)
        scenario.disconnect(client)
        for number in 1...40 {
            scenario.post("a", userInfo: #"{"n":\#(number),"s":"\#(text)"}"#)
        }
        let newcomer = scenario.connect()
        scenario.apply(
            .resume(Resumption(newcomer: newcomer, client: client, after: 0)))
        let reasons = scenario.effects.notices.compactMap { notice -> Gap? in
            guard case .gap(_, _, let gap) = notice else { return nil }
            return gap
        }
        #expect(reasons.contains { $0.reason == .overflow && $0.observer == 3 })
        #expect(!reasons.contains { $0.reason == .overflow && $0.observer != 3 })
        var observers = scenario.effects.deliveries.map(\.observer)
        scenario.apply(.drain(client: client))
        observers += scenario.effects.deliveries.map(\.observer)
        #expect(observers.sorted() == [1, 1, 1, 2, 2])
    }

    @Test("W11: the conditions of others take nothing from whoever is under a grant")
    func grantWork() throws {
        var scenario = Scenario()
        let client = scenario.connect()
        for number in 0..<4 {
            var others = try terms(where: #"{"s":{"contains":"no\#(number)"}}"#)
            others.grants = [try Self.team("ops")]
            scenario.observe(others, by: client)
        }
        var own = FilterTerms()
        own.grants = [try Self.team("eng")]
        let wanted = scenario.observe(own, by: client)
        let text = String(repeating: "x", count: 250_000)
        scenario.post("a", userInfo: #"{"s":"\#(text)","team":"eng"}"#)
        #expect(scenario.effects.deliveries.map(\.observer) == [wanted])
        #expect(scenario.effects.notices.isEmpty)
    }

    @Test("law 3: whoever may know of a notification, and cannot be asked, is told and counted")
    func unasked() throws {
        var scenario = Scenario()
        let client = scenario.connect()
        var observers: [UInt64] = []
        for number in 0..<8 {
            var own = try terms(where: #"{"s":{"contains":"no\#(number)"}}"#)
            own.grants = [try Self.team(number % 2 == 0 ? "eng" : "ops")]
            observers.append(scenario.observe(own, by: client))
        }
        for number in 0..<4 {
            let own = try terms(where: #"{"s":{"contains":"yes\#(number)"}}"#)
            observers.append(scenario.observe(own, by: client))
        }
        let userInfo = #"{"s":"\#(String(repeating: "x", count: 250_000))","team":"eng"}"#
        scenario.post("a", userInfo: userInfo)
        let told = scenario.effects.notices.compactMap { notice -> UInt64? in
            guard case .gap(_, _, let gap) = notice, gap.reason == .overflow else { return nil }
            return gap.observer
        }
        // Half of those under a grant are excluded by it, and four conditions are asked.
        #expect(told.count == 4)
        #expect(!told.contains { observers[..<8].firstIndex(of: $0).map { $0 % 2 == 1 } ?? false })
        let receipt = try #require(scenario.effects.receipts.last)
        #expect((receipt.matched, receipt.dropped) == (4, 4))
        let explanation = scenario.center.explain(
            name: bytes("a"), object: nil, userInfo: bytes(userInfo)
        ) { _, _ in true }
        #expect(explanation.observers.map { $0.0.serial }.sorted() == told.sorted())
        #expect(explanation.observers.allSatisfy { $0.1.outcome == .dropped })
    }

    private static func team(_ name: String) throws -> GrantCondition {
        GrantCondition(
            alternatives: [try JSONCondition(bytes(#"{"team":"\#(name)"}"#).span)])
    }

    private func terms(where condition: String) throws -> FilterTerms {
        var terms = FilterTerms()
        terms.condition = try JSONCondition(bytes(condition).span)
        return terms
    }
}
