import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Idempotency keys (Protocol.md section 1)")
struct IdempotencyTests {
    private static func post(
        _ broker: Broker, _ key: String, target: String = "/v1/channels/a", _ body: String = "{}",
        prefer: String? = nil, loop: Int = 0
    ) throws -> Response {
        let fields =
            ["Idempotency-Key: \(key)", "Content-Type: application/json"]
            + (prefer.map { ["Prefer: \($0)"] } ?? [])
        return try broker.request("POST", target, body, fields: fields, loop: loop)
    }

    @Test("a repetition gets the first answer, and nothing is posted again", arguments: [1, 2])
    func replay(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket()
        try socket.observe("a")
        let first = try Self.post(broker, "k1", loop: loopCount - 1)
        #expect(first.status == 200)
        #expect(first.field("idempotency-replayed") == nil)
        let again = try Self.post(broker, "k1", loop: loopCount - 1)
        #expect(again.status == 200)
        #expect(again.body == first.body)
        #expect(again.field("idempotency-replayed") == "true")
        #expect(try socket.takeNames() == ["a"])
        #expect(try Self.post(broker, "k2").json["seq"] == 2)
    }

    @Test(
        "status, Location and body are those of the first answer",
        arguments: [
            ("/v1/channels/a?style=asap", "{}", 202), ("/v1/channels/a?style=now", "{}", 200),
            ("/v1/channels/a?report=observers", "{}", 200),
            ("/v1/notifications", #"{"name":"a","style":"idle"}"#, 202),
            ("/v1/notifications", #"[{"name":"a"},{"name":"a","style":"asap"}]"#, 200),
            ("/v1/centers/team/channels/a?style=asap", "{}", 202),
        ])
    func forms(target: String, body: String, status: Int) throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe("a")
        let first = try Self.post(broker, "k", target: target, body)
        #expect(first.status == status)
        // Its fate meanwhile changes nothing.
        try broker.crank()
        let again = try Self.post(broker, "k", target: target, body)
        #expect(again.status == status)
        #expect(again.body == first.body)
        #expect(again.field("location") == first.field("location"))
        #expect((again.field("location") != nil) == (status == 202))
        #expect(again.field("idempotency-replayed") == "true")
    }

    @Test("the form is the first one's, whatever the repetition prefers")
    func minimal() throws {
        let broker = try Broker()
        #expect(try Self.post(broker, "k", prefer: "return=minimal").status == 204)
        let again = try Self.post(broker, "k")
        #expect(again.status == 204)
        #expect(again.body.isEmpty)
        #expect(again.field("idempotency-replayed") == "true")
    }

    @Test("another request under the same key is 422: another body, path, query or name")
    func reused() throws {
        let broker = try Broker()
        _ = try Self.post(broker, "k")
        #expect(try Self.post(broker, "k", #"{"k":1}"#).problem == "idempotency-key-reused")
        #expect(try Self.post(broker, "k", target: "/v1/channels/b").status == 422)
        #expect(try Self.post(broker, "k", target: "/v1/channels/a?object=o").status == 422)
        let socket = try broker.webSocket()
        let problem = try socket.problem("post", #"{"name":"a","idempotencyKey":"k"}"#)
        #expect(problem["status"] == 422)
        // Each center has keys of its own.
        #expect(try Self.post(broker, "k", target: "/v1/centers/team/channels/a").status == 200)
    }

    @Test("keys are kept for 5 minutes")
    func lifetime() throws {
        let broker = try Broker()
        _ = try Self.post(broker, "k")
        try broker.advance(by: .milliseconds(299_900))
        #expect(try Self.post(broker, "k").field("idempotency-replayed") == "true")
        try broker.advance(by: .milliseconds(200))
        let later = try Self.post(broker, "k")
        #expect(later.field("idempotency-replayed") == nil)
        #expect(later.json["seq"] == 2)
    }

    @Test("a refusal is no answer to keep")
    func refused() throws {
        let broker = try Broker()
        _ = try broker.post(#"{"mode":"held"}"#, target: "/v1/modes")
        let target = "/v1/channels/a?style=now"
        #expect(try Self.post(broker, "k", target: target).status == 409)
        let token = try broker.post(#"{"mode":"default"}"#, target: "/v1/modes").json["token"]
        #expect(token.text != nil)
        let second = try Self.post(broker, "k", target: target)
        #expect(second.status == 200)
        #expect(second.field("idempotency-replayed") == nil)
    }

    @Test("a second request waits for the first", arguments: [1, 2])
    func pending(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.result("addObserver", #"{"name":"a","acknowledge":true}"#)
        let peers = try (0..<2).map { _ in try broker.http(loop: loopCount - 1) }
        let text = HTTPPeer.text("POST", "/v1/channels/a", "", fields: ["Idempotency-Key: k"])
        for peer in peers { try peer.send(text) }
        #expect(try socket.takeNames() == ["a"])
        #expect(try peers[0].read() == nil)
        #expect(try peers[1].read() == nil)
        try socket.send(#"{"jsonrpc":"2.0","id":"o1:1","result":null}"#)
        let answers = try peers.map { try #require(try $0.read()) }
        #expect(answers.allSatisfy { $0.json["acknowledged"] == 1 })
        #expect(answers[0].body == answers[1].body)
        #expect(answers[0].field("idempotency-replayed") == nil)
        #expect(answers[1].field("idempotency-replayed") == "true")
    }

    @Test("the same over JSON-RPC", arguments: [1, 2])
    func overWebSocket(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let params = #"{"name":"a","idempotencyKey":"k","report":"observers"}"#
        try socket.observe("a")
        let first = try socket.result("post", params)
        #expect(try socket.result("post", params) == first)
        #expect(try socket.takeNames() == ["a"])
        let other = #"{"name":"b","idempotencyKey":"k"}"#
        #expect(try socket.problem("post", other)["status"] == 422)
    }

    @Test(
        "a key has 1 to 255 visible ASCII characters, or is a quoted string of them",
        arguments: [
            ("k", true), (String(repeating: "k", count: 255), true),
            (String(repeating: "k", count: 256), false), ("a b", false), ("caf\u{E9}", false),
            ("\"\"", false), ("\"a b\"", false), ("\"k-1\"", true),
        ])
    func keys(key: String, isGood: Bool) throws {
        let response = try Self.post(try Broker(), key)
        #expect(response.status == (isGood ? 200 : 422))
        if !isGood { #expect(response.place == "Idempotency-Key") }
    }

    @Test("quotation marks are not part of the key, and it stands once")
    func quoted() throws {
        let broker = try Broker()
        _ = try Self.post(broker, "k")
        #expect(try Self.post(broker, "\"k\"").field("idempotency-replayed") == "true")
        let twice = try broker.request(
            "POST", "/v1/channels/a", "", fields: ["Idempotency-Key: a", "Idempotency-Key: b"])
        #expect(twice.place == "Idempotency-Key")
    }
}
