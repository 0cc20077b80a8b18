import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Askers that go away, and askers that wait for the ask of another (rules R16, R17, R20)")
struct AskLeavingRouteTests {
    private static let key = ["Idempotency-Key: k1"]
    private static let behind = HTTPPeer.text("GET", "/livez")

    @Test(
        "R16, R17: the first asker goes, and the second goes on waiting; the last one withdraws",
        arguments: [1, 2])
    func firstGoes(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"])
        let first = try stage.begin("w", "a", fields: Self.key)
        let second = try stage.begin("w", "a", fields: Self.key)
        let third = try stage.begin("w", "a", fields: Self.key)
        first.peer.close()
        third.peer.close()
        try stage.broker.crank()
        #expect(try stage.settlements(stage.d).isEmpty)
        #expect(try second.read() == nil)
        try stage.answer(stage.d, "1")
        let answer = try #require(try second.read())
        #expect(answer.status == 200)
        #expect(answer.json["answer"] == 1)
        let other = ["Idempotency-Key: k2"]
        let peers = [
            try stage.begin("w", "a", fields: other), try stage.begin("w", "a", fields: other),
        ]
        for (peer, settled) in zip(peers, [[], ["withdrawn"]]) {
            peer.peer.close()
            try stage.broker.crank()
            #expect(try stage.settlements(stage.d) == settled)
        }
    }

    @Test("R16, R17: so it is over JSON-RPC, and of one who has shut down its half")
    func firstGoesOverWebSocket() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let other = try stage.broker.webSocket()
        let call = #"{"object":"w","selector":"a","wait":10,"idempotencyKey":"z"}"#
        try stage.asker.send(stage.asker.call("ask", call))
        let text = other.call("ask", call)
        try other.send(text)
        stage.asker.peer.close()
        try stage.broker.crank()
        #expect(try stage.settlements(stage.d).isEmpty)
        try stage.answer(stage.d, "2")
        #expect(try other.takeMessages().last?["result"]["answer"] == 2)
        let first = try stage.begin("w", "a", fields: Self.key)
        let second = try stage.begin("w", "a", fields: Self.key)
        first.peer.halfClose()
        try stage.broker.crank()
        #expect(try first.read()?.problem == "already-settled")
        try stage.answer(stage.d, "3")
        #expect(try second.read()?.json["answer"] == 3)
    }

    @Test("R16: one that goes before its 202 withdraws its ask", arguments: [1, 2])
    func goesBeforeAccepted(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"])
        let peer = try stage.begin("w", "a", fields: ["Prefer: respond-async, wait=20"])
        peer.peer.close()
        try stage.broker.crank()
        #expect(try stage.settlements(stage.d) == ["withdrawn"])
        let call = #"{"object":"w","selector":"a","ttl":60,"wait":20}"#
        try stage.asker.send(stage.asker.call("ask", call))
        stage.asker.peer.close()
        try stage.broker.crank()
        #expect(try stage.settlements(stage.d) == ["withdrawn"])
        #expect(try stage.broker.get("/v1/asks").json["asks"].elements.isEmpty)
    }

    /// A broker with a store, and an ask that is open there and whose asker waits for its 202.
    private static func stored() throws -> (
        Broker, HandStore, asking: HTTPPeer, location: String
    ) {
        let (broker, store) = try Broker.durable()
        let d = try broker.webSocket()
        try d.send(
            d.call(
                "addObserver",
                AskStage.registration("w", ["a"], #","suspensionBehavior":"hold""#)))
        try store.commit(in: broker)
        let asking = try broker.http()
        try asking.send(
            HTTPPeer.text(
                "POST", "/v1/responders/w/a?ttl=600", "{}",
                fields: ["Prefer: respond-async, wait=20"]))
        try store.commit(in: broker)
        let shown = try d.takeMessages(where: { $0["method"] == "a" })
        let id = try #require(shown.first?["params"]["id"].text)
        return (broker, store, asking, "/v1/notifications/\(id)")
    }

    @Test("R16, R20: where it is stored already, its end is stored, too")
    func goesBeforeAcceptedAndStored() throws {
        let (broker, store, asking, location) = try Self.stored()
        asking.peer.close()
        try broker.crank()
        try store.commit(in: broker)
        let next = try Broker(beginning: store.beginning(afterOrderlyEnd: false))
        #expect(try next.get(location).json["state"] == "withdrawn")
    }

    @Test("R20: a broker that stops tells who waits that the stored ask goes on, and it does")
    func stopping() throws {
        let (broker, store, asking, location) = try Self.stored()
        try broker.signal(15)
        try broker.advance(by: .seconds(1))
        try store.commit(in: broker)
        let accepted = try #require(try asking.read())
        #expect(accepted.status == 202)
        #expect(accepted.json["outcome"] == "asked")
        #expect(accepted.field("location") == location)
        try broker.advance(by: .seconds(6))
        try store.commit(in: broker)
        let next = try Broker(beginning: store.beginning(afterOrderlyEnd: true))
        #expect(try next.get(location).json["state"] == "asked")
    }

    @Test("R20: so it is with one that is asked while the broker stops")
    func askedWhileStopping() throws {
        let (broker, store) = try Broker.durable()
        let d = try broker.webSocket()
        let text = d.call(
            "addObserver", AskStage.registration("w", ["a"], #","lifetime":"connection""#))
        try d.send(text)
        try store.commit(in: broker)
        let waiting = try broker.http()
        try waiting.send(
            HTTPPeer.text("POST", "/v1/responders/w/a", "", fields: ["Prefer: wait=60"]))
        try broker.signal(15)
        try d.send(d.call("ask", #"{"object":"w","selector":"a","ttl":60,"wait":20}"#))
        try store.commit(in: broker)
        try broker.advance(by: .seconds(6))
        try store.commit(in: broker)
        #expect(try waiting.read()?.problem == "draining")
        let answers = try d.takeMessages(where: { $0["result"].has("outcome") })
        #expect(answers.map { $0["result"]["outcome"].text } == ["asked"])
    }

    @Test("R17: the same key with another Prefer is the same request")
    func otherPreference() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let first = try stage.begin("w", "a", fields: Self.key)
        try stage.answer(stage.d, "[1, 2]")
        let answer = try #require(try first.read())
        for preference in ["wait=3", "respond-async", "respond-async, wait=5"] {
            let again = try stage.ask("w", "a", fields: Self.key + ["Prefer: \(preference)"])
            #expect(again.status == 200)
            #expect(again.body == answer.body)
            #expect(again.field("idempotency-replayed") == "true")
        }
        let other = ["Idempotency-Key: k2"]
        let accepted = try stage.ask("w", "a", fields: other + ["Prefer: respond-async"])
        let replayed = try stage.ask("w", "a", fields: other)
        #expect(replayed.status == 202)
        #expect(replayed.body == accepted.body)
        #expect(replayed.field("location") == accepted.field("location"))
    }

    @Test(
        "R16: an asker goes whose connection has bytes behind the ask, however many",
        arguments: ["G", "\r\n", behind, String(repeating: behind, count: 4_000)])
    func goesBehindBytes(bytes: String) throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        for isLate in [false, true] {
            let peer = try stage.broker.http()
            let ask = HTTPPeer.text("POST", "/v1/responders/w/a", "", fields: ["Prefer: wait=12"])
            try peer.send(isLate ? ask : ask + bytes)
            if isLate { try peer.send(bytes) }
            #expect(try stage.asks(stage.d).count == 1)
            peer.peer.close()
            try stage.broker.crank()
            #expect(try stage.settlements(stage.d) == ["withdrawn"])
        }
    }

    @Test(
        "R16: each ask of a pipeline whose client has shut down its half ends when its turn comes")
    func pipelined() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let peer = try stage.broker.http()
        let ask = HTTPPeer.text("POST", "/v1/responders/w/a", "", fields: ["Prefer: wait=12"])
        peer.peer.send((ask + ask + ask + Self.behind).utf8)
        peer.peer.halfClose()
        try stage.broker.crank()
        for _ in 1...3 { #expect(try peer.read()?.problem == "already-settled") }
        #expect(try peer.read()?.status == 200)
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("a post that waits for its observers is waited for to its end, with bytes behind it")
    func postGoesOn() throws {
        let stage = try AskStage()
        try stage.d.result(
            "addObserver", #"{"name":"a","acknowledge":true,"selector":"notify"}"#)
        let peer = try stage.broker.http()
        let post = HTTPPeer.text(
            "POST", "/v1/channels/a", "{}", fields: ["Prefer: wait=12"])
        peer.peer.send((post + Self.behind).utf8)
        peer.peer.halfClose()
        try stage.broker.crank()
        #expect(try peer.read() == nil)
        try stage.answer(stage.d, "null")
        #expect(try peer.read()?.json["acknowledged"] == 1)
        #expect(try peer.read()?.status == 200)
    }

    @Test("who waits for an ask that somebody withdraws is told which it was, and who was asked")
    func withdrawnByAnother() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let peer = try stage.begin("w", "a")
        let id = try #require(try stage.asks(stage.d).first?["params"]["id"].text)
        #expect(try stage.broker.request("DELETE", "/v1/notifications/\(id)").status == 204)
        let told = try #require(try peer.read())
        #expect(told.status == 409)
        #expect(told.problem == "already-settled")
        #expect(told.json["id"].text == id)
        #expect(told.json["path"].elements.map(\.text) == ["w"])
    }

    @Test("Preference-Applied: respond-async is said where nobody waited, as of a post")
    func appliedPreference() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let waiting = try stage.begin("w", "a", fields: ["Prefer: respond-async, wait=5"])
        try stage.answer(stage.d, "1")
        #expect(try waiting.read()?.field("preference-applied") == nil)
        let async = ["Prefer: respond-async"]
        #expect(
            try stage.ask("w", "a", fields: async).field("preference-applied") == "respond-async")
    }
}
