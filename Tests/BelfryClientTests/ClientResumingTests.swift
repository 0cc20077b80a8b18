import BelfryLoop
import Testing

@testable import BelfryClient

@Suite("ClientLoop: resuming a session (Protocol.md section 6)")
struct ClientResumingTests {
    private static var options: ClientOptions {
        var options = ClientOptions()
        options.reconnects = true
        return options
    }

    private static var lasting: ObserverOptions {
        var terms = ObserverOptions()
        terms.lifetime = .token
        return terms
    }

    /// A client with one observer that has got number 6, and whose connection is lost.
    private func lostBroker() throws -> (broker: ScriptedBroker, buffer: NotificationBuffer) {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try broker.observe(terms: Self.lasting)
        try broker.deliver(6)
        broker.peer?.close()
        try broker.crank()
        return (broker, buffer)
    }

    @Test("a session goes on behind what has come, and nothing comes twice")
    func resumes() async throws {
        let (broker, buffer) = try lostBroker()
        try broker.reopen()
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":2,"method":"resume","params":"#
                    + #"{"session":"c4.Qz","after":6,"epoch":"k3"}}"#
            ])
        try broker.send(
            #"{"jsonrpc":"2.0","id":2,"result":{"client":"c4","observers":[{"id":"o1"}],"held":1}}"#
        )
        #expect(try broker.heard() == [])
        try broker.deliver(6, more: #","redelivered":true"#)
        try broker.deliver(7, more: #","redelivered":true"#)
        try broker.deliver(8)
        for seq: UInt64 in [6, 7, 8] { #expect(try await buffer.next()?.sequence == seq) }
        // The session is still the first one, and not that of the last welcome.
        broker.peer?.close()
        try broker.crank()
        try broker.reopen(pause: .seconds(2))
        #expect(try broker.heard().last?.contains(#""session":"c4.Qz","after":8"#) == true)
    }

    @Test("until the session goes on nothing else is sent")
    func notOpen() throws {
        let (broker, _) = try lostBroker()
        try broker.reopen()
        let asked = try broker.heard().last
        try broker.submit { .post(PostWish(name: "A"), $0) }
        #expect(try broker.heard() == [])
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#, asked: asked)
        #expect(try broker.heard().last?.contains(#""method":"post""#) == true)
    }

    @Test("a session that is not known any more begins anew, with what the ring has")
    func unknownSession() throws {
        let (broker, _) = try lostBroker()
        try broker.reopen()
        try broker.send(
            #"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Not found","#
                + #""data":{"status":404}}}"#)
        #expect(try broker.heard().last?.contains(#""lifetime":"token","since":6"#) == true)
    }

    @Test("a broker that has too much to do is asked again later")
    func overloaded() throws {
        let (broker, _) = try lostBroker()
        try broker.reopen()
        try broker.send(
            #"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Draining","#
                + #""data":{"status":503}}}"#)
        try broker.reopen(pause: .seconds(30))
        #expect(try broker.heard().last?.contains(#""method":"resume""#) == true)
    }

    @Test("numbers of another epoch are forgotten, and the broker tells the gap")
    func otherEpoch() async throws {
        let (broker, buffer) = try lostBroker()
        try broker.reopen(epoch: "other")
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#)
        try broker.send(
            #"{"jsonrpc":"2.0","method":"belfry.gap","params":{"observer":"o1","#
                + #""selector":"notify","lost":null,"reason":"unknown"}}"#)
        try broker.deliver(2, more: #","redelivered":true"#)
        #expect(try await buffer.next()?.sequence == 6)
        let next = try #require(try await buffer.next())
        #expect(next.sequence == 2)
        #expect(next.gapBefore == .init(lostCount: nil, reason: "unknown"))
    }

    @Test("an observer that was removed at the broker meanwhile ends, the others go on")
    func removedMeanwhile() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let first = try broker.observe(selector: "a", terms: Self.lasting)
        let second = try broker.observe(selector: "b", terms: Self.lasting)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o2"}],"held":0}"#)
        try broker.deliver(10, to: "b")
        #expect(try await second.next()?.sequence == 10)
        await #expect(throws: ClientError.observerRemoved(reason: "removed")) {
            try await first.next()
        }
    }

    @Test("an observer that was removed here meanwhile is removed at the broker")
    func removedHere() throws {
        let (broker, _) = try lostBroker()
        #expect(try broker.submit { .removeObserver(selector: "notify", $0) }.isSuccess)
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#)
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":3,"method":"removeObserver","params":{"observer":"o1"}}"#
            ])
    }

    @Test("an observer of the other lifetime is registered anew beside a session that goes on")
    func bothLifetimes() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try broker.observe(selector: "a", terms: Self.lasting)
        _ = try broker.observe(selector: "b")
        try broker.deliver(8, to: "a")
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#)
        // Number 8 came for one of them: the line may have ended before the other's frame of it.
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":4,"method":"addObserver","params":"#
                    + #"{"name":"A","object":null,"selector":"b","#
                    + #""lifetime":"connection","since":7}}"#
            ])
    }

    @Test(
        "observers of the connection go on, too, where the broker has not noticed that the line broke"
    )
    func takenOver() async throws {
        let broker = try ScriptedBroker.opened(Self.options)
        let buffer = try broker.observe()
        try broker.deliver(6)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.answerLast(#"{"client":"c4","observers":[{"id":"o1"}],"held":0}"#)
        #expect(try broker.heard() == [])
        try broker.deliver(7, more: #","redelivered":true"#)
        #expect(try await buffer.next()?.sequence == 6)
        #expect(try await buffer.next()?.sequence == 7)
    }

    @Test("a client that has no observers resumes what else it left at the broker")
    func nothingObserved() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"resume","params":"#
                    + #"{"session":"c4.Qz","epoch":"k3"}}"#
            ])
    }

    @Test(
        "an observer whose registration was lost with a new session is registered anew, and not ended"
    )
    func lostTwice() async throws {
        let (broker, buffer) = try lostBroker()
        try broker.reopen()
        try broker.refuseResume()
        broker.peer?.close()
        try broker.crank()
        try broker.reopen(pause: .seconds(2))
        try broker.answerLast(#"{"client":"c9","observers":[],"held":0}"#)
        try broker.answerLast(#"{"id":"o12","token":"o12.t","since":9}"#)
        try broker.deliver(10)
        #expect(try await buffer.next()?.sequence == 6)
        #expect(try await buffer.next()?.sequence == 10)
    }

    @Test("a suspended client is suspended again before its observers are registered anew")
    func suspended() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try broker.observe()
        let answer = try broker.submit { .setSuspended(true, $0) }
        try broker.answerLast(#"{"suspended":true}"#)
        #expect(answer.isSuccess)
        broker.peer?.close()
        try broker.crank()
        try broker.reopen()
        try broker.refuseResume()
        let heard = try broker.heard()
        #expect(heard.count == 2)
        #expect(
            heard.first?.contains(#""method":"setSuspended","params":{"suspended":true}"#) == true)
    }

    @Test(
        "after 1013 and 4008 nobody comes back within some seconds",
        arguments: [1013, 4008] as [UInt16])
    func overload(code: UInt16) throws {
        let broker = try ScriptedBroker.opened(Self.options)
        _ = try broker.observe()
        try broker.sendClose(code)
        try broker.advance(.milliseconds(3_990))
        #expect(broker.kernel.takeAttempt() == nil)
        // Four doublings of the first pause, and its upper half.
        try broker.advance(.milliseconds(4_010))
        #expect(broker.kernel.takeAttempt() != nil)
    }

    @Test("a broker that is about to stop is left alone for as long as it says")
    func draining() throws {
        let broker = try ScriptedBroker.opened(Self.options)
        try broker.send(
            #"{"jsonrpc":"2.0","method":"belfry.draining","params":"#
                + #"{"deadline":"t","reconnectAfter":3.5}}"#)
        try broker.sendClose(1012)
        try broker.advance(.milliseconds(3_400))
        #expect(broker.kernel.takeAttempt() == nil)
        try broker.reopen(pause: .milliseconds(1_100))
    }
}

@Suite("ClientLoop: posts with options (Protocol.md section 1)")
struct ClientPostingTests {
    @Test("all options go out in the words of the broker")
    func options() throws {
        let broker = try ScriptedBroker.opened()
        var wish = PostWish(name: "A")
        wish.options.style = .idle
        wish.options.coalescing = [.onName, .onSender]
        wish.options.keep = .latest
        wish.options.modes = ["default", "modal"]
        wish.options.maxDelay = .milliseconds(1_500)
        wish.options.isImmediate = true
        wish.options.timeToLive = .seconds(60)
        wish.options.causedBy = "01J"
        wish.options.wait = .zero
        wish.options.reportsObservers = true
        wish.options.idempotencyKey = "k"
        _ = try broker.submit { .post(wish, $0) }
        wish.options = PostOptions()
        wish.options.coalescing = []
        _ = try broker.submit { .post(wish, $0) }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"post","params":{"name":"A","causedBy":"01J","#
                    + #""style":"idle","coalesce":["name","sender"],"keep":"latest","#
                    + #""modes":["default","modal"],"maxDelay":1.5,"immediate":true,"ttl":60,"#
                    + #""wait":0,"report":"observers","idempotencyKey":"k"}}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"post","params":{"name":"A","coalesce":"none"}}"#,
            ])
    }

    @Test("a queued post, a coalesced one, and one with rows")
    func receipts() throws {
        let queued = try PostReceipt(json: Array(#"{"id":"a","outcome":"queued"}"#.utf8))
        #expect(queued.outcome == .queued)
        #expect(queued.sequence == 0)
        let text = #"{"id":"a","outcome":"coalesced","into":"b"}"#
        #expect(try PostReceipt(json: Array(text.utf8)).outcome == .coalesced(into: "b"))
        let rows =
            #"{"id":"a","seq":3,"matched":2,"delivered":2,"acknowledged":1,"refused":1,"dequeued":4,"#
            + #""observers":[{"id":"o1","outcome":"acknowledged"},"#
            + #"{"id":"o2","outcome":"refused","error":{"code":1,"message":"no"}}]}"#
        let posted = try PostReceipt(json: Array(rows.utf8))
        #expect(posted.outcome == .posted)
        #expect(posted.dequeued == 4)
        #expect(
            posted.observers == [
                .init(
                    observer: "o1", outcome: "acknowledged", refusal: nil, responder: nil,
                    reason: nil),
                .init(
                    observer: "o2", outcome: "refused", refusal: "no", responder: nil, reason: nil),
            ])
        #expect(throws: ClientError.notUnderstood) {
            try PostReceipt(json: Array(#"{"id":"a","outcome":"lost"}"#.utf8))
        }
    }

    @Test("a post that waits for its observers has that much longer, and others have not")
    func wait() throws {
        let broker = try ScriptedBroker.opened()
        var wish = PostWish(name: "A")
        wish.options.wait = .seconds(60)
        let first = try broker.submit { .post(wish, $0) }
        let second = try broker.submit { .post(PostWish(name: "B"), $0) }
        try broker.advance(.seconds(31))
        #expect(second.error == .timedOut)
        #expect(!first.isThere)
        try broker.advance(.seconds(60))
        #expect(first.error == .timedOut)
    }

    @Test("a call answers with its result, or its refusal")
    func call() throws {
        let broker = try ScriptedBroker.opened()
        let answer = try broker.submit {
            .call(method: "enterMode", params: Array(#"{"mode":"m"}"#.utf8), $0)
        }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"enterMode","params":{"mode":"m"}}"#
            ])
        try broker.send(#"{"jsonrpc":"2.0","id":1,"result":{"id":"m3"}}"#)
        #expect(answer.value == Array(#"{"id":"m3"}"#.utf8))
    }
}
