import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("What becomes of asks: fates, withdrawals, keys, mailboxes (rules R10, R16, R17, R20)")
struct AskFateTests {
    static let async = "Prefer: respond-async"

    /// Asks for an answer later, and gives where its fate is.
    static func ask(_ stage: AskStage, _ query: String = "ttl=60") throws -> String {
        let response = try stage.ask("w", "a", query, fields: [async])
        #expect(response.status == 202)
        #expect(response.json["outcome"] == "asked")
        #expect(response.field("preference-applied") == "respond-async")
        let location = try #require(response.field("location"))
        #expect(location == "/v1/notifications/\(response.json["id"].text ?? "?")")
        return location
    }

    @Test(
        "T223: 202 after the wait, and the fate is a long poll until the answer", arguments: [1, 2])
    func later(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"])
        let asking = try stage.begin("w", "a", "ttl=60", fields: [Self.async + ", wait=1"])
        try stage.broker.advance(by: .milliseconds(900))
        #expect(try asking.read() == nil)
        try stage.broker.advance(by: .milliseconds(200))
        let accepted = try #require(try asking.read())
        #expect(accepted.status == 202)
        let location = try #require(accepted.field("location"))
        let open = try stage.broker.get(location, loop: stage.loop).json
        #expect(open["state"] == "asked")
        #expect(open["expiresAt"].text != nil)
        let looking = try stage.broker.http(loop: stage.loop)
        try looking.send(HTTPPeer.text("GET", location, fields: ["Prefer: wait=5"]))
        let short = try stage.broker.http(loop: 0)
        try short.send(HTTPPeer.text("GET", location, fields: ["Prefer: wait=1"]))
        #expect(try looking.read() == nil)
        try stage.broker.advance(by: .milliseconds(1_100))
        #expect(try short.read()?.json["state"] == "asked")
        #expect(try looking.read() == nil)
        try stage.answer(stage.d, #"{"n":1}"#)
        let fate = try #require(try looking.read()).json
        #expect(fate["state"] == "answered")
        #expect(fate["answer"]["n"] == 1)
        #expect(fate["by"] == "responder")
        // An ask that is over is reported at once.
        let late = try stage.broker.request("GET", location, fields: ["Prefer: wait=60"])
        #expect(late.json["state"] == "answered")
        try stage.broker.advance(by: .seconds(24 * 3_600))
        #expect(try stage.broker.get(location).status == 404)
    }

    @Test("an answer within the wait of respond-async is 200; without ttl it lives for an hour")
    func withinWait() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let peer = try stage.begin("w", "a", fields: [Self.async + ", wait=5"])
        try stage.answer(stage.d, "1")
        #expect(try peer.read()?.status == 200)
        let location = try Self.ask(stage, "")
        try stage.broker.advance(by: .seconds(3_590))
        #expect(try stage.broker.get(location).json["state"] == "asked")
        try stage.broker.advance(by: .seconds(11))
        let fate = try stage.broker.get(location).json
        #expect(fate["state"] == "failed")
        #expect(fate["problem"]["status"] == 504)
    }

    @Test("over JSON-RPC ttl is the switch")
    func calls() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let asked = try stage.asker.result("ask", #"{"object":"w","selector":"a","ttl":60}"#)
        #expect(asked["outcome"] == "asked")
        let id = asked["id"].text ?? "?"
        #expect(try stage.asker.result("withdraw", #"{"id":"\#(id)"}"#)["removed"] == 1)
        #expect(try stage.settlements(stage.d) == ["withdrawn"])
        #expect(try stage.asker.problem("withdraw", #"{"id":"\#(id)"}"#)["status"] == 409)
    }

    @Test("T225, R10, R11: who takes the address over is asked; a late answer is ignored")
    func takenOver() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let location = try Self.ask(stage)
        let first = try #require(try stage.asks(stage.d).first)
        try stage.respond(stage.e, "w", ["a"])
        #expect(try stage.settlements(stage.d) == ["passed"])
        try stage.d.send(#"{"jsonrpc":"2.0","id":"\#(first["id"].text ?? "")","result":1}"#)
        #expect(try stage.broker.get(location).json["state"] == "asked")
        let second = try stage.answer(stage.e, "2")
        #expect(second["params"]["id"] == first["params"]["id"])
        #expect(try stage.broker.get(location).json["answer"] == 2)
    }

    @Test("T227: DELETE withdraws an ask once, and nothing else", arguments: [1, 2])
    func withdrawn(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"])
        let location = try Self.ask(stage)
        let looking = try stage.broker.http(loop: stage.loop)
        try looking.send(HTTPPeer.text("GET", location, fields: ["Prefer: wait=5"]))
        #expect(try stage.broker.request("DELETE", location, loop: stage.loop).status == 204)
        #expect(try stage.settlements(stage.d) == ["withdrawn"])
        #expect(try looking.read()?.json["state"] == "withdrawn")
        let again = try stage.broker.request("DELETE", location)
        #expect(again.status == 409)
        #expect(again.problem == "already-settled")
        let post = try stage.broker.post(name: "x")["id"].text ?? "?"
        #expect(try stage.broker.request("DELETE", "/v1/notifications/\(post)").status == 404)
    }

    @Test(
        "R16: an asker that waits and goes away withdraws its ask, a 202 does not",
        arguments: [1, 2])
    func gone(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"])
        let peer = try stage.begin("w", "a")
        #expect(try stage.asks(stage.d).count == 1)
        peer.peer.close()
        try stage.broker.crank()
        #expect(try stage.settlements(stage.d) == ["withdrawn"])
        let location = try Self.ask(stage)
        _ = try stage.asks(stage.d)
        try stage.asker.send(stage.asker.call("ask", #"{"object":"w","selector":"a"}"#))
        #expect(try stage.asks(stage.d).count == 1)
        stage.asker.peer.close()
        try stage.broker.crank()
        #expect(try stage.settlements(stage.d) == ["withdrawn"])
        #expect(try stage.broker.get(location).json["state"] == "asked")
    }

    @Test("one who looks at a fate and goes away is forgotten")
    func lookerGone() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let location = try Self.ask(stage)
        let looking = try stage.broker.http()
        try looking.send(HTTPPeer.text("GET", location, fields: ["Prefer: wait=5"]))
        looking.peer.close()
        try stage.broker.crank()
        #expect(try stage.broker.get(location).json["state"] == "asked")
        try stage.answer(stage.d, "1")
        #expect(try stage.broker.get(location).json["state"] == "answered")
    }

    @Test("T231, R17: a second ask with the key waits for the first; the answer is replayed")
    func keyed() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let key = ["Idempotency-Key: k1"]
        let first = try stage.begin("w", "a", fields: key)
        let second = try stage.begin("w", "a", fields: key)
        try stage.answer(stage.d, "[1, 2]")
        let answer = try #require(try first.read())
        #expect(answer.field("idempotency-replayed") == nil)
        let replay = try #require(try second.read())
        #expect(replay.body == answer.body)
        #expect(replay.field("idempotency-replayed") == "true")
        #expect(try stage.ask("w", "a", fields: key).body == answer.body)
        #expect(
            try stage.ask("w", "a", "default=1", fields: key).problem == "idempotency-key-reused")
        #expect(try stage.asks(stage.d).isEmpty)
    }

    @Test("R17: a failure is replayed, but not 503 or 504; a 202 is")
    func keyedFailures() throws {
        let stage = try AskStage()
        let missing = ["Idempotency-Key: k0"]
        #expect(try stage.ask("w", "a", fields: missing).status == 503)
        try stage.respond(stage.d, "w", ["a"])
        let refusing = ["Idempotency-Key: k1"]
        let peer = try stage.begin("w", "a", fields: refusing)
        try stage.reply(stage.d, #""error":{"code":1,"message":"no"}"#)
        let failure = try #require(try peer.read())
        let again = try stage.ask("w", "a", fields: refusing)
        #expect(again.status == 502)
        #expect(again.body == failure.body)
        #expect(again.field("idempotency-replayed") == "true")
        let late = [Self.async, "Idempotency-Key: k2"]
        let accepted = try stage.ask("w", "a", fields: late)
        try stage.answer(stage.d, "1")
        let replayed = try stage.ask("w", "a", fields: late)
        #expect(replayed.status == 202)
        #expect(replayed.body == accepted.body)
        #expect(replayed.field("location") == accepted.field("location"))
        let free = try stage.begin("w", "a", fields: missing)
        try stage.answer(stage.d, "3")
        #expect(try free.read()?.json["answer"] == 3)
    }

    @Test("a mailbox is asked, and answers with its token", arguments: [1, 2])
    func mailbox(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let broker = stage.broker
        let mailbox = try broker.post(
            AskStage.registration("w", ["a"]), target: "/v1/observers", loop: stage.loop
        ).json
        let token = mailbox["token"].text ?? "?"
        func look(_ query: String = "") throws -> [Value] {
            try broker.get("/v1/observers/\(token)/notifications\(query)", loop: stage.loop)
                .json["notifications"].elements
        }
        func answer(_ id: String, _ body: String, _ query: String = "", token: String) throws
            -> Response
        {
            try broker.request(
                "PUT", "/v1/notifications/\(id)/answer\(query)", body,
                fields: ["Belfry-Token: \(token)"], loop: stage.loop)
        }
        let waiting = try broker.http(loop: stage.loop)
        try waiting.send(
            HTTPPeer.text(
                "GET", "/v1/observers/\(token)/notifications", fields: ["Prefer: wait=5"]))
        let peer = try stage.begin("w", "a", "", #"{"n":1}"#)
        let element = try #require(
            try waiting.read()?.json["notifications"].elements.first)
        #expect(element["target"] == "w")
        #expect(element["answerBy"].text != nil)
        #expect(element["userInfo"]["n"] == 1)
        let id = element["id"].text ?? "?"
        #expect(try look().count == 1)
        #expect(try answer(id, "true", token: "o999.wrong").status == 404)
        #expect(try broker.request("PUT", "/v1/notifications/\(id)/answer", "1").status == 404)
        #expect(try answer(id, "{", token: token).problem == "malformed-json")
        let answered = try answer(id, "true", token: token)
        #expect(answered.status == 204)
        #expect(answered.field("cache-control") == "no-store")
        #expect(try peer.read()?.json["answer"] == true)
        #expect(try answer(id, "false", token: token).problem == "already-settled")
        #expect(try look().isEmpty)
        for (query, status, body) in [
            ("?outcome=refused", 502, #"{"code":3,"message":"no"}"#), ("?outcome=passed", 501, ""),
        ] {
            let peer = try stage.begin("w", "a")
            let id = try look().first?["id"].text ?? "?"
            #expect(try answer(id, body, query, token: token).status == 204)
            #expect(try peer.read()?.status == status)
        }
        try stage.broker.post(name: "a", object: "w", loop: stage.loop)
        _ = try stage.begin("w", "a")
        let both = try look()
        #expect(both.map { $0.has("answerBy") } == [false, true])
        // A read acknowledges all but asks; `after` passes over them.
        #expect(try look("?after=\(both.last?["seq"].int ?? 0)").isEmpty)
        #expect(try look().map { $0.has("answerBy") } == [true])
    }

    @Test("an ask comes on the stream of a mailbox, and so does its end")
    func stream() throws {
        let stage = try AskStage()
        let mailbox = try stage.broker.post(
            AskStage.registration("w", ["a"]), target: "/v1/observers"
        ).json
        let stream = try stage.broker.events(
            "/v1/events?token=\(mailbox["token"].text ?? "?")")
        let peer = try stage.begin("w", "a")
        let events = try stream.takeEvents()
        #expect(events.count == 1)
        #expect(events.first?.data["target"] == "w")
        peer.peer.close()
        try stage.broker.crank()
        #expect(try stream.takeEvents().map(\.type) == ["belfry.settled"])
    }

    @Test("R6: an ask waits for who holds, and is shown when that one comes back")
    func held() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"], #","suspensionBehavior":"hold""#)
        try stage.d.result("setSuspended", #"{"suspended":true}"#)
        let peer = try stage.begin("w", "a")
        #expect(try stage.asks(stage.d).isEmpty)
        #expect(
            try stage.broker.get("/v1/asks").json["asks"].elements.map { $0["state"].text }
                == ["held"])
        try stage.d.result("setSuspended", #"{"suspended":false}"#)
        try stage.answer(stage.d, "1")
        #expect(try peer.read()?.json["answer"] == 1)
    }

    @Test(
        "T219, T221, R6: who does not hold is stepped over; who is delivered to at once is asked"
    )
    func suspended() throws {
        let stage = try AskStage()
        try stage.respond(
            stage.d, "w", ["a"], #","suspensionBehavior":"coalesce","next":"app""#)
        try stage.respond(stage.e, "app", ["a"])
        try stage.d.result("setSuspended", #"{"suspended":true}"#)
        let peer = try stage.begin("w", "a")
        try stage.answer(stage.e, "1")
        #expect(try peer.read()?.json["path"].elements.map(\.text) == ["w", "app"])
        try stage.respond(stage.d, "v", ["a"], #","suspensionBehavior":"deliverImmediately""#)
        let second = try stage.begin("v", "a")
        try stage.answer(stage.d, "2")
        #expect(try second.read()?.json["answer"] == 2)
    }

    @Test(
        """
        a broker that stops answers asks that wait with 503, \
        with a default too, and those who look
        """
    )
    func draining() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let location = try Self.ask(stage)
        let peer = try stage.begin("w", "a", "default=1", fields: ["Prefer: wait=60"])
        let looking = try stage.broker.http()
        try looking.send(HTTPPeer.text("GET", location, fields: ["Prefer: wait=60"]))
        try stage.broker.signal(15)
        #expect(try looking.read()?.json["state"] == "asked")
        #expect(try peer.read() == nil)
        try stage.broker.advance(by: .seconds(6))
        #expect(try peer.read()?.problem == "draining")
    }
}
