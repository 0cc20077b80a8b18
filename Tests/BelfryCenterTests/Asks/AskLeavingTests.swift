import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: askers that go away (Rules.md, R16, R17, R20)")
struct AskLeavingTests {
    private static func key(_ principal: String = "p") -> IdempotencyKey {
        IdempotencyKey(
            principal: bytes(principal), text: bytes("k"), requestHash: SecretHash(high: 1, low: 2),
            form: 3)
    }

    /// Asks with the key over HTTP, or over the connection of a client, and tells the command.
    private func ask(
        _ scenario: inout Scenario, by client: UInt64? = nil, wait: Int64? = nil
    ) -> CommandID {
        scenario.ask("w", "a") {
            $0.terms.principal = bytes("p")
            $0.terms.client = client
            $0.terms.key = Self.key()
            $0.wait = wait
        }
        return CommandID(node: 1, incarnation: 1, counter: scenario.center.appliedIndex)
    }

    /// Asks without a key, as a client or over HTTP.
    private func askAnother(_ scenario: inout Scenario, by client: UInt64? = nil) {
        scenario.ask("w", "a") {
            $0.terms.principal = bytes("p")
            $0.terms.client = client
        }
    }

    @Test("R16, R17: who goes takes its own place; the last one withdraws the ask")
    func lastOneWithdraws() {
        var scenario = Scenario()
        let responder = scenario.respond("w", ["a"], by: scenario.connect())
        let (first, second) = (scenario.connect(), scenario.connect())
        let name = ask(&scenario, by: first)
        guard case .awaiting(let id) = scenario.effects.outcome else {
            Issue.record("it is waited for")
            return
        }
        _ = ask(&scenario, by: second)
        #expect(scenario.effects.outcome == .awaiting(id) && scenario.shown.isEmpty)
        let third = ask(&scenario)
        scenario.cut(first)
        #expect(scenario.answers == ["withdrawn"] && scenario.settled.isEmpty)
        #expect(scenario.effects.askCompletions.map(\.command) == [name])
        #expect(scenario.fate(id) == "open")
        scenario.apply(.leaveAsk(id, third))
        #expect(scenario.answers == ["withdrawn again"] && scenario.fate(id) == "open")
        // An end that is known already takes nothing away.
        scenario.apply(.leaveAsk(id, third))
        #expect(scenario.answers.isEmpty && scenario.fate(id) == "open")
        scenario.cut(second)
        #expect(scenario.settled == ["o\(responder) withdrawn"])
        #expect(scenario.fate(id) == "withdrawn")
        #expect(scenario.center.keyCount == 0)
    }

    @Test("R17: the second gets the answer when the first is gone")
    func secondIsAnswered() {
        var scenario = Scenario()
        let responder = scenario.respond("w", ["a"], by: scenario.connect())
        let first = scenario.connect()
        _ = ask(&scenario, by: first)
        _ = ask(&scenario)
        scenario.cut(first)
        scenario.answer(responder, 1, .result(bytes("1")))
        #expect(scenario.answers == ["1 by o\(responder) again"])
        _ = ask(&scenario)
        #expect(scenario.answers == ["1 by o\(responder) again"])
    }

    @Test("R14, R17: an ask counts for each who waits for it, until that one goes or it is over")
    func placesAreCounted() {
        var limits = CenterLimits()
        limits.clientAskLimit = 1
        var scenario = Scenario(limits: limits)
        let responder = scenario.respond("w", ["a"], by: scenario.connect())
        let client = scenario.connect()
        let first = ask(&scenario)
        guard case .awaiting(let id) = scenario.effects.outcome else {
            Issue.record("it is waited for")
            return
        }
        _ = ask(&scenario, by: client)
        _ = ask(&scenario, by: client)
        #expect(scenario.effects.outcome == .refused(.tooManyAsks(limit: 1)))
        // The principal is free when its request is gone; the ask counts for the client that still
        // waits.
        scenario.apply(.leaveAsk(id, first))
        askAnother(&scenario)
        #expect(scenario.isAwaiting)
        askAnother(&scenario, by: client)
        #expect(scenario.effects.outcome == .refused(.tooManyAsks(limit: 1)))
        scenario.answer(responder, 1, .result(bytes("1")))
        askAnother(&scenario, by: client)
        #expect(scenario.isAwaiting)
        scenario.answer(responder, 2, .result(bytes("1")))
        askAnother(&scenario)
        #expect(scenario.isAwaiting)
    }

    @Test("R14: who was told that the ask is open waits no more; it counts for its asker alone")
    func openCountsForAsker() {
        var limits = CenterLimits()
        limits.clientAskLimit = 1
        var scenario = Scenario(limits: limits)
        scenario.respond("w", ["a"], by: scenario.connect())
        let client = scenario.connect()
        _ = ask(&scenario, wait: 1_000)
        _ = ask(&scenario, by: client, wait: 1_000)
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.answers == ["open", "open again"])
        askAnother(&scenario, by: client)
        #expect(scenario.isAwaiting)
        askAnother(&scenario)
        #expect(scenario.effects.outcome == .refused(.tooManyAsks(limit: 1)))
    }

    @Test("R16, R20: one that goes before it is told 202 withdraws its ask, in the store too")
    func goesBeforeItIsTold() {
        var limits = CenterLimits()
        limits.isDurable = true
        var scenario = Scenario(limits: limits)
        scenario.respond("w", ["a"], by: scenario.connect())
        let client = scenario.connect()
        let id = scenario.ask("w", "a") {
            $0.terms.client = client
            $0.wait = 1_000
            $0.lifetime = 60_000
        }
        let told = scenario.ask("w", "a") {
            $0.terms.client = client
            $0.wait = 500
            $0.lifetime = 60_000
        }
        scenario.pass(milliseconds: 500)
        #expect(scenario.answers == ["open"])
        scenario.cut(client)
        #expect(scenario.fate(id) == "withdrawn" && scenario.fate(told) == "open")
        let ends = scenario.effects.changes.compactMap { change in
            if case .ask(let record) = change { record.end?.outcome.state } else { nil }
        }
        #expect(ends == [.withdrawn])
    }

    @Test(
        "R20: a center that stops tells those whose asks go on, where they go on",
        arguments: [true, false])
    func stopping(isDurable: Bool) {
        var limits = CenterLimits()
        limits.isDurable = isDurable
        var scenario = Scenario(limits: limits)
        scenario.respond("w", ["a"], by: scenario.connect())
        scenario.ask("w", "a")
        scenario.ask("w", "a") { $0.wait = 1_000 }
        scenario.apply(.terminate)
        #expect(scenario.answers == (isDurable ? ["open"] : []))
        scenario.apply(.terminate)
        #expect(scenario.answers.isEmpty)
    }
}
