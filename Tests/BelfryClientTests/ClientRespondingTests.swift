import BelfryLoop
import Synchronization
import Testing

@testable import BelfryClient

@Suite("ClientLoop: responders (Protocol.md section 12)")
struct ClientRespondingTests {
    private static var reconnecting: ClientOptions {
        var options = ClientOptions()
        options.reconnects = true
        return options
    }

    private static var lasting: ResponderOptions {
        var options = ResponderOptions(["a"])
        options.terms.lifetime = .token
        return options
    }

    @Test("a registration has what the options say, and no name and no selector")
    func registration() throws {
        let broker = try ScriptedBroker.opened()
        var options = ResponderOptions(["a", "b"])
        options.next = "team"
        options.ifHeld = .share
        options.concurrency = 2
        options.terms.suspensionBehavior = .hold
        let stand = Stand(broker, options) { _ in "1" }
        _ = try broker.submit { .addObserver(stand.wish(1), $0) }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"addObserver","params":{"object":"w","#
                    + #""implements":["a","b"],"next":"team","ifHeld":"share","concurrency":2,"#
                    + #""lifetime":"connection","suspensionBehavior":"hold"}}"#
            ])
    }

    @Test(
        "the handler answers, refuses or hands on",
        arguments: [
            ("answer", #""result":{"w":[1, 2]}"#),
            ("refuse", #""error":{"code":1,"message":"no \"paper\""}"#),
            ("fail", #""error":{"code":1,"message":"The responder has failed."}"#),
            ("pass", #""error":{"code":-32601,"message":"Method not found"}"#),
            ("nonsense", #""error":{"code":1,"message":"The answer is not JSON."}"#),
        ])
    func answers(selector: String, member: String) async throws {
        let broker = try ScriptedBroker.opened()
        let options = ResponderOptions([selector])
        let stand = Stand(broker, options) { ask in
            #expect(ask.object == "w" && ask.target == "w" && ask.answerBy == "t")
            switch ask.selector {
            case "answer": return #"{"w":[1, 2]}"#
            case "refuse": throw Refusal(#"no "paper""#)
            case "fail": throw CancellationError()
            case "pass": return try ask.pass()
            default: return "yes"
            }
        }
        try stand.register()
        try broker.ask("n6", 6, selector, observer: "o1")
        try await stand.passOnAnswer()
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:6",\#(member)}"#])
    }

    @Test("two addresses with one selector are told apart by the observer")
    func addresses() async throws {
        let broker = try ScriptedBroker.opened()
        let options = ResponderOptions(["a"])
        let first = Stand(broker, options) { _ in "1" }
        let second = Stand(broker, options) { _ in "2" }
        try first.register()
        try second.register(2)
        try broker.ask("n7", 7, "a", observer: "o2")
        try broker.ask("n6", 6, "a", observer: "o1")
        try await second.passOnAnswer()
        try await first.passOnAnswer()
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":"o2:7","result":2}"#,
                #"{"jsonrpc":"2.0","id":"o1:6","result":1}"#,
            ])
        try broker.ask("n8", 8, "a", observer: "o3")
        #expect(try broker.heard().first?.contains("-32601") == true)
    }

    @Test("an ask that comes again while its handler works is handled once, and answered then")
    func redelivered() async throws {
        let broker = try ScriptedBroker.opened(Self.reconnecting)
        let count = Mutex(0)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let stand = Stand(broker, Self.lasting) { _ in
            count.withLock { $0 += 1 }
            for await _ in gate { break }
            return "1"
        }
        try stand.register()
        try broker.ask("n6", 6, "a", observer: "o1")
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        #expect(try broker.heard().last?.contains(#""method":"resume""#) == true)
        try broker.send(
            #"{"jsonrpc":"2.0","id":2,"result":{"client":"c4","observers":[{"id":"o1"}],"held":0}}"#
        )
        try broker.ask("n6", 10, "a", observer: "o1", more: #","redelivered":true"#)
        opening.yield()
        try await stand.passOnAnswer()
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:10","result":1}"#])
        #expect(count.withLock { $0 } == 1)
    }

    @Test("an answer that is ready without a connection is given when the ask comes again")
    func answeredMeanwhile() async throws {
        let broker = try ScriptedBroker.opened(Self.reconnecting)
        let stand = Stand(broker, Self.lasting) { _ in "1" }
        try stand.register()
        try broker.ask("n6", 6, "a", observer: "o1")
        broker.peer?.close()
        try broker.crank()
        try await stand.passOnAnswer()
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#)
        try broker.ask("n6", 10, "a", observer: "o1", more: #","redelivered":true"#)
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:10","result":1}"#])
    }

    @Test("an answer between the resume and the ask that comes again waits for that one")
    func answeredBetween() async throws {
        let broker = try ScriptedBroker.opened(Self.reconnecting)
        let count = Mutex(0)
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let stand = Stand(broker, Self.lasting) { _ in
            count.withLock { $0 += 1 }
            for await _ in gate { break }
            return "1"
        }
        try stand.register()
        try broker.ask("n6", 6, "a", observer: "o1")
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#)
        opening.yield()
        try await stand.passOnAnswer()
        #expect(try broker.heard() == [])
        try broker.ask("n6", 10, "a", observer: "o1", more: #","redelivered":true"#)
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:10","result":1}"#])
        #expect(count.withLock { $0 } == 1)
    }

    @Test("a responder whose session is gone is registered anew, and begins anew")
    func newSession() async throws {
        let broker = try ScriptedBroker.opened(Self.reconnecting)
        let stand = Stand(broker, ResponderOptions(["a"])) { _ in "1" }
        try stand.register()
        try broker.ask("n6", 6, "a", observer: "o1")
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.refuseResume()
        let text = try #require(try broker.heard().last)
        #expect(text.hasSuffix(#""implements":["a"],"lifetime":"connection"}}"#))
        try broker.send(
            #"{"jsonrpc":"2.0","id":3,"result":{"id":"o9","token":"o9.t","since":9}}"#)
        try await stand.passOnAnswer()
        // The broker did not ask that one on this connection.
        #expect(try broker.heard() == [])
        try broker.ask("n10", 10, "a", observer: "o9")
        try await stand.passOnAnswer()
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o9:10","result":1}"#])
    }

    @Test("the handler of an ask that is over is cancelled, and what it answers is not sent")
    func settled() async throws {
        let broker = try ScriptedBroker.opened()
        let stand = Stand(broker, ResponderOptions(["a"])) { ask in
            if ask.id == "n6" { try? await Task.sleep(for: .seconds(3_600)) }
            return Task.isCancelled ? "0" : "1"
        }
        try stand.register()
        try broker.ask("n6", 6, "a", observer: "o1")
        try broker.ask("n7", 7, "a", observer: "o1")
        try await stand.passOnAnswer()
        try broker.send(
            #"{"jsonrpc":"2.0","method":"belfry.settled","params":"#
                + #"{"id":"n6","observer":"o1","reason":"withdrawn"}}"#)
        let answer = try await stand.passOnAnswer()
        #expect(answer.key == "n6" && answer.response == .result([0x30]))
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:7","result":1}"#])
    }

    @Test("posts of its object come to the handler in their order, and want no answer")
    func posts() async throws {
        let broker = try ScriptedBroker.opened()
        let (posts, handled) = AsyncStream.makeStream(of: Ask.self)
        let stand = Stand(broker, ResponderOptions(["didMove"])) { ask in
            handled.yield(ask)
            return "null"
        }
        try stand.register()
        try broker.post("didMove", 6, object: "v")
        try broker.post("didMove", 7)
        try broker.send(
            #"{"jsonrpc":"2.0","method":"belfry.gap","params":{"observer":"o1","#
                + #""selector":null,"lost":2,"reason":"overflow"}}"#)
        for seq in [8, 9] { try broker.post("didMove", seq) }
        var iterator = posts.makeAsyncIterator()
        var received: [Ask] = []
        for _ in 0..<3 { received.append(try #require(await iterator.next())) }
        #expect(received.map(\.notification.sequence) == [7, 8, 9])
        #expect(received.allSatisfy { $0.answerBy == nil })
        #expect(received[1].notification.gapBefore == .init(lostCount: 2, reason: "overflow"))
        #expect(try broker.heard() == [])
    }

    @Test("posts are acknowledged by a responder that acknowledges")
    func acknowledging() async throws {
        let broker = try ScriptedBroker.opened()
        var options = ResponderOptions(["didMove"])
        options.terms.acknowledges = true
        let stand = Stand(broker, options) { _ in "null" }
        try stand.register()
        try broker.send(
            #"{"jsonrpc":"2.0","id":"o1:6","method":"didMove","params":{"id":"n6","seq":6,"#
                + #""name":"didMove","object":"w","postedAt":"t","observer":"o1"}}"#)
        try await stand.passOnAnswer()
        #expect(try broker.heard() == [#"{"jsonrpc":"2.0","id":"o1:6","result":null}"#])
    }

    @Test("one that is replaced hears so, and its handlers are cancelled")
    func replaced() async throws {
        let broker = try ScriptedBroker.opened()
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let stand = Stand(broker, ResponderOptions(["a"])) { _ in
            try? await Task.sleep(for: .seconds(3_600))
            ended.yield()
            return "1"
        }
        try stand.register()
        try broker.ask("n6", 6, "a", observer: "o1")
        try broker.send(
            #"{"jsonrpc":"2.0","method":"belfry.removed","params":"#
                + #"{"observer":"o1","reason":"replaced","removedBy":"c5"}}"#)
        await #expect(throws: ClientError.observerRemoved(reason: "replaced")) {
            try await stand.desk.waitForEnd()
        }
        for await _ in ends { break }
    }

    @Test("a selector is that of one observation, or of responders")
    func selectors() throws {
        let broker = try ScriptedBroker.opened()
        let stand = Stand(broker, ResponderOptions(["a"])) { _ in "1" }
        _ = try broker.observe(selector: "a")
        let refused = try broker.submit { .addObserver(stand.wish(2), $0) }
        #expect(refused.error == .selectorInUse("a"))
        let other = Stand(broker, ResponderOptions(["b"])) { _ in "1" }
        try other.register(2)
        let wish = ObserverWish(
            name: "A", object: nil, selector: "b", since: nil,
            buffer: NotificationBuffer(ClientOptions()))
        #expect(try broker.submit { .addObserver(wish, $0) }.error == .selectorInUse("b"))
    }
}
