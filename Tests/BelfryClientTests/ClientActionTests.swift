import BelfryLoop
import Testing

@testable import BelfryClient

@Suite("ClientLoop: actions (rules K1 to K9)")
struct ClientActionTests {
    /// A responder of the address `w` that keeps what it handles, and answers the selector.
    private func keeping(
        _ broker: ScriptedBroker, _ options: ResponderOptions = ResponderOptions(["on", "off"])
    ) -> (Stand, AsyncStream<Ask>) {
        let (asks, continuation) = AsyncStream.makeStream(of: Ask.self)
        let stand = Stand(broker, options) { ask in
            continuation.yield(ask)
            return #""\#(ask.selector)""#
        }
        return (stand, asks)
    }

    private func take(_ count: Int, of asks: AsyncStream<Ask>) async throws -> [Ask] {
        var iterator = asks.makeAsyncIterator()
        var taken: [Ask] = []
        for _ in 0..<count { taken.append(try #require(await iterator.next())) }
        return taken
    }

    private func wish(_ number: Int, acknowledges: Bool = false) -> ObserverWish {
        var wish = ObserverWish(
            name: "touchUp", object: "s", selector: "belfry.target.\(number)", since: nil,
            buffer: NotificationBuffer(ClientOptions()))
        wish.options.acknowledges = acknowledges
        wish.action = .init(target: "w", selector: "on")
        return wish
    }

    @Test("a registration has the target and the selector of the responder")
    func registration() throws {
        let broker = try ScriptedBroker.opened()
        _ = try broker.submit { .addObserver(wish(1, acknowledges: true), $0) }
        _ = try broker.submit { .addObserver(wish(2), $0) }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"addObserver","params":{"name":"touchUp","#
                    + #""object":"s","target":"w","selector":"on","lifetime":"connection","#
                    + #""acknowledge":true}}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"addObserver","params":{"name":"touchUp","#
                    + #""object":"s","target":"w","selector":"on","lifetime":"connection"}}"#,
            ])
    }

    @Test("an observer with a target is registered anew on a new connection, without since")
    func registeredAnew() throws {
        var options = ClientOptions()
        options.reconnects = true
        let broker = try ScriptedBroker.opened(options)
        let answer = try broker.submit { .addObserver(wish(1), $0) }
        try broker.answerLast(#"{"id":"o1","token":"o1.t","since":5}"#)
        try #require(answer.isSuccess)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.refuseResume()
        #expect(
            try broker.heard().last?.hasSuffix(
                #""target":"w","selector":"on","lifetime":"connection"}}"#) == true)
    }

    @Test("actions of one post come to their handler in their order, and want no answer")
    func unanswered() async throws {
        let broker = try ScriptedBroker.opened()
        let (stand, asks) = keeping(broker)
        try stand.register()
        let (other, others) = keeping(broker, ResponderOptions(["on"]))
        try other.register(2, object: "v")
        try broker.act("on", 6)
        try broker.act("off", 6)
        try broker.act("on", 6, target: "v")
        // The responder observes the post of the same number, too.
        try broker.post("on", 6)
        try broker.act("on", 7, target: "nobody")
        try broker.act("on", 7, more: #","redelivered":true"#)
        let handled = try await take(4, of: asks)
        #expect(handled.map(\.selector) == ["on", "off", "on", "on"])
        #expect(handled.map(\.name) == ["touchUp", "touchUp", "on", "touchUp"])
        #expect(handled.map(\.target) == ["w", "w", nil, "w"])
        #expect(handled.map(\.notification.sequence) == [6, 6, 6, 7])
        #expect(handled[0].object == "s" && handled[0].answerBy == nil)
        #expect(try await take(1, of: others).map(\.target) == ["v"])
        #expect(try broker.heard() == [])
    }

    @Test("two actions of one post that are requests are answered each by its own id")
    func answered() async throws {
        let broker = try ScriptedBroker.opened()
        let (stand, asks) = keeping(broker)
        try stand.register()
        try broker.act("on", 6, id: "o1:6:o7")
        try broker.act("off", 6, id: "o1:6:o8")
        try await stand.passOnAnswer()
        try await stand.passOnAnswer()
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":"o1:6:o7","result":"on"}"#,
                #"{"jsonrpc":"2.0","id":"o1:6:o8","result":"off"}"#,
            ])
        #expect(try await take(2, of: asks).map(\.id) == ["n6", "n6"])
        // No responder of this client has that id.
        try broker.act("on", 7, id: "o9:7:o7")
        #expect(try broker.heard().first?.contains("-32601") == true)
    }

    @Test("an action that comes again after a resume is handled once, and answered then")
    func redelivered() async throws {
        var settings = ClientOptions()
        settings.reconnects = true
        let broker = try ScriptedBroker.opened(settings)
        var options = ResponderOptions(["on"])
        options.terms.lifetime = .token
        let (stand, asks) = keeping(broker, options)
        try stand.register()
        try broker.act("on", 6, id: "o1:6:o7")
        broker.peer?.close()
        try broker.crank()
        try await stand.passOnAnswer()
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#)
        try broker.act("on", 6, id: "o1:6:o7", more: #","redelivered":true"#)
        try broker.act("on", 10, id: "o1:10:o7")
        try await stand.passOnAnswer()
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":"o1:6:o7","result":"on"}"#,
                #"{"jsonrpc":"2.0","id":"o1:10:o7","result":"on"}"#,
            ])
        #expect(try await take(2, of: asks).map(\.notification.sequence) == [6, 10])
    }
}
