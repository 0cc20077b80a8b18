import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: what walks look at, and in which shares (decision 121)")
struct WalkPriceTests {
    private static func shares(_ responding: inout Scenario.Responding) {
        responding.ifHeld = .share
    }

    private static func holdsOne(_ responding: inout Scenario.Responding) {
        responding.ifHeld = .share
        responding.behavior = .hold
        responding.concurrency = 1
    }

    private static func walk(
        _ scenario: Scenario, _ address: String, _ selector: String, passing shown: [UInt64] = []
    ) -> Walk {
        let selector = bytes(selector)
        return scenario.center.walk(
            from: [bytes(address)], for: selector.span, passing: FewList(shown))
    }

    // MARK: The price

    @Test("a walk looks at those alone that implement the selector, and each hop counts three")
    func price() {
        var scenario = Scenario()
        let client = scenario.connect()
        for number in 0..<100 {
            scenario.respond("w", ["a\(number)", "b"], by: client) {
                Self.shares(&$0)
                $0.next = "x"
            }
        }
        scenario.respond("x", ["c"], by: client)
        #expect(Self.walk(scenario, "w", "a7").lookCount == 4)
        #expect(Self.walk(scenario, "w", "b").lookCount == 103)
        #expect(Self.walk(scenario, "w", "c").lookCount == 7)
        #expect(Self.walk(scenario, "w", "nothing").lookCount == 6)
        #expect(Self.walk(scenario, "nobody", "b").lookCount == 3)
    }

    @Test(
        "many who were shown the ask are looked up in a set, which has its price",
        arguments: [16, 17])
    func passed(count: Int) {
        var scenario = Scenario()
        let client = scenario.connect()
        let holders = (0..<20).map { _ in scenario.respond("w", ["a"], by: client, Self.shares) }
        let walk = Self.walk(scenario, "w", "a", passing: Array(holders.prefix(count)))
        #expect(walk.lookCount == 23 + (count > 16 ? count : 0))
        guard case .ask(let slot) = walk.end else {
            Issue.record("nobody is asked")
            return
        }
        #expect(scenario.center.registry.observers[slot].serial == holders[count])
    }

    @Test("a holder that goes, and comes again, is found by what it implements then")
    func comingAndGoing() {
        var scenario = Scenario()
        let client = scenario.connect()
        let first = scenario.respond("w", ["a", "b"], by: client, Self.shares)
        scenario.respond("w", ["b"], by: client, Self.shares)
        scenario.apply(.removeObserver(serial: first, by: .client(client)))
        #expect(Self.walk(scenario, "w", "a").lookCount == 3)
        #expect(Self.walk(scenario, "w", "b").lookCount == 4)
        scenario.respond("w", ["a"], by: client) { $0.ifHeld = .replace }
        #expect(Self.walk(scenario, "w", "a").lookCount == 4)
        #expect(Self.walk(scenario, "w", "b").lookCount == 3)
    }

    @Test("the bound of a post counts what its actions look at")
    func bound() {
        var scenario = Scenario()
        let client = scenario.connect()
        for _ in 0..<10 { scenario.respond("pool", ["work"], by: client, Self.shares) }
        for _ in 0..<5 { scenario.wire("job", nil, "pool", "work", by: client) }
        let job = Notification.Content(name: bytes("job"))
        #expect(scenario.center.deliveryBound(of: job, limit: .max) == 5 + 5 * 13)
        // It ends where the limit is passed.
        #expect(scenario.center.deliveryBound(of: job, limit: 20) == 5 + 2 * 13)
        let other = Notification.Content(name: bytes("other"))
        #expect(scenario.center.deliveryBound(of: other, limit: .max) == 0)
    }

    // MARK: Explaining

    @Test(
        "explain tells of 1,000 who are stepped over, and that there are more",
        arguments: [1_000, 1_001])
    func skipped(count: Int) {
        var limits = CenterLimits()
        limits.holderLimit = 2_000
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        for _ in 0..<count { scenario.respond("w", ["a"], by: client, Self.shares) }
        let taker = scenario.respond("w", ["b"], by: client, Self.shares)
        let explanation = scenario.center.explainAsk(object: bytes("w"), selector: bytes("b"))
        #expect(explanation.outcome == .delivered(observer: taker))
        #expect(explanation.skipped.count == 1_000)
        #expect(explanation.isPartial == (count > 1_000))
    }

    // MARK: Shares

    @Test("asks that have lost their responder walk in shares, in the order of asking")
    func orphans() {
        var scenario = Scenario()
        let gone = scenario.connect()
        scenario.respond("w", ["a"], by: gone) { $0.concurrency = 1_000 }
        let asks = (0..<1_000).map { _ in scenario.ask("w", "a") { $0.lifetime = 60_000 } }
        scenario.apply(.removeClient(client: gone, by: .broker))
        let perCommand = Walk.share / (Walk.looksOfTurn + Walk.looksOfHop) + 1
        let ended = asks.filter { scenario.fate($0) == "no-responder" }
        #expect(ended == Array(asks.prefix(perCommand)))
        #expect(scenario.center.needs.turnEnd)
        // An ask that waits for its walk can be withdrawn, and reaches no responder then.
        scenario.apply(.withdraw(asks[999]))
        #expect(scenario.fate(asks[999]) == "withdrawn")
        var turnCount = 0
        while scenario.center.needs.turnEnd {
            scenario.apply(.endTurn(workLimit: 1))
            turnCount += 1
        }
        #expect(turnCount <= 1_000 / perCommand + 1)
        #expect(asks.dropLast().allSatisfy { scenario.fate($0) == "no-responder" })
    }

    @Test("what waits for a client is shown in steps of bytes, in the order of asking, each once")
    func steps() {
        var limits = CenterLimits()
        limits.flushByteLimit = 1_000
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client) { $0.behavior = .hold }
        scenario.suspend(client)
        let asks = (0..<50).map { _ in scenario.ask("w", "a") }
        scenario.endSuspension(client)
        var shown = scenario.effects.notifications.map(\.id)
        #expect(shown.count < 20)
        while shown.count < asks.count {
            let before = shown.count
            scenario.apply(.drain(client: client))
            shown += scenario.effects.notifications.map(\.id)
            if shown.count == before { break }
        }
        #expect(shown == asks)
    }

    @Test("an answer brings one responder of many its next ask, and the others none")
    func oneAnswer() {
        var scenario = Scenario()
        let client = scenario.connect()
        let holders = (0..<50).map { _ in scenario.respond("w", ["a"], by: client, Self.holdsOne) }
        let asks = (0..<200).map { _ in scenario.ask("w", "a") }
        let number = scenario.center.sequence - 49
        scenario.answer(holders[0], number, .result(bytes("1")))
        #expect(scenario.shown == ["o\(holders[0]) w.a"])
        #expect(scenario.effects.notifications.map(\.id) == [asks[50]])
    }

    @Test("asks of several selectors are taken in the order of asking, as far as there is room")
    func merging() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.suspend(client)
        let first = scenario.respond("w", ["a", "b"], by: client) {
            Self.holdsOne(&$0)
            $0.concurrency = 2
        }
        let second = scenario.respond("w", ["b", "c"], by: client, Self.holdsOne)
        let asks = ["b", "a", "c", "b", "a"].map { scenario.ask("w", $0) }
        scenario.endSuspension(client)
        #expect(
            scenario.shown == ["o\(first) w.b", "o\(first) w.a", "o\(second) w.c"])
        #expect(scenario.effects.notifications.map(\.id) == Array(asks.prefix(3)))
    }

    @Test("reports have a share of a command: those that are left come with the end of the turn")
    func reports() {
        var limits = CenterLimits()
        limits.clientObserverLimit = 30_000
        var scenario = Scenario(limits: limits)
        let watcher = scenario.connect()
        for _ in 0..<Work.reportShare { scenario.observe("belfry.responder.changed", by: watcher) }
        let client = scenario.connect()
        for number in 0..<3 { scenario.respond("w\(number)", ["a"], by: client) }
        scenario.apply(.removeClient(client: client, by: .broker))
        #expect(scenario.effects.deliveries.count == Work.reportShare)
        #expect(scenario.center.needs.turnEnd)
        scenario.apply(.endTurn(workLimit: 1))
        #expect(scenario.effects.deliveries.count == Work.reportShare)
        scenario.apply(.endTurn(workLimit: 1))
        #expect(scenario.effects.deliveries.count == Work.reportShare)
        // The last report is that of the client, and has no observer.
        scenario.apply(.endTurn(workLimit: 1))
        #expect(scenario.effects.deliveries.isEmpty)
        #expect(!scenario.center.needs.turnEnd)
    }

    @Test("a report for more than a share of observers waits for the end of the turn as a whole")
    func largeReport() {
        var limits = CenterLimits()
        limits.clientObserverLimit = 30_000
        var scenario = Scenario(limits: limits)
        let watcher = scenario.connect()
        for _ in 0...Work.reportShare {
            scenario.observe("belfry.responder.changed", by: watcher)
        }
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        #expect(scenario.effects.deliveries.isEmpty && scenario.center.needs.turnEnd)
        scenario.post("n")
        #expect(scenario.effects.deliveries.isEmpty)
        scenario.apply(.endTurn(workLimit: 1))
        #expect(scenario.effects.deliveries.count == Work.reportShare + 1)
        #expect(!scenario.center.needs.turnEnd)
    }

    // MARK: Actions that wait

    @Test("R14: an answer brings a responder its own next action, in their order")
    func heldActions() {
        var scenario = Scenario()
        let client = scenario.connect()
        let holders = ["x", "y"].map { address in
            scenario.respond(address, ["a", "do"], by: client) {
                $0.behavior = .hold
                $0.concurrency = 1
            }
        }
        for address in ["x", "y"] { scenario.wire("job", nil, address, "do", by: client) }
        for address in ["x", "y"] { scenario.ask(address, "a") }
        let number = scenario.center.sequence
        for _ in 0..<3 { scenario.press("job") }
        #expect(scenario.effects.deliveries.isEmpty)
        scenario.answer(holders[1], number, .result(bytes("1")))
        #expect(scenario.effects.deliveries.map(\.observer) == [1, 1, 1].map { holders[$0] })
        let sequences = scenario.effects.deliveries.map {
            scenario.effects.notifications[Int($0.notification)].sequence
        }
        #expect(sequences == sequences.sorted())
        scenario.answer(holders[0], number - 1, .result(bytes("1")))
        #expect(scenario.effects.deliveries.map(\.observer) == [0, 0, 0].map { holders[$0] })
    }
}
