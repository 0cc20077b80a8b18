import BelfryLoop
import BelfryWebSocket
import Synchronization
import Testing

@testable import BelfryClient

@Suite("ClientLoop: the end of a connection (RFC 6455 §7)")
struct ClientClosingTests {
    @Test(
        "a Close is answered and told to every observation and every request",
        arguments: [1000, 1001, 1008, 1012, 1013, 4001, 4002, 4008] as [UInt16])
    func close(code: UInt16) async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        try broker.deliver(6)
        let answer = try broker.submit { .post(PostWish(name: "A"), $0) }
        _ = try broker.heard()
        try broker.sendClose(code)
        let error = ClientError.closed(code: code, reason: "")
        #expect(try broker.heard() == ["close \(code)"])
        #expect(answer.error == error)
        #expect(try await buffer.next()?.sequence == 6)
        await #expect(throws: error) { try await buffer.next() }
        #expect(
            try broker.submit { .post(PostWish(name: "A"), $0) }.error == error)
    }

    @Test("a connection that ends without a Close is told so")
    func lost() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        broker.peer?.close()
        try broker.crank()
        await #expect(throws: ClientError.connectionLost) { try await buffer.next() }
    }

    @Test(
        "a text that is not of the protocol ends the connection with 1002",
        arguments: ["{", "[]", "{}"])
    func notUnderstood(text: String) async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        try broker.send(text)
        #expect(try broker.heard() == ["close 1002"])
        await #expect(throws: ClientError.notUnderstood) { try await buffer.next() }
    }

    @Test("a frame that breaks the protocol ends the connection")
    func badFrame() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        broker.peer?.send([0xC1, 0x00])
        try broker.crank()
        #expect(try broker.heard() == ["close 1002"])
        await #expect(throws: ClientError.webSocket(.reservedBits(4))) { try await buffer.next() }
    }

    @Test("a ping is answered with a pong")
    func ping() throws {
        let broker = try ScriptedBroker.opened()
        broker.peer?.send([0x89, 0x01, 0x41])
        try broker.crank()
        #expect(try broker.heard() == ["pong"])
    }

    @Test("closing removes each observer, then sends 1000 and waits for the answer")
    func closing() async throws {
        let broker = try ScriptedBroker.opened()
        let first = try broker.observe(selector: "a")
        let second = try broker.observe(selector: "b")
        let answer = try broker.submit(ClientCommand.close)
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":3,"method":"removeObserver","params":{"token":"o1.t"}}"#,
                #"{"jsonrpc":"2.0","id":4,"method":"removeObserver","params":{"token":"o2.t"}}"#,
            ])
        #expect(try await first.next() == nil)
        #expect(try await second.next() == nil)
        try broker.send(#"{"jsonrpc":"2.0","id":3,"result":{"removed":1}}"#)
        #expect(try broker.heard() == [])
        try broker.send(#"{"jsonrpc":"2.0","id":4,"result":{"removed":1}}"#)
        #expect(try broker.heard() == ["close 1000"])
        #expect(!answer.isThere)
        try broker.sendClose(1000)
        #expect(answer.isSuccess)
        #expect(
            try broker.submit { .post(PostWish(name: "A"), $0) }.error
                == .closedByOwner)
        #expect(try broker.submit(ClientCommand.close).isSuccess)
    }

    @Test("a broker that does not answer delays closing no longer than the option says")
    func closeTimeout() throws {
        let broker = try ScriptedBroker.opened()
        _ = try broker.observe()
        let answer = try broker.submit(ClientCommand.close)
        try broker.advance(.seconds(1))
        #expect(!answer.isThere)
        try broker.advance(.milliseconds(1_250))
        #expect(answer.isSuccess)
        #expect(broker.peer?.isClosed == true)
    }

    @Test("a broker that is silent is sent a ping, and given up when it does not answer")
    func silence() async throws {
        let broker = try ScriptedBroker.opened()
        let buffer = try broker.observe()
        try broker.advance(.seconds(46))
        #expect(try broker.heard() == ["ping"])
        broker.peer?.send([0x8A, 0x00])
        try broker.crank()
        try broker.advance(.seconds(46))
        #expect(try broker.heard() == ["ping"])
        try broker.advance(.seconds(46))
        await #expect(throws: ClientError.timedOut) { try await buffer.next() }
    }

    @Test(
        "a broker that tells its ping interval is asked by a call after it, and any frame is an answer",
        arguments: [
            #"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#,
        ])
    func pingCall(answer: String) async throws {
        let broker = try ScriptedBroker()
        let opened = try broker.submit(ClientCommand.open)
        try broker.acceptOpening(try broker.acceptAttempt())
        try broker.send(
            ScriptedBroker.welcome.replacing(#""seq":1841"#, with: #""seq":1841,"pingInterval":20"#)
        )
        try #require(opened.isSuccess)
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#
        try broker.advance(.seconds(19))
        #expect(try broker.heard() == [])
        try broker.advance(.milliseconds(1_250))
        #expect(try broker.heard() == [ping])
        try broker.advance(.seconds(9))
        try broker.send(answer)
        try broker.advance(.seconds(19))
        #expect(try broker.heard() == [])
        try broker.advance(.milliseconds(1_250))
        #expect(try broker.heard() == [ping.replacing(#""id":1"#, with: #""id":2"#)])
        try broker.advance(.seconds(9))
        #expect(broker.peer?.isClosed == false)
        try broker.advance(.milliseconds(1_250))
        #expect(broker.peer?.isClosed == true)
        #expect(
            try broker.submit { .post(PostWish(name: "A"), $0) }.error == .timedOut)
    }
}

@Suite("ClientLoop: reconnecting")
struct ClientReconnectingTests {
    private static var options: ClientOptions {
        var options = ClientOptions()
        options.reconnects = true
        return options
    }

    private func welcome(epoch: String) -> String {
        #"{"jsonrpc":"2.0","method":"belfry.welcome","params":"#
            + #"{"client":"c5","session":"c5.Qz","center":"default","epoch":"\#(epoch)","seq":9}}"#
    }

    @Test("a new connection goes on with the number behind the last delivery")
    func resumes() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try broker.observe()
        try broker.deliver(6)
        try broker.sendClose(1012)
        try broker.advance(.seconds(1))
        try broker.acceptOpening(try broker.acceptAttempt())
        try broker.send(welcome(epoch: "k3"))
        try broker.refuseResume()
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":3,"method":"addObserver","params":"#
                    + #"{"name":"A","object":null,"selector":"notify","#
                    + #""lifetime":"connection","since":6}}"#
            ])
        try broker.send(#"{"jsonrpc":"2.0","id":3,"result":{"id":"o9","token":"o9.t","since":9}}"#)
        try broker.deliver(8, more: #","redelivered":true"#)
        #expect(try await buffer.next()?.sequence == 6)
        let second = try #require(try await buffer.next())
        #expect(second.sequence == 8)
        #expect(second.gapBefore == nil)
        _ = try broker.submit { .removeObserver(selector: "notify", $0) }
        #expect(try broker.heard().last?.contains("o9.t") == true)
    }

    @Test("in another epoch the gap is told, and all that the broker has now comes once")
    func otherEpoch() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try broker.observe()
        try broker.deliver(900)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen(epoch: "other")
        try broker.refuseResume()
        #expect(try broker.heard().last?.hasSuffix(#""since":0}}"#) == true)
        try broker.send(#"{"jsonrpc":"2.0","id":3,"result":{"id":"o9","token":"o9.t","since":2}}"#)
        for seq in [1, 2] { try broker.deliver(seq, more: #","redelivered":true"#) }
        #expect(try await buffer.next()?.sequence == 900)
        let first = try #require(try await buffer.next())
        #expect(first.sequence == 1)
        #expect(first.gapBefore == .init(lostCount: nil, reason: "unknown"))
        let second = try #require(try await buffer.next())
        #expect(second.sequence == 2)
        #expect(second.gapBefore == nil)
        // The next connection of this epoch continues behind these.
        broker.peer?.close()
        try broker.crank()
        try broker.reopen(epoch: "other", pause: .seconds(2))
        try broker.refuseResume()
        #expect(try broker.heard().last?.hasSuffix(#""since":2}}"#) == true)
    }

    @Test("the gap of another epoch is told also when its first connection breaks at once")
    func otherEpochTwice() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try broker.observe()
        for pause in [1_000, 2_000] {
            broker.peer?.close()
            try broker.crank()
            try broker.reopen(epoch: "other", pause: .milliseconds(pause))
        }
        try broker.refuseResume()
        #expect(try broker.heard().last?.hasSuffix(#""since":0}}"#) == true)
        try broker.answerLast(
            #"{"id":"o9","token":"o9.t","since":2}"#, asked: #"{"id":4}"#)
        try broker.deliver(1, more: #","redelivered":true"#)
        #expect(try await buffer.next()?.gapBefore == .init(lostCount: nil, reason: "unknown"))
    }

    @Test("what is asked for while the connection is away waits for it, behind the observers")
    func waits() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try broker.observe()
        try broker.sendClose(1012)
        let early = try broker.submit { .post(PostWish(name: "B"), $0) }
        try broker.advance(.seconds(1))
        try broker.acceptOpening(try broker.acceptAttempt())
        let late = try broker.submit { .post(PostWish(name: "C"), $0) }
        try broker.send(welcome(epoch: "k3"))
        try broker.refuseResume()
        let heard = try broker.heard()
        #expect(heard.count == 3)
        #expect(heard.first?.contains("addObserver") == true)
        #expect(heard.dropFirst().first?.contains(#""name":"B""#) == true)
        try broker.send(#"{"jsonrpc":"2.0","id":4,"result":{"id":"n","seq":2}}"#)
        try broker.send(#"{"jsonrpc":"2.0","id":5,"result":{"id":"n","seq":3}}"#)
        #expect(early.isSuccess && late.isSuccess)
    }

    @Test(
        "what waits for a connection waits as long as for an answer, and as many as the limit wait")
    func waitsNotForEver() throws {
        var options = Self.options
        options.requestLimit = 1
        options.firstPause = .seconds(3_600)
        options.longestPause = .seconds(3_600)
        let broker = try ScriptedBroker.opened(options)
        try broker.sendClose(1012)
        let first = try broker.submit { .post(PostWish(name: "A"), $0) }
        let second = try broker.submit { .post(PostWish(name: "A"), $0) }
        #expect(second.error == .tooManyRequests(limit: 1))
        #expect(!first.isThere)
        try broker.submit(ClientCommand.close)
        #expect(first.error == .closedByOwner)
    }

    @Test("what nobody waits for any more when there is a connection again is not sent")
    func givenUp() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        try broker.sendClose(1012)
        let isWanted = Mutex(true)
        broker.door.submit(
            .post(
                PostWish(name: "A"),
                ClientCommand.Reply(while: { isWanted.withLock { $0 } }) { _ in
                    Issue.record("nobody waits for this answer")
                }))
        try broker.crank()
        isWanted.withLock { $0 = false }
        try broker.reopen()
        try broker.refuseResume()
        #expect(try broker.heard() == [])
    }

    @Test("a center that nobody waits for goes on trying, and what is asked for waits meanwhile")
    func connecting() throws {
        let broker = try ScriptedBroker("http://127.0.0.1:8080", Self.options)
        broker.door.submit(.open(nil))
        try broker.crank()
        let post = try broker.submit { .post(PostWish(name: "A"), $0) }
        try #require(broker.kernel.takeAttempt()).refuseAttempt(errno: 111)
        try broker.crank()
        try broker.reopen()
        #expect(try broker.heard().count == 1)
        try broker.send(#"{"jsonrpc":"2.0","id":1,"result":{"id":"n","seq":2}}"#)
        #expect(post.isSuccess)
    }

    @Test("without resumes each connection is a new client")
    func newClient() throws {
        var options = Self.options
        options.resumes = false
        let broker = try ScriptedBroker.opened(options)
        _ = try broker.observe()
        try broker.deliver(7)
        try broker.sendClose(1012)
        try broker.reopen()
        #expect(try broker.heard().last?.hasSuffix(#""lifetime":"connection","since":7}}"#) == true)
    }

    @Test("the owner is told that the connection is away, each failed attempt, and that it is back")
    func states() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        try broker.sendClose(1012)
        try broker.advance(.seconds(1))
        try #require(broker.kernel.takeAttempt()).refuseAttempt(errno: 111)
        try broker.crank()
        try broker.reopen(pause: .seconds(2))
        try broker.refuseResume()
        try broker.sendClose(4002)
        var states: [ConnectionState] = []
        for await state in broker.states { states.append(state) }
        #expect(
            states == [
                .away(.closed(code: 1012, reason: "")), .away(.connectionFailed(errno: 111)), .open,
                .over(.closed(code: 4002, reason: "")),
            ])
    }

    @Test("attempts that fail are repeated after pauses that grow up to the longest")
    func pauses() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        broker.peer?.close()
        try broker.crank()
        for attempt in 0..<10 {
            try broker.advance(min(.seconds(1) * (1 << attempt), .seconds(30)))
            let peer = try #require(broker.kernel.takeAttempt())
            peer.refuseAttempt(errno: 111)
            try broker.crank()
        }
    }

    @Test(
        "where another attempt would not end better there is none",
        arguments: [1008, 4001, 4002, 4003] as [UInt16])
    func final(code: UInt16) async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try broker.observe()
        try broker.sendClose(code)
        try broker.advance(.seconds(60))
        #expect(broker.kernel.takeAttempt() == nil)
        await #expect(throws: ClientError.closed(code: code, reason: "")) {
            try await buffer.next()
        }
    }

    @Test(
        "what the broker refuses at the opening ends the center where credentials or the name are wrong",
        arguments: [
            (401, false), (403, false), (421, false), (400, true), (429, true), (503, true),
        ])
    func refusedAgain(status: Int, comesAgain: Bool) throws {
        let broker = try ScriptedBroker.opened(Self.options)
        broker.peer?.close()
        try broker.crank()
        try broker.advance(.seconds(1))
        _ = try broker.acceptAttempt()
        try broker.refuse(status, #"{"type":"https://belfry.dev/problems/x","status":\#(status)}"#)
        try broker.advance(.seconds(60))
        #expect((broker.kernel.takeAttempt() != nil) == comesAgain)
    }

    @Test("after a frame that is not understood the connection is opened anew")
    func notUnderstood() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        try broker.send("42")
        try broker.reopen()
        try broker.refuseResume()
    }

    @Test("closing during a pause ends at once")
    func closing() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try broker.observe()
        try broker.sendClose(1012)
        #expect(try broker.submit(ClientCommand.close).isSuccess)
        #expect(try await buffer.next() == nil)
        try broker.advance(.seconds(60))
        #expect(broker.kernel.takeAttempt() == nil)
    }
}
