import BelfryCenter
import Testing

@testable import BelfryServer

@Suite("Looking at responders and asks (Protocol.md section 12)")
struct AskLookingTests {
    @Test("responders are listed with what they were asked and have answered", arguments: [1, 2])
    func responders(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let first = try stage.respond(
            stage.d, "w", ["a", "b"], #","next":"app","concurrency":2"#)
        try stage.respond(stage.e, "v", ["b"])
        try stage.e.observe("a", "w")
        for _ in 0..<2 { _ = try stage.begin("w", "a") }
        let asks = try stage.asks(stage.d)
        try stage.d.send(#"{"jsonrpc":"2.0","id":"\#(asks[0]["id"].text ?? "")","result":1}"#)
        func rows(_ query: String) throws -> [Value] {
            try stage.broker.get("/v1/responders\(query)", loop: stage.loop)
                .json["responders"].elements
        }
        let all = try rows("")
        #expect(all.map { $0["object"].text } == ["w", "v"])
        #expect(all[0]["id"] == first["id"])
        #expect(all[0]["implements"].elements.map(\.text) == ["a", "b"])
        #expect(all[0]["next"] == "app")
        #expect(all[0]["concurrency"] == 2)
        #expect(all[0]["openAsks"] == 1)
        #expect(all[0]["asked"] == 2)
        #expect(all[0]["answered"] == 1)
        #expect(try rows("?selector=a").map { $0["object"].text } == ["w"])
        #expect(try rows("?object=v").count == 1)
        #expect(try rows("?client=\(stage.d.client)").count == 1)
        #expect(try rows("?limit=1").count == 1)
        let holders = try stage.broker.get("/v1/responders/w").json["responders"].elements
        #expect(holders.map { $0["id"] } == [first["id"]])
        #expect(try stage.broker.get("/v1/responders/x").status == 404)
    }

    @Test("open asks are listed, the oldest first, without userInfo")
    func asks() throws {
        let stage = try AskStage()
        let observer = try stage.respond(stage.d, "w", ["a", "b"])
        for selector in ["a", "b"] { _ = try stage.begin("w", selector, "", #"{"n":1}"#) }
        func rows(_ query: String = "") throws -> [Value] {
            try stage.broker.get("/v1/asks\(query)").json["asks"].elements
        }
        let all = try rows()
        #expect(all.map { $0["selector"].text } == ["a", "b"])
        #expect(all.allSatisfy { $0["state"] == "delivered" && !$0.has("userInfo") })
        #expect(all.allSatisfy { $0["observer"] == observer["id"] })
        #expect(try rows("?selector=b").count == 1)
        #expect(try rows("?object=v").isEmpty)
        #expect(try rows("?observer=\(observer["id"].text ?? "?")").count == 2)
    }

    @Test("T238: explain tells who would be asked, and asks nobody", arguments: [1, 2])
    func explain(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "view", ["cut"], #","next":"app""#)
        let app = try stage.respond(stage.e, "app", ["copy"])
        let before = try stage.broker.post(name: "x")["seq"].int ?? 0
        for explanation in [
            try stage.broker.get("/v1/explain?object=view&selector=copy", loop: stage.loop).json,
            try stage.asker.result("explain", #"{"object":"view","selector":"copy"}"#),
        ] {
            let ask = explanation["ask"]
            #expect(ask["outcome"] == "delivered")
            #expect(ask["observer"] == app["id"])
            #expect(ask["path"].elements.map(\.text) == ["view", "app"])
            #expect(ask["skipped"].elements.map { $0["reason"].text } == ["not-implemented"])
        }
        #expect(try stage.asks(stage.e).isEmpty)
        #expect(try stage.broker.post(name: "x")["seq"].int == before + 1)
    }

    @Test("an answer is for who asked, or for who may look at it; others find nothing")
    func principals() async throws {
        let ask = AccessTests.grants(["ask"])
        let broker = try await AccessTests.broker([
            "d": AccessTests.grants(["respond"]), "one": ask, "other": ask,
            "looker": AccessTests.grants(["inspect"]),
            "elsewhere": AccessTests.grants(["inspect"], #","objects":["v"]"#),
            "boss": AccessTests.grants(["admin"]),
        ])
        let d = try broker.webSocket(fields: [Keys.field("d")])
        try d.result("addObserver", AskStage.registration("w", ["a"]))
        let accepted = try broker.request(
            "POST", "/v1/responders/w/a", "",
            fields: [Keys.field("one"), "Prefer: respond-async"])
        let location = try #require(accepted.field("location"))
        func status(_ method: String, _ id: String) throws -> Int {
            try broker.request(method, location, fields: [Keys.field(id)]).status
        }
        #expect(
            try ["one", "looker", "other", "elsewhere"].map { try status("GET", $0) } == [
                200, 200, 404, 404,
            ])
        #expect(
            try ["other", "looker", "boss"].map { try status("DELETE", $0) } == [404, 404, 204])
    }

    @Test("who registers needs respond on each selector, and ask at next; an alias on all")
    func grants() async throws {
        let broker = try await AccessTests.broker([
            "a": AccessTests.grants(["respond"], #","names":["a"],"objects":["w"]"#),
            "all": AccessTests.grants(["respond", "ask"]),
        ])
        func status(_ id: String, _ body: String) throws -> Int {
            try broker.request(
                "POST", "/v1/observers", body,
                fields: [Keys.field(id), "Content-Type: application/json"]
            ).status
        }
        #expect(try status("a", AskStage.registration("w", ["a"])) == 201)
        #expect(try status("a", AskStage.registration("v", ["a"])) == 403)
        #expect(try status("a", AskStage.registration("w", ["a", "b"])) == 403)
        #expect(try status("a", AskStage.registration("w", [])) == 403)
        #expect(try status("a", AskStage.registration("w", ["a"], #","next":"v""#)) == 403)
        #expect(try status("all", AskStage.registration("w", [], #","next":"v""#)) == 201)
    }

    @Test("limits of open asks: of the asker 429, of the center and of all bytes 503")
    func limits() throws {
        let stage = try AskStage {
            $0.centerLimits.clientAskLimit = 2
            $0.centerLimits.askLimit = 3
            $0.askByteLimit = 1_000
        }
        try stage.respond(stage.d, "w", ["a"])
        for _ in 0..<2 { _ = try stage.begin("w", "a") }
        let third = try stage.ask("w", "a", "default=1")
        #expect(third.status == 429)
        #expect(third.problem == "client-limit-reached")
        #expect(third.json["of"] == "asks")
        try stage.asker.send(stage.asker.call("ask", #"{"object":"w","selector":"a"}"#))
        let full = try stage.asker.problem("ask", #"{"object":"w","selector":"a"}"#)
        #expect(full["status"] == 503)
        for _ in 0..<3 { _ = try stage.asks(stage.d) }
        let large = try AskStage { $0.askByteLimit = 1_000 }
        try large.respond(large.d, "w", ["a"])
        let body = #"{"x":"\#(String(repeating: "x", count: 600))"}"#
        _ = try large.begin("w", "a", "", body)
        #expect(try large.ask("w", "a", "", body).problem == "overloaded")
        try large.answer(large.d, "1")
        #expect(try large.begin("w", "a", "", body).read() == nil)
    }
}
