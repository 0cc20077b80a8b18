import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: responders (Rules.md, R)")
struct ResponderTests {
    private var scenario = Scenario()

    @Test("R3 (T210): a responder observes its object for what it implements, once a post")
    mutating func observes() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["didMove", "didClose"], by: client)
        #expect(scenario.post("didMove", "w") == [responder])
        #expect(scenario.effects.receipts[0].matched == 1)
        let selector = scenario.effects.deliveries[0].selector
        #expect(scenario.center.selector(selector) == bytes("didMove"))
        #expect(scenario.post("didMove", "v").isEmpty && scenario.post("didMove").isEmpty)
        #expect(scenario.post("didOpen", "w").isEmpty)
        scenario.remove(responder, by: .client(client))
        #expect(scenario.post("didMove", "w").isEmpty && scenario.post("didClose", "w").isEmpty)
        #expect(scenario.center.tally[.responders] == 0)
    }

    @Test("R3: a responder obeys its terms like any observer")
    mutating func obeysItsTerms() {
        let client = scenario.connect()
        scenario.respond("w", ["a", "b"], by: client) { $0.behavior = .hold }
        scenario.suspend(client)
        scenario.say("a1/w")
        scenario.say("c1/w")
        scenario.say("b1/w")
        scenario.endSuspension(client)
        #expect(scenario.frames == ["a1/w", "b1/w"])
        scenario.cut(client)
        scenario.say("a2/w")
        scenario.back(client, after: 3)
        #expect(scenario.frames == ["a2/w"])
    }

    @Test("R3: the replay ring gives a responder what it implements alone")
    mutating func isReplayed() {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        scenario.say("a1/w")
        scenario.say("b1/w")
        scenario.say("a2/w")
        scenario.back(client, after: 1)
        #expect(scenario.frames == ["a2/w*"])
    }

    @Test("R13: asks have numbers that the replay ring has not, and no gap tells of them")
    mutating func asksAreNoGaps() {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a")
        scenario.say("x1")
        scenario.ask("w", "a")
        scenario.say("x2")
        for number in [1, 3] as [UInt64] { scenario.answer(1, number, .result(bytes("1"))) }
        scenario.observe("x", by: client, .hold, since: 0)
        #expect(scenario.frames == ["x1*", "x2*"] && scenario.gaps.isEmpty)
        scenario.back(client, after: 1)
        #expect(scenario.frames == ["x1*", "x2*"] && scenario.gaps.isEmpty)
        scenario.back(client, after: 2)
        #expect(scenario.frames == ["x2*"] && scenario.gaps.isEmpty)
    }

    @Test("R1: a registration replaces, is refused, or shares")
    mutating func holders() {
        let client = scenario.connect()
        let first = scenario.respond("w", ["a"], by: client)
        let refused = scenario.responder("w", ["a"]) { $0.ifHeld = .refuse }
        #expect(
            scenario.apply(.addObserver(refused, client: client, since: nil))
                == .refused(.alreadyHeld))
        let sharing = scenario.responder("w", ["a"]) { $0.ifHeld = .share }
        #expect(
            scenario.apply(.addObserver(sharing, client: client, since: nil))
                == .refused(.alreadyHeld))
        let second = scenario.respond("w", ["a"], by: client)
        #expect(scenario.center.responders(at: bytes("w")).map(\.observer.serial) == [second])
        #expect(
            scenario.remove(first, by: .broker).isRefusedAsRemoved
                && scenario.center.tombstone(first)?.removedBy == .client(client))
        scenario.remove(second, by: .client(client))
        for _ in 0..<2 {
            scenario.respond("w", ["a"], by: client) { $0.ifHeld = .share }
        }
        #expect(scenario.center.responders(at: bytes("w")).count == 2)
        scenario.respond("w", ["a"], by: client)
        #expect(scenario.center.responders(at: bytes("w")).count == 1)
    }

    @Test("R2: so many may share an address, and one more is refused")
    func holdersAreLimited() {
        var limits = CenterLimits()
        limits.holderLimit = 2
        var scenario = Scenario(limits: limits)
        let client = scenario.connect()
        for _ in 0..<2 { scenario.respond("w", ["a"], by: client) { $0.ifHeld = .share } }
        let third = scenario.responder("w", ["a"]) { $0.ifHeld = .share }
        #expect(
            scenario.apply(.addObserver(third, client: client, since: nil))
                == .refused(.alreadyHeld))
    }

    @Test("R15 (T217): a circle of next is refused, and changes nothing")
    mutating func circles() {
        let client = scenario.connect()
        scenario.respond("a", ["x"], by: client) { $0.next = "b" }
        scenario.respond("b", ["x"], by: client) { $0.next = "c" }
        let first = scenario.respond("c", ["x"], by: client)
        for next in ["a", "c"] {
            let closing = scenario.responder("c", ["x"]) { $0.next = next }
            #expect(
                scenario.apply(.addObserver(closing, client: client, since: nil))
                    == .refused(.responderCircle))
        }
        #expect(scenario.center.responders(at: bytes("c")).map(\.observer.serial) == [first])
    }

    @Test("R15: a circle is refused where it is longer than a walk", arguments: [33, 34, 60])
    mutating func longCircles(length: Int) {
        let client = scenario.connect()
        for number in 0..<length - 1 {
            scenario.respond("a\(number)", ["x"], by: client) { $0.next = "a\(number + 1)" }
        }
        let closing = scenario.responder("a\(length - 1)", ["x"]) { $0.next = "a0" }
        #expect(
            scenario.apply(.addObserver(closing, client: client, since: nil))
                == .refused(.responderCircle))
    }

    @Test("R18 (T235): who comes and who goes is reported")
    mutating func isReported() {
        let client = scenario.connect()
        scenario.observe("belfry.responder.changed", by: client)
        var states: [String] = []
        func noteStates(_ effects: Effects) {
            states += effects.notifications.map { notification in
                let text = notification.content.text
                return text.suffix(1) + (text.contains(#""held""#) ? " held" : " left")
            }
        }
        let first = scenario.respond("w", ["a"], by: client)
        noteStates(scenario.effects)
        let second = scenario.respond("w", ["a"], by: client)
        noteStates(scenario.effects)
        scenario.remove(second, by: .client(client))
        noteStates(scenario.effects)
        #expect(states == ["w held", "w left", "w held", "w left"] && first < second)
    }

    @Test("R1: a client that is away and holds an address twice is replaced as a whole")
    mutating func replacedTwice() {
        let away = scenario.connect()
        let first = scenario.respond("w", ["a"], by: away) { $0.ifHeld = .share }
        let second = scenario.respond("w", ["a"], by: away) { $0.ifHeld = .share }
        scenario.cut(away)
        let newcomer = scenario.respond("w", ["a"], by: scenario.connect())
        #expect(scenario.center.observer(first) == nil && scenario.center.observer(second) == nil)
        scenario.ask("w", "a")
        #expect(scenario.effects.deliveries.map(\.observer) == [newcomer])
    }

    @Test(
        "R6: what waits is not shown on a connection that ends, but on the next one",
        arguments: [false, true])
    mutating func roomOfTheEnd(isTakenOver: Bool) {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client) {
            $0.behavior = .hold
            $0.concurrency = 1
        }
        scenario.ask("w", "a") { $0.isOnce = true }
        let waiting = scenario.ask("w", "a") { $0.isOnce = true }
        if !isTakenOver {
            scenario.cut(client)
            #expect(scenario.frames.isEmpty && scenario.fate(waiting) == "open")
        }
        scenario.back(client)
        #expect(scenario.frames.count == 1)
        scenario.answer(1, scenario.center.sequence, .result(bytes("1")))
        #expect(scenario.fate(waiting) == "1 by o1")
    }

    @Test("R4 (T238): explain tells who would be asked; nobody gets anything")
    mutating func isExplained() {
        let client = scenario.connect()
        let other = scenario.connect()
        let desk = scenario.respond("desk", ["copy"], by: client) { $0.next = "deploy" }
        let deploy = scenario.respond("deploy", ["copy"], by: other)
        scenario.suspend(client)
        let sequence = scenario.center.sequence
        let explanation = scenario.center.explainAsk(
            object: bytes("desk"), selector: bytes("copy"))
        #expect(explanation.outcome == .delivered(observer: deploy))
        #expect(explanation.path == [bytes("desk"), bytes("deploy")])
        #expect(
            explanation.skipped == [
                AskExplanation.Skipped(object: bytes("desk"), observer: desk, reason: .suspended)
            ])
        #expect(scenario.center.sequence == sequence)
        #expect(
            scenario.center.explainAsk(object: bytes("x"), selector: bytes("copy")).outcome
                == .failed(.noResponder))
    }

    @Test("R10, R11: a mailbox responds: an ask is an element of it until it is over")
    mutating func mailboxes() {
        let serial = scenario.respondingMailbox("w", ["a", "b"])
        let id = scenario.ask("w", "a")
        scenario.say("b1/w")
        #expect(scenario.mailTexts(serial) == ["a/w", "b1/w"])
        scenario.apply(.readMailbox(observer: serial, through: 2))
        #expect(scenario.mailTexts(serial, after: 2).isEmpty)
        #expect(scenario.mailTexts(serial) == ["a/w"])
        #expect(scenario.apply(.answer(id, observer: serial, .result(bytes("1")))) == .done)
        #expect(scenario.answers == ["1 by o\(serial)"] && scenario.mailTexts(serial).isEmpty)
    }

    @Test("R10: a poll at a mailbox is answered with an ask, and a stream is sent it in its place")
    mutating func readers() {
        let serial = scenario.respondingMailbox("w", ["a", "b"])
        let poll = ConnectionName(node: 1, number: 7)
        scenario.apply(.readMailbox(observer: serial, through: nil, wait: poll))
        scenario.ask("w", "a")
        #expect(
            scenario.effects.notices == [
                .mailboxFilled(connection: connection(7), observer: serial)
            ])
        scenario.apply(.detachReader(observer: serial, poll))
        scenario.say("b1/w")
        let stream = ConnectionName(node: 1, number: 8)
        scenario.apply(.attachStream(observer: serial, stream))
        #expect(scenario.frames == ["a/w", "b1/w"])
        scenario.ask("w", "a")
        #expect(scenario.frames == ["a/w"])
        scenario.pass(milliseconds: 5_000)
        #expect(scenario.settled == ["o\(serial) expired", "o\(serial) expired"])
    }

    @Test("R10: what can be seen of responders and open asks")
    mutating func listings() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a", "b"], by: client) { $0.behavior = .hold }
        scenario.observe("a", by: client)
        scenario.ask("w", "a")
        scenario.answer(responder, 1, .result(bytes("1")))
        scenario.ask("w", "b")
        let rows = scenario.center.responders(matching: ObserverQuery()) { _, _ in true }.rows
        #expect(rows.map(\.observer.serial) == [responder])
        #expect(
            rows[0].openAskCount == 1 && rows[0].askedCount == 2 && rows[0].answeredCount == 1)
        #expect(
            scenario.center.responders(matching: ObserverQuery { $0.selector = bytes("c") }) {
                _, _ in true
            }.rows.isEmpty)
        scenario.cut(client)
        let asks = scenario.center.asks(matching: ObserverQuery()) { _, _ in true }.rows
        #expect(asks.map(\.isShown) == [false] && asks[0].selector == bytes("b"))
        #expect(scenario.center.asks(matching: ObserverQuery()) { _, _ in false }.rows.isEmpty)
    }
}

extension Outcome {
    /// Whether the observer was removed before.
    fileprivate var isRefusedAsRemoved: Bool {
        if case .refused(.observerRemoved) = self { true } else { false }
    }
}
