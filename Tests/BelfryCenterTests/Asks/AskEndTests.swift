import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: the end of an ask, and its key (Rules.md, R10, R16, R17, R20)")
struct AskEndTests {
    private var scenario = Scenario()

    // MARK: The end

    @Test("R10: the first answer settles; a later one is ignored")
    mutating func firstAnswerSettles() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client)
        let id = scenario.ask("w", "a")
        scenario.answer(responder, 1, .result(bytes("1")))
        scenario.answer(responder, 1, .result(bytes("2")))
        #expect(scenario.answers.isEmpty && scenario.fate(id) == "1 by o1")
        #expect(
            scenario.apply(.answer(id, observer: responder, .result(bytes("3"))))
                == .refused(.alreadySettled))
        #expect(
            scenario.apply(.answer(id, observer: 99, .result(bytes("3")))) == .refused(.unknownAsk))
    }

    @Test("R10: when its time is over the asker is told, and the responder that was shown it")
    mutating func timeIsOver() {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a")
        scenario.pass(milliseconds: 4_999)
        #expect(scenario.answers.isEmpty)
        scenario.pass(milliseconds: 1)
        #expect(scenario.answers == ["no-answer"] && scenario.settled == ["o1 expired"])
        scenario.answer(1, 1, .result(bytes("1")))
        #expect(scenario.answers.isEmpty)
    }

    @Test("R10 (T227): a withdrawal settles; a second one comes too late")
    mutating func isWithdrawn() {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        let id = scenario.ask("w", "a") { $0.wait = 0 }
        #expect(scenario.answers == ["open"])
        #expect(scenario.apply(.withdraw(id)) == .removed(1))
        #expect(scenario.settled == ["o1 withdrawn"] && scenario.fate(id) == "withdrawn")
        #expect(scenario.apply(.withdraw(id)) == .refused(.alreadySettled))
        let post = scenario.say("x1")
        #expect(scenario.apply(.withdraw(post)) == .refused(.unknownAsk))
    }

    @Test(
        "R16: an asker that waits and goes away withdraws its ask; one that was told 202 does not")
    mutating func askerGoes() {
        let client = scenario.connect()
        let asker = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        let waiting = scenario.ask("w", "a") { $0.terms.client = asker }
        let stored = scenario.ask("w", "a") {
            $0.terms.client = asker
            $0.wait = 0
        }
        scenario.cut(asker)
        #expect(scenario.settled == ["o1 withdrawn"])
        #expect(scenario.fate(waiting) == "withdrawn" && scenario.fate(stored) == "open")
    }

    @Test("R20 (T223): whoever asks for it is told 202 after a while, and looks later")
    mutating func isToldOpen() {
        let client = scenario.connect()
        scenario.respond("w", ["a"], by: client)
        let id = scenario.ask("w", "a") {
            $0.wait = 1_000
            $0.lifetime = 60_000
        }
        scenario.pass(milliseconds: 999)
        #expect(scenario.answers.isEmpty)
        scenario.pass(milliseconds: 1)
        #expect(scenario.answers == ["open"])
        scenario.answer(1, 1, .result(bytes("true")))
        #expect(scenario.answers.isEmpty && scenario.fate(id) == "true by o1")
        scenario.pass(milliseconds: 24 * 3_600_000 - 1)
        #expect(scenario.fate(id) == "true by o1")
        scenario.pass(milliseconds: 1)
        #expect(scenario.fate(id) == "forgotten")
    }

    // MARK: Keys

    @Test("R17 (T231): a second request waits for the first, and gets its answer byte for byte")
    mutating func keysRepeat() {
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client)
        let key = IdempotencyKey(
            principal: bytes("p"), text: bytes("k"), requestHash: SecretHash(high: 1, low: 2),
            form: 3)
        scenario.ask("w", "a") { $0.terms.key = key }
        scenario.ask("w", "a") { $0.terms.key = key }
        #expect(scenario.isAwaiting && scenario.shown.isEmpty)
        scenario.answer(responder, 1, .result(bytes(#"{ "a" : 1 }"#)))
        #expect(scenario.answers == [#"{ "a" : 1 } by o1"#, #"{ "a" : 1 } by o1 again"#])
        scenario.ask("w", "a") { $0.terms.key = key }
        #expect(scenario.answers == [#"{ "a" : 1 } by o1 again"#])
    }

    @Test("R17: where nobody was there the key stays free")
    mutating func keysStayFree() {
        let key = IdempotencyKey(
            principal: bytes("p"), text: bytes("k"), requestHash: SecretHash(high: 1, low: 2),
            form: 3)
        scenario.ask("w", "a") { $0.terms.key = key }
        #expect(scenario.answers == ["no-responder"] && scenario.center.keyCount == 0)
        let client = scenario.connect()
        let responder = scenario.respond("w", ["a"], by: client)
        scenario.ask("w", "a") { $0.terms.key = key }
        scenario.answer(responder, 1, .refusal(bytes("{}")))
        #expect(scenario.answers == ["responder-refused"])
        scenario.ask("w", "a") { $0.terms.key = key }
        #expect(scenario.answers == ["responder-refused again"])
    }
}
