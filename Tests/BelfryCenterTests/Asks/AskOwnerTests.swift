import Testing

@testable import BelfryCenter

@Suite("What open asks cost their owners")
struct AskOwnerTests {
    private static let p = Owner(number: 1)

    /// The end of an ask that observer 1 was shown with the number 1.
    enum End: CaseIterable {
        case answered, refused, passed, oversized, withdrawn, late, responderGone, askerGone
    }

    /// A center with a responder, client 1, and an asker, client 2.
    private static func scenario(isDurable: Bool = false) -> Scenario {
        var limits = CenterLimits()
        limits.isDurable = isDurable
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        _ = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        return scenario
    }

    /// Asks for the owner, with ten bytes.
    private static func ask(
        _ scenario: inout Scenario, _ change: (inout Scenario.Asking) -> Void = { _ in }
    ) -> NotificationID {
        scenario.ask("w", "a") {
            $0.userInfo = #"{"a":1}"#
            $0.fallback = "2"
            $0.terms.client = 2
            $0.terms.owner = p
            change(&$0)
        }
    }

    @Test(
        "an ask counts from its beginning to whatever end, and no longer",
        arguments: End.allCases)
    func ends(end: End) throws {
        var scenario = Self.scenario()
        let id = Self.ask(&scenario)
        let texts = scenario.center.holdings(of: Self.p).texts
        #expect(texts[.asks].byteCount == 10 && texts[.asks].cost > 256)
        for kind in TextKind.allCases where kind != .asks { #expect(texts[kind] == (0, 0)) }
        switch end {
        case .answered: scenario.answer(1, 1, .result(bytes("1")))
        case .refused: scenario.answer(1, 1, .refusal([]))
        case .passed: scenario.answer(1, 1, .passed([]))
        case .oversized: scenario.answer(1, 1, .oversized(error: []))
        case .withdrawn: scenario.apply(.withdraw(id))
        case .late: scenario.pass(milliseconds: 5_000)
        case .responderGone: scenario.remove(1, by: .broker)
        case .askerGone: scenario.cut(2)
        }
        #expect(scenario.fate(id) != "open")
        #expect(scenario.center.holdings(of: Self.p).isNone)
        #expect(scenario.center.takeOwnedGrowth().values.allSatisfy { $0.isNone })
    }

    @Test("one that is refused, or decided at once, costs nothing")
    func atOnce() {
        var scenario = Self.scenario()
        _ = Self.ask(&scenario) { $0.terms.byteRoom = 9 }
        #expect(scenario.effects.outcome == .refused(.askBytesFull))
        #expect(scenario.center.holdings(of: Self.p).isNone)
        scenario.ask("nobody", "a") { $0.terms.owner = Self.p }
        #expect(scenario.answers == ["no-responder"])
        #expect(scenario.center.holdings(of: Self.p).isNone)
        _ = Self.ask(&scenario) { $0.terms.byteRoom = 10 }
        #expect(scenario.isAwaiting)
        #expect(scenario.center.holdings(of: Self.p).texts[.asks].byteCount == 10)
    }

    @Test("each owner has its own, and those of nobody count for nobody")
    func several() {
        var scenario = Self.scenario()
        let other = Owner(number: 2)
        for owner in [Self.p, other, .none, other] {
            _ = Self.ask(&scenario) { $0.terms.owner = owner }
        }
        let one = scenario.center.holdings(of: Self.p).texts[.asks]
        let two = scenario.center.holdings(of: other).texts[.asks]
        #expect(two.byteCount == 2 * one.byteCount && two.cost == 2 * one.cost)
        #expect(scenario.center.holdings(of: .none).isNone)
        for sequence in 1...4 { scenario.answer(1, UInt64(sequence), .result(bytes("1"))) }
        for owner in [Self.p, other] { #expect(scenario.center.holdings(of: owner).isNone) }
    }

    @Test("an ask that a store has kept counts for its principal, and no longer than it is open")
    func restarts() {
        var stored = StoredScenario()
        let mailbox = stored.run { $0.respondingMailbox("w", ["a"]) }
        let id = stored.run { scenario in
            Self.ask(&scenario) {
                $0.terms.client = nil
                $0.terms.principal = bytes("p")
                $0.wait = 0
                $0.lifetime = 60_000
            }
        }
        #expect(stored.scenario.fate(id) == "open" && mailbox == 1)
        let texts = stored.scenario.center.holdings(of: Self.p).texts
        #expect(texts[.asks].byteCount == 10)
        stored.restart()
        #expect(stored.scenario.center.holdings(of: Self.p).isNone)
        stored.scenario.center.assignOwners { $0 == bytes("p") ? Self.p : .none }
        #expect(stored.scenario.center.holdings(of: Self.p).texts == texts)
        stored.run { $0.pass(milliseconds: 60_000) }
        #expect(stored.scenario.fate(id) != "open")
        #expect(stored.scenario.center.holdings(of: Self.p).isNone)
    }
}
