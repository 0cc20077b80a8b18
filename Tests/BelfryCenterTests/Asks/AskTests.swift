import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: asks (Rules.md, R)")
struct AskTests {
    private var scenario = Scenario()

    // MARK: The walk

    @Test("R8 (T200, T201): where nobody holds the address the ask is decided at once")
    mutating func nobodyHolds() {
        scenario.ask("w", "shouldClose") { $0.fallback = "true" }
        #expect(scenario.answers == ["true by default: no-responder"] && scenario.path == ["w"])
        let id = scenario.ask("w", "count")
        #expect(scenario.answers == ["no-responder"])
        #expect(scenario.fate(id) == "no-responder" && scenario.center.nextDeadline != nil)
    }

    @Test("R4 (T202): the holder is asked, and its result is the answer")
    mutating func isAnswered() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["shouldClose"], by: client)
        let id = scenario.ask("w", "shouldClose") { $0.userInfo = #"{"a":1}"# }
        #expect(scenario.isAwaiting)
        #expect(scenario.frames == [#"shouldClose{"a":1}/w"#])
        #expect(
            scenario.effects.addressed(of: 0)?.kind
                == .ask(answerBy: scenario.milliseconds + 5_000))
        #expect(scenario.fate(id) == "open")
        scenario.answer(responder, 1, .result(bytes("false")))
        #expect(scenario.answers == ["false by o1"] && scenario.path == ["w"])
        #expect(scenario.fate(id) == "false by o1")
        #expect(scenario.center.tally[.asks] == 0 && scenario.center.tally[.askBytes] == 0)
    }

    @Test("R5, R9 (T204): who does not list the selector gets nothing")
    mutating func isNotImplemented() {
        let client = scenario.connect()
        scenario.respond("w", ["count"], by: client)
        scenario.ask("w", "row")
        #expect(scenario.answers == ["selector-not-implemented"])
        #expect(scenario.effects.deliveries.isEmpty && scenario.center.sequence == 0)
    }

    @Test("R4, R7, R9 (T212, T213): nobody else sees it; -32601 by the last ends it")
    mutating func isPassedByTheLast() {
        let client = scenario.connect()
        scenario.observe(nil, nil, by: client)
        let responder = scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a") { $0.fallback = "1" }
        #expect(scenario.effects.deliveries.map(\.observer) == [responder])
        scenario.answer(responder, 1, .passed([]))
        #expect(scenario.answers == ["1 by default: selector-not-implemented"])
        // It says why it does not answer, though it could not be asked now.
        scenario.ask("w", "a")
        scenario.suspend(client)
        scenario.answer(responder, 2, .passed([]))
        #expect(scenario.answers == ["selector-not-implemented"])
    }

    @Test("R4, R15 (T215): a chain is walked to the first that implements the selector")
    mutating func walksTheChain() {
        let client = scenario.connect()
        scenario.respond("view", ["draw"], by: client) { $0.next = "window" }
        scenario.respond("window", [], by: client) { $0.next = "app" }
        let app = scenario.respond("app", ["copy"], by: client)
        scenario.ask("view", "copy")
        #expect(scenario.shown == ["o\(app) app.copy"])
        scenario.answer(app, 1, .result(bytes("null")))
        #expect(scenario.answers == ["null by o\(app)"])
        #expect(scenario.path == ["view", "window", "app"])
    }

    @Test("R7: -32601 hands on to the others of the address, and then to next")
    mutating func isHandedOn() {
        let client = scenario.connect()
        let first = scenario.respond("w", ["a"], by: client) {
            $0.ifHeld = .share
            $0.next = "app"
        }
        let second = scenario.respond("w", ["a"], by: client) { $0.ifHeld = .share }
        let app = scenario.respond("app", ["a"], by: client)
        scenario.ask("w", "a")
        #expect(scenario.shown == ["o\(first) w.a"])
        scenario.answer(first, 1, .passed([]))
        #expect(scenario.shown == ["o\(second) w.a"])
        scenario.answer(second, 2, .passed([]))
        #expect(scenario.shown == ["o\(app) app.a"] && scenario.settled.isEmpty)
        scenario.answer(app, 3, .refusal(bytes(#"{"code":1}"#)))
        #expect(scenario.answers == ["responder-refused"] && scenario.path == ["w", "app"])
    }

    @Test("R4: a walk ends after 32 hops")
    mutating func hopsAreLimited() {
        let client = scenario.connect()
        for number in 0..<33 {
            scenario.respond("a\(number)", [], by: client) { $0.next = "a\(number + 1)" }
        }
        scenario.respond("a33", ["x"], by: client)
        scenario.ask("a0", "x")
        #expect(scenario.answers == ["selector-not-implemented"] && scenario.path.count == 33)
        scenario.ask("a1", "x")
        #expect(scenario.shown.count == 1)
    }

    // MARK: Suspension

    @Test("R6 (T219): a holder that is suspended and does not hold is stepped over")
    mutating func suspendedIsSteppedOver() {
        let client = scenario.connect()
        let other = scenario.connect()
        scenario.respond("w", ["a"], by: client) { $0.next = "app" }
        let app = scenario.respond("app", ["a"], by: other)
        scenario.suspend(client)
        scenario.ask("w", "a")
        #expect(scenario.shown == ["o\(app) app.a"])
        scenario.remove(app, by: .client(other))
        #expect(scenario.answers == ["no-responder"])
    }

    @Test("R6 (T221): one that is delivered to immediately is asked while it asked for suspension")
    mutating func immediateIsAsked() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a", "b"], by: client) {
            $0.behavior = .deliverImmediately
        }
        scenario.observe("x", by: client, .hold)
        scenario.suspend(client)
        scenario.say("x1")
        #expect(scenario.frames.isEmpty)
        scenario.ask("w", "a")
        #expect(scenario.frames == ["x1", "a/w"] && scenario.shown == ["o\(responder) w.a"])
        scenario.cut(client)
        scenario.ask("w", "b")
        #expect(scenario.isAwaiting && scenario.shown.isEmpty)
    }

    @Test(
        "R6, R13: what waits is shown after what was held, in the order of asking, with new numbers"
    )
    mutating func heldAsksCome() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a", "b"], by: client) { $0.behavior = .hold }
        scenario.observe("x", by: client, .hold)
        scenario.suspend(client)
        scenario.ask("w", "a")
        scenario.ask("w", "b")
        scenario.say("x1")
        #expect(scenario.center.sequence == 1)
        scenario.endSuspension(client)
        #expect(scenario.frames == ["x1", "a/w", "b/w"])
        #expect(scenario.effects.notifications.map(\.sequence) == [1, 2, 3])
        scenario.answer(responder, 3, .result(bytes("2")))
        #expect(scenario.answers == ["2 by o\(responder)"])
    }

    @Test("R6, R9: one that is busy is stepped over, or the ask waits for its room")
    mutating func busy() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) { $0.concurrency = 1 }
        scenario.ask("w", "a")
        scenario.ask("w", "a")
        #expect(scenario.answers == ["responder-busy"])
        scenario.answer(responder, 1, .result(bytes("1")))
        let holding = scenario.respond("h", ["a"], by: client) {
            $0.concurrency = 1
            $0.behavior = .hold
        }
        scenario.ask("h", "a")
        scenario.ask("h", "a")
        #expect(scenario.shown.isEmpty && scenario.isAwaiting)
        scenario.answer(holding, 2, .result(bytes("1")))
        #expect(scenario.shown == ["o\(holding) h.a"])
    }

    // MARK: Sharing

    @Test("R2 (T239a): those that share are asked in turn")
    mutating func sharersTakeTurns() {
        let client = scenario.connect()
        let other = scenario.connect()
        let first = scenario.respond("pool", ["work"], by: client) { $0.ifHeld = .share }
        let second = scenario.respond("pool", ["work"], by: other) { $0.ifHeld = .share }
        var asked: [UInt64] = []
        for number in 1...6 as ClosedRange<UInt64> {
            scenario.ask("pool", "work")
            let observer = scenario.effects.deliveries[0].observer
            asked.append(observer)
            scenario.answer(observer, number, .result(bytes("1")))
        }
        #expect(asked == [first, second, first, second, first, second])
        scenario.ask("pool", "work")
        scenario.ask("pool", "work")
        scenario.answer(first, 7, .result(bytes("1")))
        scenario.ask("pool", "work")
        #expect(scenario.effects.deliveries.map(\.observer) == [first])
    }

    @Test("R2, R6: what waits goes to the first of those that share that may take it")
    mutating func waitingIsShared() {
        let client = scenario.connect()
        let other = scenario.connect()
        let first = scenario.respond("pool", ["work"], by: client) {
            $0.ifHeld = .share
            $0.concurrency = 1
            $0.behavior = .hold
        }
        let second = scenario.respond("pool", ["work"], by: other) {
            $0.ifHeld = .share
            $0.concurrency = 1
            $0.behavior = .hold
        }
        scenario.ask("pool", "work")
        scenario.ask("pool", "work")
        scenario.ask("pool", "work")
        #expect(scenario.shown.isEmpty)
        scenario.answer(second, 2, .result(bytes("1")))
        #expect(scenario.shown == ["o\(second) pool.work"])
        scenario.answer(first, 1, .result(bytes("1")))
        #expect(scenario.shown.isEmpty && scenario.answers.count == 1)
    }

    // MARK: Limits

    @Test("R14 (T233): a chain of causes ends at 32")
    mutating func causesAreLimited() {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        var cause: NotificationID?
        for _ in 0..<32 {
            cause = scenario.ask("w", "a") { $0.causedBy = cause }
            #expect(scenario.shown.count == 1)
        }
        scenario.ask("w", "a") { $0.causedBy = cause }
        #expect(scenario.effects.outcome == .refused(.causedByTooDeep(limit: 32, post: nil)))
        let post = scenario.newPost("x", causedBy: cause)
        scenario.apply(.post(post, PostTerms()))
        #expect(scenario.effects.outcome == .refused(.causedByTooDeep(limit: 32, post: 0)))
    }

    @Test("R14: open asks are limited for an asker, for the center and in bytes")
    func asksAreLimited() {
        var limits = CenterLimits()
        limits.clientAskLimit = 2
        limits.askLimit = 3
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let other = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        for _ in 0..<2 { scenario.ask("w", "a") { $0.terms.client = other } }
        scenario.ask("w", "a") { $0.terms.client = other }
        #expect(scenario.effects.outcome == .refused(.tooManyAsks(limit: 2)))
        scenario.ask("w", "a")
        #expect(scenario.isAwaiting)
        scenario.ask("w", "a") { $0.terms.client = client }
        #expect(scenario.effects.outcome == .refused(.asksFull(limit: 3)))
        // A client with too many of its own is told that, not to wait for others.
        scenario.ask("w", "a") { $0.terms.client = other }
        #expect(scenario.effects.outcome == .refused(.tooManyAsks(limit: 2)))
        scenario.answer(1, 1, .result(bytes("1")))
        scenario.ask("w", "a") { $0.terms.byteRoom = 1 }
        #expect(scenario.effects.outcome == .refused(.askBytesFull))
        scenario.ask("w", "a") { $0.terms.byteRoom = 2 }
        #expect(scenario.isAwaiting)
    }

    @Test("R19: who owes as many answers as it may makes its client slow")
    func owing() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 3
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) {
            $0.acknowledges = true
            $0.behavior = .hold
        }
        scenario.say("a1/w")
        scenario.ask("w", "a")
        #expect(scenario.state(client) == .live)
        scenario.ask("w", "a")
        #expect(scenario.state(client) == .slow)
        scenario.ask("w", "a")
        #expect(scenario.shown.isEmpty)
        scenario.answer(responder, 2, .result(bytes("1")))
        #expect(scenario.answers.count == 1 && scenario.shown == ["o1 w.a"])
    }

    @Test("R19, R11: who owed too much and comes back is shown again as much as it may owe")
    func owingComesBack() {
        var limits = CenterLimits()
        limits.unacknowledgedLimit = 2
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client) { $0.behavior = .hold }
        for _ in 0..<3 { scenario.ask("w", "a") { $0.lifetime = 60_000 } }
        #expect(scenario.state(client) == .slow)
        scenario.cut(client)
        scenario.back(client)
        #expect(scenario.shown == ["o1 w.a*", "o1 w.a*"] && scenario.state(client) == .slow)
        for number in 3...5 as ClosedRange<UInt64> {
            scenario.answer(responder, number, .result(bytes("1")))
            #expect(scenario.answers.count == 1)
        }
        #expect(scenario.state(client) == .live && scenario.center.tally[.asks] == 0)
    }
}
