import BelfryLoop
import Testing

@testable import BelfryClient

@Suite("ClientLoop: acknowledging (Protocol.md section 7)")
struct ClientAnsweringTests {
    private static var terms: ObserverOptions {
        var terms = ObserverOptions()
        terms.acknowledges = true
        return terms
    }

    private func answer(
        _ broker: ScriptedBroker, _ seq: UInt64, refusal: String? = nil
    ) throws {
        let answer = DeliveryAnswer(
            selector: "notify", key: "n\(seq)",
            response: refusal.map { .refused($0) } ?? .acknowledgement)
        #expect(try broker.submit { .answer(answer, $0) }.isSuccess)
    }

    @Test("a delivery that is a request is acknowledged, or refused with a reason")
    func answers() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe(terms: Self.terms)
        try broker.ask(6, observer: "o1")
        try broker.ask(7, observer: "o1")
        #expect(try await buffer.next()?.sequence == 6)
        #expect(try broker.heard() == [])
        try answer(broker, 7, refusal: "out of \"paper\"")
        try answer(broker, 6)
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":"o1:7","error":{"code":1,"message":"out of \"paper\""}}"#,
                #"{"jsonrpc":"2.0","id":"o1:6","result":null}"#,
            ])
    }

    @Test("the second answer, and one to what never came, are not sent")
    func once() throws {
        let broker = try ScriptedBroker.opened()
        _ = try broker.observe(terms: Self.terms)
        try broker.ask(6, observer: "o1")
        try answer(broker, 6)
        try answer(broker, 6, refusal: "no")
        try answer(broker, 7)
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:6","result":null}"#])
    }

    @Test(
        "what is in hand when the connection is lost is handled once, and answered when asked again"
    )
    func inHand() async throws {
        var options = ClientOptions()
        options.reconnects = true
        let broker = try ScriptedBroker.opened(options)
        var terms = Self.terms
        terms.lifetime = .token
        let buffer = try broker.observe(terms: terms)
        for seq in [6, 7, 8] { try broker.ask(seq, observer: "o1") }
        for seq: UInt64 in [6, 7, 8] { #expect(try await buffer.next()?.sequence == seq) }
        broker.peer?.close()
        try broker.crank()
        try answer(broker, 6)
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":3}"#)
        for seq in [6, 7, 8] { try broker.ask(seq, observer: "o1", more: #","redelivered":true"#) }
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:6","result":null}"#])
        try answer(broker, 8)
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:8","result":null}"#])
        try broker.deliver(9, to: "unknown")
        try broker.ask(10, observer: "o1")
        #expect(try await buffer.next()?.sequence == 10)
    }

    @Test("what is owed is asked for again where the session is gone, under its new id")
    func newSession() throws {
        var options = ClientOptions()
        options.reconnects = true
        let broker = try ScriptedBroker.opened(options)
        _ = try broker.observe(terms: Self.terms)
        for seq in [6, 7] { try broker.ask(seq, observer: "o1") }
        try answer(broker, 6)
        _ = try broker.heard()
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.refuseResume()
        let text = try #require(try broker.heard().last)
        #expect(text.contains(#""acknowledge":true,"since":6"#))
        try broker.send(
            #"{"jsonrpc":"2.0","id":3,"result":{"id":"o9","token":"o9.t","since":9}}"#)
        try broker.ask(7, observer: "o9", more: #","redelivered":true"#)
        try answer(broker, 7)
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o9:7","result":null}"#])
    }

    @Test("a request for an observer that does not acknowledge is no method")
    func plainObserver() throws {
        let broker = try ScriptedBroker.opened()
        _ = try broker.observe()
        try broker.ask(6, observer: "o1")
        #expect(try broker.heard().first?.contains("-32601") == true)
    }
}
