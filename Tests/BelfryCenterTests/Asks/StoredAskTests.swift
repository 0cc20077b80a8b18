import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: asks that outlive their askers (Rules.md, R20)")
struct StoredAskTests {
    private static func limits() -> CenterLimits {
        var limits = CenterLimits()
        limits.isDurable = true
        return limits
    }

    /// The records of asks that the last command has changed.
    private func records(_ scenario: Scenario) -> [AskRecord] {
        scenario.effects.changes.compactMap { change in
            if case .ask(let record) = change { record } else { nil }
        }
    }

    @Test("R20: an ask that is answered 202 is told to the store; one that is waited for is not")
    func isTold() {
        var scenario = Scenario(limits: Self.limits())
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a")
        #expect(records(scenario).isEmpty)
        let id = scenario.ask("w", "a") { $0.wait = 0 }
        #expect(records(scenario).last?.id == id)
        #expect(records(scenario).last?.observer == responder)
        scenario.answer(responder, 2, .result(bytes("true")))
        let end = records(scenario).last?.end
        #expect(
            end?.outcome.state
                == .answered(
                    AskAnswer(bytes("true"), observer: responder, principal: bytes("anonymous"))))
        #expect(end?.forgottenAt == scenario.milliseconds + 86_400_000)
        scenario.pass(milliseconds: 86_400_000)
        #expect(scenario.effects.changes.contains(.askForgotten(id)))
    }

    @Test("R6, R20: what waits for one that does not hold goes on when that has become busy")
    func goesOnWhenShown() {
        var scenario = Scenario(limits: Self.limits())
        let (client, other) = (scenario.connect(), scenario.connect())
        scenario.respond("w", ["a"], by: client) {
            $0.behavior = .hold
            $0.concurrency = 1
        }
        let asks = (1...3).map { _ in
            let id = scenario.ask("w", "a") { $0.wait = 0 }
            scenario.commit()
            return id
        }
        let second = scenario.respond("w", ["a"], by: other) { $0.concurrency = 1 }
        scenario.apply(.drain(client: other))
        scenario.commit()
        #expect(scenario.shown == ["o\(second) w.a"])
        #expect(asks.map { scenario.fate($0) } == ["open", "responder-busy", "responder-busy"])
    }

    @Test("R20: where nothing can be stored, what must last is refused")
    func cannotBeStored() {
        var scenario = Scenario(limits: Self.limits())
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a") {
            $0.wait = 0
            $0.terms.canStore = false
        }
        #expect(scenario.effects.outcome == .refused(.cannotStore))
        scenario.ask("w", "a") { $0.terms.canStore = false }
        #expect(scenario.isAwaiting)
    }

    @Test(
        "R17: an ask that outlives its asker is stored under its key before anybody is told of it"
    )
    func keyIsTold() {
        func told(_ scenario: Scenario) -> [AskOutcome?] {
            scenario.effects.changes.compactMap { change in
                if case .key(let record) = change { record.ask } else { nil }
            }
        }
        var scenario = Scenario(limits: Self.limits())
        scenario.respond("w", ["a"], by: scenario.connect())
        let key = IdempotencyKey(
            principal: bytes("p"), text: bytes("k"), requestHash: SecretHash(high: 1, low: 1),
            form: 0)
        let id = scenario.ask("w", "a") {
            $0.wait = 500
            $0.terms.key = key
        }
        #expect(told(scenario).map { $0?.id } == [id])
        // No answer comes in time: the key is free again, in the store too.
        scenario.pass(milliseconds: 400)
        scenario.apply(.withdraw(id))
        #expect(
            scenario.effects.changes.contains(
                .keyForgotten(principal: bytes("p"), text: bytes("k"))))
        scenario.ask("w", "a") { $0.terms.key = key }
        #expect(told(scenario).isEmpty)
    }

    /// A stored center with a responder that holds, restarted so much later.
    private func restarted(
        after milliseconds: Int64, isOnce: Bool = false, behavior: SuspensionBehavior = .hold
    ) -> (scenario: Scenario, client: UInt64, responder: UInt64, ask: NotificationID) {
        var scenario = Scenario(limits: Self.limits())
        var image = CenterImage(name: bytes("default"), epoch: bytes("k1"))
        func note(_ scenario: Scenario) {
            for change in scenario.effects.changes {
                switch change {
                case .client(let record):
                    image.clients.removeAll { $0.id == record.id }
                    image.clients.append(record)
                case .observer(let record): image.observers.append(record)
                case .sequenceReserved(let through): image.sequence = through
                case .ask(let record):
                    image.asks.removeAll { $0.id == record.id }
                    image.asks.append(record)
                default: break
                }
            }
        }
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) { $0.behavior = behavior }
        note(scenario)
        let id = scenario.ask("w", "a") {
            $0.wait = 0
            $0.lifetime = 60_000
            $0.isOnce = isOnce
        }
        note(scenario)
        scenario.milliseconds += milliseconds
        scenario.center = NotificationCenter(
            restoring: image, limits: Self.limits(), seed: HashSeed(3, 4), time: scenario.time)
        scenario.apply(.configure(Self.limits()))
        return (scenario, client, responder, id)
    }

    @Test("R20 (T229): after a restart an ask waits for who held it, and is shown again")
    func isShownAgain() {
        var (scenario, client, responder, id) = restarted(after: 10_000)
        #expect(scenario.fate(id) == "open")
        scenario.back(client)
        #expect(scenario.shown.isEmpty)
        scenario.commit()
        #expect(scenario.shown == ["o\(responder) w.a*"])
        let sequence = scenario.effects.notifications[0].sequence
        scenario.answer(responder, sequence, .result(bytes("1")))
        #expect(scenario.fate(id) == "1 by o\(responder)")
    }

    @Test(
        "R20: one held is shown when the store knows; after a kill it is marked, or ends with once",
        arguments: [false, true])
    func isShownWhenStored(isOnce: Bool) {
        var stored = StoredScenario()
        let client = stored.run { $0.connect() }
        let responder = stored.run {
            $0.respond("w", ["a"], by: client) { $0.behavior = .hold }
        }
        stored.run { $0.disconnect(client) }
        let id = stored.run {
            $0.ask("w", "a") {
                $0.wait = 0
                $0.isOnce = isOnce
            }
        }
        #expect(records(stored.scenario).last?.shown == [])
        stored.run { $0.back(client) }
        #expect(stored.scenario.shown.isEmpty)
        #expect(records(stored.scenario).last?.shown == [responder])
        var killed = stored
        stored.run { $0.commit() }
        #expect(stored.scenario.shown == ["o\(responder) w.a"])
        killed.restart(isComplete: false)
        guard !isOnce else { return #expect(killed.scenario.fate(id) == "responder-gone") }
        killed.run { $0.back(client) }
        killed.run { $0.commit() }
        #expect(killed.scenario.shown == ["o\(responder) w.a*"])
    }

    @Test("R20: who went before the store knew is not shown it; the ask waits, or walks again")
    func goesBeforeItIsStored() {
        for behavior in [SuspensionBehavior.hold, .drop] {
            var scenario = Scenario(limits: Self.limits())
            let (client, other) = (scenario.connect(), scenario.connect())
            let responder = scenario.respond("w", ["a"], by: client) { $0.behavior = .hold }
            scenario.disconnect(client)
            let id = scenario.ask("w", "a") { $0.wait = 0 }
            let second = scenario.respond("w", ["a"], by: other) {
                $0.ifHeld = .replace
                $0.behavior = behavior
            }
            scenario.apply(.drain(client: other))
            let announcement = scenario.effects.announcement
            #expect(scenario.shown.isEmpty && announcement > 0 && second > responder)
            scenario.disconnect(other)
            scenario.apply(.showAnnounced(through: announcement))
            #expect(scenario.shown.isEmpty)
            #expect(scenario.fate(id) == (behavior == .hold ? "open" : "no-responder"))
            guard behavior == .hold else { continue }
            // The store knows already.
            scenario.back(other)
            #expect(scenario.shown == ["o\(second) w.a"])
        }
    }

    @Test("R20, R6: after a restart a mailbox has its asks, in their order, without a look")
    func areInTheMailbox() {
        var stored = StoredScenario()
        let box = stored.run { $0.respondingMailbox("w", ["a"]) }
        let first = stored.run { $0.ask("w", "a") { $0.wait = 0 } }
        let second = stored.run { $0.ask("w", "a") { $0.wait = 0 } }
        stored.restart(isComplete: false)
        let third = stored.run { $0.ask("w", "a") { $0.wait = 0 } }
        let page = stored.scenario.center.mailbox(of: box, after: 0, limit: 10)
        #expect(page?.elements.map(\.notification.id) == [first, second, third])
        #expect(page?.elements.map(\.isRedelivered) == [true, true, false])
        stored.run { $0.apply(.answer(second, observer: box, .result(bytes("2")))) }
        #expect(stored.scenario.fate(second) == "2 by o\(box)")
    }

    @Test("R20: its deadline is wall time, and goes on while the broker is down")
    func deadlineGoesOn() {
        var (scenario, _, _, id) = restarted(after: 59_999)
        #expect(scenario.fate(id) == "open")
        scenario.pass(milliseconds: 1)
        #expect(scenario.fate(id) == "no-answer")
    }

    @Test("R20: with once it ends, and where nobody holds it walks to its end")
    func ends() {
        let (once, _, _, first) = restarted(after: 10, isOnce: true)
        #expect(once.fate(first) == "responder-gone")
        let (dropped, _, _, second) = restarted(after: 10, behavior: .coalesce)
        #expect(dropped.fate(second) == "no-responder")
    }

    /// A restarted center with asks that have ended, whose fates are forgotten at these times.
    private func restarted(forgottenAt times: [Int64]) -> (Scenario, [NotificationID]) {
        var scenario = Scenario(limits: Self.limits())
        var image = CenterImage(name: bytes("default"), epoch: bytes("k1"))
        var ids: [NotificationID] = []
        for time in times {
            let post = scenario.newPost("a", "w")
            ids.append(post.id)
            image.asks.append(
                AskRecord(
                    id: post.id, content: post.content, causedBy: nil, depth: 1, fallback: nil,
                    isOnce: false, askedAt: 0, answerBy: 500, principal: [], shown: [],
                    observer: 0,
                    end: AskRecord.End(
                        outcome: AskOutcome(id: post.id, state: .withdrawn, path: []),
                        forgottenAt: time), options: AskOptions()))
        }
        scenario.center = NotificationCenter(
            restoring: image, limits: Self.limits(), seed: HashSeed(3, 4), time: scenario.time)
        scenario.apply(.configure(Self.limits()))
        return (scenario, ids)
    }

    @Test("R20: a fate whose time ended while the broker was down is forgotten, in the store too")
    func forgetsAfterRestart() {
        var (scenario, ids) = restarted(forgottenAt: [999])
        #expect(scenario.fate(ids[0]) == "forgotten" && scenario.center.use.askCount == 1)
        #expect(scenario.center.nextDeadline == scenario.time.monotonicNanoseconds)
        scenario.pass(milliseconds: 0)
        #expect(scenario.effects.changes == [.askForgotten(ids[0])])
        #expect(scenario.center.use.askCount == 0)
    }

    @Test("R20: after a restart each fate is forgotten at its own time, whatever was asked first")
    func forgetsInOrder() {
        var (scenario, ids) = restarted(forgottenAt: [3_000, 2_000])
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.effects.changes == [.askForgotten(ids[1])])
        #expect(scenario.fate(ids[0]) == "withdrawn" && scenario.fate(ids[1]) == "forgotten")
        scenario.pass(milliseconds: 1_000)
        #expect(scenario.effects.changes == [.askForgotten(ids[0])])
    }

    @Test("R20: what ends past the limits of fates goes with the first command, from the store too")
    func keepsLimitsAfterRestart() {
        var (scenario, ids) = restarted(forgottenAt: [3_000, 2_000])
        var limits = Self.limits()
        limits.fateLimit = 1
        scenario.apply(.configure(limits))
        #expect(scenario.effects.changes.contains(.askForgotten(ids[1])))
        #expect(scenario.center.use.askCount == 1)
    }

    @Test("R20: the record of an ask that is over has no userInfo, and each showing is told once")
    func recordsAreSmall() {
        var scenario = Scenario(limits: Self.limits())
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a") {
            $0.wait = 0
            $0.userInfo = #"{"b":1}"#
        }
        #expect(records(scenario).map(\.content.text) == [#"a{"b":1}/w"#])
        scenario.answer(responder, 1, .result(bytes("1")))
        #expect(records(scenario).map(\.content.text) == ["a/w"])
    }
}
