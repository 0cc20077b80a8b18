import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import Glibc
import Testing

@testable import BelfryClient

@Suite("ClientLoop: opening (RFC 6455 §4.1)")
struct ClientOpeningTests {
    @Test(
        "the opening request names the center and the subprotocol",
        arguments: [
            ("http://127.0.0.1:8080", "/v1/ws"), ("http://127.0.0.1:8080/", "/v1/ws"),
            ("http://127.0.0.1:8080/v1/centers/a%20b", "/v1/centers/a%20b/ws"),
        ])
    func request(url: String, target: String) throws {
        let broker = try ScriptedBroker(url)
        _ = try broker.submit(ClientCommand.open)
        let request = try broker.acceptAttempt()
        #expect(request.hasPrefix("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"))
        #expect(request.contains("\r\nSec-WebSocket-Protocol: belfry.v1\r\n"))
        #expect(request.contains("\r\nSec-WebSocket-Version: 13\r\n"))
        #expect(request.contains("\r\nSec-WebSocket-Extensions: permessage-deflate; "))
        #expect(request.hasSuffix("\r\n\r\n"))
    }

    @Test("the connection counts as open when the welcome has come, not before")
    func welcome() throws {
        let broker = try ScriptedBroker()
        let answer = try broker.submit(ClientCommand.open)
        try broker.acceptOpening(try broker.acceptAttempt())
        #expect(!answer.isThere)
        try broker.send(ScriptedBroker.welcome)
        #expect(answer.isSuccess)
    }

    @Test("a refusal tells its status and the detail of its problem document")
    func refusal() throws {
        let broker = try ScriptedBroker()
        let answer = try broker.submit(ClientCommand.open)
        _ = try broker.acceptAttempt()
        let problem =
            #"{"type":"https://belfry.dev/problems/foreign-origin","status":403,"#
            + #""title":"Foreign origin","detail":"not yours"}"#
        try broker.refuse(403, problem)
        let refusal = BrokerRefusal(status: 403, content: Array(problem.utf8))
        #expect(answer.error == .openingRefused(refusal))
        #expect(
            "\(ClientError.openingRefused(refusal))"
                == "the broker refused the connection with 403: not yours")
    }

    @Test(
        "an answer of another shape ends its call, and not the line",
        arguments: ["null", "[]", "{}", #"{"id":7}"#])
    func otherShape(result: String) throws {
        let broker = try ScriptedBroker.opened()
        let post = try broker.submit { .post(PostWish(name: "A"), $0) }
        try broker.answerLast(result)
        #expect(post.error == .notUnderstood)
        #expect(try !broker.heard().contains("close 1002"))
    }

    @Test("a refusal whose content breaks off is nobody's word, and says its status")
    func brokenRefusal() throws {
        let broker = try ScriptedBroker()
        let answer = try broker.submit(ClientCommand.open)
        _ = try broker.acceptAttempt()
        try broker.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 100\r\n\r\n{")
        #expect(!answer.isThere)
        broker.peer?.close()
        try broker.crank()
        #expect(
            answer.error == .foreignAnswer(ForeignAnswer(status: 503)))
    }

    @Test(
        "an answer that is not one to this opening ends it",
        arguments: [
            (
                "HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n",
                ClientError.invalidOpening(.noUpgrade)
            ),
            (
                "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    + "Sec-WebSocket-Accept: AAAA\r\n\r\n", .invalidOpening(.wrongAccept)
            ), ("SSH-2.0-OpenSSH\r\n", .http(.malformedStartLine)),
        ])
    func invalid(bytes: String, error: ClientError) throws {
        let broker = try ScriptedBroker()
        let answer = try broker.submit(ClientCommand.open)
        _ = try broker.acceptAttempt()
        try broker.say(bytes)
        #expect(answer.error == error)
    }

    @Test("a port where nobody listens is told with its error number")
    func unreachable() throws {
        let broker = try ScriptedBroker()
        let answer = try broker.submit(ClientCommand.open)
        let attempt = try #require(broker.kernel.takeAttempt())
        attempt.refuseAttempt(errno: ECONNREFUSED)
        try broker.crank()
        #expect(answer.error == .connectionFailed(errno: ECONNREFUSED))
    }

    @Test("a broker that does not welcome in time is given up")
    func timeout() throws {
        let broker = try ScriptedBroker()
        let answer = try broker.submit(ClientCommand.open)
        try broker.acceptOpening(try broker.acceptAttempt())
        try broker.advance(.seconds(9))
        #expect(!answer.isThere)
        try broker.advance(.seconds(2))
        #expect(answer.error == .timedOut)
    }
}

@Suite("ClientLoop: requests and deliveries (JSON-RPC 2.0)")
struct ClientRequestTests {
    @Test("a registration, its answer and a delivery, in any pieces", arguments: [true, false])
    func observe(byteByByte: Bool) async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = NotificationBuffer(ClientOptions())
        let wish = ObserverWish(
            name: "Button", object: nil, selector: "input:", since: 7, buffer: buffer)
        let answer = try broker.submit { .addObserver(wish, $0) }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"addObserver","params":"#
                    + #"{"name":"Button","object":null,"selector":"input:","lifetime":"connection","since":7}}"#
            ])
        var bytes: [UInt8] = []
        for message in [
            #"{"jsonrpc":"2.0","id":1,"result":{"id":"o17","token":"o17.kJ3","since":1841}}"#,
            #"{"jsonrpc":"2.0","method":"input:","params":{"id":"01J","seq":1842,"name":"Button","#
                + #""object":"calculator","userInfo":{ "title" : "7" },"#
                + #""postedAt":"2026-11-21T08:00:00.000Z","redelivered":true}}"#,
        ] { FrameWriter.append(.text, payload: Array(message.utf8).span, to: &bytes) }
        for piece in byteByByte ? bytes.map({ [$0] }) : [bytes] {
            broker.peer?.send(piece)
            try broker.crank()
        }
        #expect(answer.value?.id == "o17")
        #expect(answer.value?.token == "o17.kJ3")
        let notification = try #require(try await buffer.next())
        #expect(notification.id == "01J")
        #expect(notification.sequence == 1842)
        #expect(notification.name == "Button")
        #expect(notification.object == "calculator")
        #expect(notification.userInfo?.text == #"{ "title" : "7" }"#)
        #expect(notification.postedAt == "2026-11-21T08:00:00.000Z")
        #expect(notification.isRedelivered)
    }

    @Test("a broker that compresses is understood, and gets plain messages")
    func compression() async throws {
        let broker = try ScriptedBroker()
        broker.compresses = true
        let answer = try broker.submit(ClientCommand.open)
        try broker.open()
        try #require(answer.isSuccess)
        let observation = try broker.observe(selector: "a")
        try broker.deliver(6, to: "a")
        #expect(try await observation.next()?.sequence == 6)
    }

    @Test("a delivery goes to the observation whose selector it names, and to no other")
    func routing() async throws {
        let broker = try ScriptedBroker.opened()
        let first = try broker.observe(selector: "a")
        let second = try broker.observe(selector: "b")
        try broker.deliver(6, to: "b")
        try broker.deliver(7, to: "unknown")
        try broker.deliver(8, to: "a")
        #expect(try await first.next()?.sequence == 8)
        #expect(try await second.next()?.sequence == 6)
    }

    @Test("a selector can have one observation at a time")
    func selectorInUse() throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe(selector: "a")
        let wish = ObserverWish(name: nil, object: nil, selector: "a", since: nil, buffer: buffer)
        #expect(try broker.submit { .addObserver(wish, $0) }.error == .selectorInUse("a"))
    }

    @Test("a refused registration tells the problem, and its sequence ends with it")
    func refused() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = NotificationBuffer(ClientOptions())
        let wish = ObserverWish(name: "", object: nil, selector: "a", since: nil, buffer: buffer)
        let answer = try broker.submit { .addObserver(wish, $0) }
        try broker.send(
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Invalid fields","#
                + #""data":{"status":422,"detail":"name is empty"}}}"#)
        let refusal = BrokerRefusal(
            code: -32_000, text: "name is empty", status: 422,
            problem: Array(#"{"status":422,"detail":"name is empty"}"#.utf8))
        #expect(answer.error == .refused(refusal))
        await #expect(throws: ClientError.refused(refusal)) { try await buffer.next() }
    }

    @Test("a post carries the userInfo as it is and gets its receipt")
    func post() throws {
        let broker = try ScriptedBroker.opened()
        let userInfo = try UserInfo(json: #" {"n":1E400} "#)
        let answer = try broker.submit {
            .post(PostWish(name: "A\"", object: "o", userInfo: userInfo), $0)
        }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"post","params":"#
                    + #"{"name":"A\"","object":"o","userInfo":{"n":1E400}}}"#
            ])
        try broker.send(
            #"{"jsonrpc":"2.0","id":1,"result":{"id":"01J","seq":9,"matched":3,"delivered":2,"#
                + #""held":1,"coalesced":0,"dropped":0,"acknowledged":1,"refused":0,"pending":1}}"#)
        let receipt = try #require(answer.value)
        #expect(receipt.id == "01J")
        #expect(receipt.sequence == 9)
        #expect(receipt.matched == 3)
        #expect(receipt.delivered == 2)
        #expect(receipt.held == 1)
        #expect(receipt.acknowledged == 1)
        #expect(receipt.pending == 1)
    }

    @Test("answers may come in any order")
    func order() throws {
        let broker = try ScriptedBroker.opened()
        let answers = try (1...2).map { _ in
            try broker.submit { .post(PostWish(name: "A"), $0) }
        }
        for id in [2, 1] {
            try broker.send(
                #"{"jsonrpc":"2.0","id":\#(id),"result":{"id":"n\#(id)","seq":\#(id)}}"#)
        }
        #expect(answers.map { $0.value?.id } == ["n1", "n2"])
    }

    @Test("a request that is not answered in time fails alone")
    func requestTimeout() throws {
        let broker = try ScriptedBroker.opened()
        let first = try broker.submit { .post(PostWish(name: "A"), $0) }
        try broker.advance(.seconds(29))
        let second = try broker.submit { .post(PostWish(name: "B"), $0) }
        #expect(!first.isThere)
        try broker.advance(.seconds(1))
        #expect(first.error == .timedOut)
        #expect(!second.isThere)
        try broker.send(#"{"jsonrpc":"2.0","id":1,"result":{"id":"late","seq":1}}"#)
        try broker.send(#"{"jsonrpc":"2.0","id":2,"result":{"id":"n","seq":2}}"#)
        #expect(second.value?.id == "n")
    }

    @Test("an observer that came too late for its owner is removed when the broker confirms it")
    func lateRegistration() throws {
        let broker = try ScriptedBroker.opened()
        let buffer = NotificationBuffer(ClientOptions())
        var options = ObserverOptions()
        options.timeout = .seconds(2)
        let wish = ObserverWish(
            name: "A", object: nil, selector: "a", since: nil, options: options, buffer: buffer)
        let answer = try broker.submit { .addObserver(wish, $0) }
        let asked = try broker.heard().last
        try broker.advance(.milliseconds(2_250))
        #expect(answer.error == .timedOut)
        try broker.answerLast(#"{"id":"o1","token":"o1.t","since":5}"#, asked: asked)
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":2,"method":"removeObserver","params":{"token":"o1.t"}}"#
            ])
    }

    @Test("a request may have a time of its own, of which the broker is not told")
    func ownTimeout() throws {
        let broker = try ScriptedBroker.opened()
        var wish = PostWish(name: "A")
        wish.options.timeout = .seconds(2)
        let answer = try broker.submit { .post(wish, $0) }
        #expect(try broker.heard().last?.contains("timeout") == false)
        try broker.advance(.milliseconds(2_250))
        #expect(answer.error == .timedOut)
    }

    @Test("as many requests as the limit wait, and one more is refused here")
    func requestLimit() throws {
        var options = ClientOptions()
        options.requestLimit = 1
        let broker = try ScriptedBroker.opened(options)
        let first = try broker.submit { .post(PostWish(name: "A"), $0) }
        let second = try broker.submit { .post(PostWish(name: "B"), $0) }
        #expect(!first.isThere)
        #expect(second.error == .tooManyRequests(limit: 1))
    }

    @Test("after its removal nothing comes out of an observation, not even what had arrived")
    func remove() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        try broker.deliver(6)
        let answer = try broker.submit { .removeObserver(selector: "notify", $0) }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":2,"method":"removeObserver","params":{"token":"o1.t"}}"#
            ])
        try broker.deliver(7)
        #expect(try await buffer.next() == nil)
        #expect(!answer.isThere)
        try broker.send(#"{"jsonrpc":"2.0","id":2,"result":{"removed":1}}"#)
        #expect(answer.isSuccess)
        #expect(try broker.submit { .removeObserver(selector: "notify", $0) }.isSuccess)
    }

    @Test("a gap is told with the next notification")
    func gap() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        for lost in ["3", "null"] {
            try broker.send(
                #"{"jsonrpc":"2.0","method":"belfry.gap","params":{"observer":"o1","#
                    + #""selector":"notify","lost":\#(lost),"reason":"unknown"}}"#)
            try broker.deliver(9)
        }
        #expect(try await buffer.next()?.gapBefore == .init(lostCount: 3, reason: "unknown"))
        #expect(try await buffer.next()?.gapBefore == .init(lostCount: nil, reason: "unknown"))
    }

    @Test("an observer that the broker removed ends behind what it got")
    func removedByBroker() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        try broker.deliver(6)
        try broker.send(
            #"{"jsonrpc":"2.0","method":"belfry.removed","params":"#
                + #"{"observer":"o1","reason":"removed","removedBy":"c9"}}"#)
        #expect(try await buffer.next()?.sequence == 6)
        await #expect(throws: ClientError.observerRemoved(reason: "removed")) {
            try await buffer.next()
        }
    }

    @Test("a request of the broker is answered: there is no such method")
    func brokerRequest() throws {
        let broker = try ScriptedBroker.opened()
        try broker.send(#"{"jsonrpc":"2.0","id":"x1","method":"input:","params":{}}"#)
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":"x1","error":{"code":-32601,"message":"Method not found"}}"#
            ])
    }
}
