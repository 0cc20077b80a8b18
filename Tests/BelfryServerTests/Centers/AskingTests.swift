import Testing

@testable import BelfryServer

@Suite("Asks and their answers (rules R1 to R12)")
struct AskingTests {
    @Test("T200, R8: nobody holds the address: the default at once, or 503", arguments: [1, 2])
    func nobody(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let fallback = try stage.ask("w", "shouldClose", "default=true")
        #expect(fallback.status == 200)
        #expect(fallback.json["answer"] == true)
        #expect(fallback.json["by"] == "default")
        #expect(fallback.json["reason"] == "no-responder")
        let failure = try stage.ask("w", "count")
        #expect(failure.status == 503)
        #expect(failure.problem == "no-responder")
        #expect(failure.field("retry-after") != nil)
        #expect(failure.json["id"].text != nil)
        #expect(failure.json["path"].elements.map(\.text) == ["w"])
    }

    @Test("T202, R4: the answer is that of the responder, whatever JSON", arguments: [1, 2])
    func answered(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let observer = try stage.respond(stage.d, "w", ["shouldClose"])
        for answer in ["false", "null", #"{ "w" : 5 }"#, "[1,2]", #""x""#] {
            let peer = try stage.begin("w", "shouldClose", "default=9", #"{"sha":"4f2c"}"#)
            #expect(try peer.read() == nil)
            let frame = try stage.answer(stage.d, answer)
            #expect(frame["method"] == "shouldClose")
            let params = frame["params"]
            #expect(params["name"] == "shouldClose")
            #expect(params["object"] == "w")
            #expect(params["target"] == "w")
            #expect(params["userInfo"]["sha"] == "4f2c")
            #expect(params["observer"] == observer["id"])
            #expect(params["answerBy"].text != nil)
            let response = try #require(try peer.read())
            #expect(response.status == 200)
            #expect(response.json["id"] == params["id"])
            #expect(response.text.contains(#""answer":\#(answer),"by":"responder""#))
            #expect(response.json["observer"] == observer["id"])
            #expect(response.json["path"].elements.map(\.text) == ["w"])
        }
        #expect(try stage.asks(stage.e).isEmpty)
    }

    @Test(
        "an ask over JSON-RPC is answered with its id, behind calls that came later",
        arguments: [1, 2])
    func calls(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        try stage.respond(stage.d, "w", ["a"])
        let text = stage.asker.call("ask", #"{"object":"w","selector":"a","userInfo":{"n":1}}"#)
        let id = try #require(try Value(Array(text.utf8))["id"].int)
        try stage.asker.send(text)
        #expect(try stage.asker.result("post", #"{"name":"x"}"#)["seq"].int != nil)
        #expect(try stage.asker.takeAnswer(id) == nil)
        try stage.answer(stage.d, "7")
        let answer = try #require(try stage.asker.takeAnswer(id))
        #expect(answer["result"]["answer"] == 7)
        #expect(answer["result"]["by"] == "responder")
        let problem = try stage.asker.problem("ask", #"{"object":"nobody","selector":"a"}"#)
        #expect(problem["status"] == 503)
        #expect(problem["path"].elements.map(\.text) == ["nobody"])
    }

    @Test("asks of a batch are answered with it, when the last answer is there")
    func batch() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a", "b"])
        try stage.asker.send(
            """
            [{"jsonrpc":"2.0","id":71,"method":"ask","params":{"object":"w","selector":"a"}},\
            {"jsonrpc":"2.0","id":72,"method":"ask","params":{"object":"v","selector":"a"}}]
            """)
        #expect(try stage.asker.takeMessages().isEmpty)
        try stage.answer(stage.d, "1")
        let answers = try #require(try stage.asker.takeMessages().first).elements
        #expect(answers.map { $0["id"].int } == [71, 72])
        #expect(answers.first?["result"]["answer"] == 1)
        #expect(answers.last?["error"]["data"]["status"] == 503)
    }

    @Test("T204, R5: a selector that nobody implements is 501, and makes no frame")
    func notImplemented() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["count"])
        let response = try stage.ask("w", "row")
        #expect(response.status == 501)
        #expect(response.problem == "selector-not-implemented")
        #expect(try stage.asks(stage.d).isEmpty)
    }

    @Test(
        "T208, R1: a second responder replaces the first, whose token is gone", arguments: [1, 2])
    func replaced(loopCount: Int) throws {
        let stage = try AskStage(loopCount: loopCount)
        let first = try stage.respond(stage.d, "w", ["a"])
        try stage.respond(stage.e, "w", ["a"])
        let told = try stage.d.takeMessages(where: { $0["method"] == "belfry.removed" })
        #expect(told.map { $0["params"]["reason"].text } == ["replaced"])
        #expect(
            try stage.broker.get("/v1/observers/\(first["token"].text ?? "")").status == 410)
        let peer = try stage.begin("w", "a")
        try stage.answer(stage.e, "2")
        #expect(try peer.read()?.json["answer"] == 2)
        let refused = try stage.d.problem(
            "addObserver", AskStage.registration("w", ["a"], #","ifHeld":"refuse""#))
        #expect(refused["status"] == 409)
    }

    @Test("T210, R3: a responder observes what it implements, of its object")
    func observes() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["didMove"])
        for object in ["w", "v"] { try stage.broker.post(name: "didMove", object: object) }
        try stage.broker.post(name: "didMove")
        let messages = try stage.d.takeMessages(where: { $0["method"] == "didMove" })
        #expect(messages.map { $0["params"]["object"].text } == ["w"])
    }

    @Test("T213, T215, R7, R9: -32601 hands on to next, and at the end nobody implements it")
    func handedOn() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "view", ["copy"], #","next":"window""#)
        try stage.respond(stage.d, "window", [], #","next":"app""#)
        let last = try stage.respond(stage.e, "app", ["copy"])
        let peer = try stage.begin("view", "copy", "default=true")
        try stage.pass(stage.d)
        #expect(try stage.settlements(stage.d).isEmpty)
        let frame = try stage.answer(stage.e, "1")
        #expect(frame["params"]["object"] == "view")
        #expect(frame["params"]["target"] == "app")
        let response = try #require(try peer.read())
        #expect(response.json["path"].elements.map(\.text) == ["view", "window", "app"])
        #expect(response.json["observer"] == last["id"])
        let second = try stage.begin("view", "copy", "default=true")
        try stage.pass(stage.d)
        try stage.pass(stage.e)
        #expect(try second.read()?.json["reason"] == "selector-not-implemented")
        #expect(
            try stage.d.problem(
                "addObserver", AskStage.registration("app", [], #","next":"view""#))["status"]
                == 409)
    }

    @Test("R7: another error refuses, and the problem has it")
    func refused() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        let peer = try stage.begin("w", "a")
        try stage.reply(stage.d, #""error":{"code":7,"message":"no"}"#)
        let response = try #require(try peer.read())
        #expect(response.status == 502)
        #expect(response.problem == "responder-refused")
        #expect(response.json["error"]["code"] == 7)
        let large = try stage.begin("w", "a", "default=3")
        try stage.answer(stage.d, "\"" + String(repeating: "x", count: 256 << 10) + "\"")
        #expect(try large.read()?.json["reason"] == "responder-refused")
    }

    @Test("the time of an ask: 5 s, what it says, at least one second, and no more than is allowed")
    func waiting() throws {
        let stage = try AskStage { $0.maxWait = .seconds(8) }
        try stage.respond(stage.d, "w", ["a"])
        for (prefer, seconds) in [(nil, 5), ("wait=2", 2), ("wait=0", 1), ("wait=60", 8)] {
            let fields = prefer.map { ["Prefer: \($0)"] } ?? []
            let peer = try stage.begin("w", "a", fields: fields)
            try stage.broker.advance(by: .milliseconds(seconds * 1_000 - 100))
            #expect(try peer.read() == nil)
            try stage.broker.advance(by: .milliseconds(200))
            let response = try #require(try peer.read())
            #expect(response.status == 504)
            #expect(response.problem == "no-answer")
            #expect(try stage.settlements(stage.d) == ["expired"])
            _ = try stage.asks(stage.d)
        }
    }

    @Test("R12: with once nobody else is asked when who was asked goes away")
    func once() throws {
        let stage = try AskStage()
        let observer = try stage.respond(stage.d, "w", ["a"])
        let peer = try stage.begin("w", "a", "once=true")
        try stage.d.result("removeObserver", #"{"token":"\#(observer["token"].text ?? "")"}"#)
        let response = try #require(try peer.read())
        #expect(response.status == 502)
        #expect(response.problem == "responder-gone")
    }

    @Test("T236, R14: an ask ignores modes, and may be made while one is handled; 508 past 32")
    func nested() throws {
        let stage = try AskStage()
        try stage.respond(stage.d, "w", ["a"])
        try stage.asker.result("enterMode", #"{"mode":"modal"}"#)
        var cause = ""
        var peers: [HTTPPeer] = []
        for depth in 1...33 {
            let peer = try stage.begin("w", "a", cause.isEmpty ? "" : "causedBy=\(cause)")
            guard depth <= 32 else {
                let refused = try #require(try peer.read())
                #expect(refused.problem == "loop-detected" && refused.json["limit"] == 32)
                #expect(!refused.json.has("item"))
                break
            }
            peers.append(peer)
            cause = try #require(try stage.asks(stage.d).first?["params"]["id"].text)
        }
        #expect(try peers.allSatisfy { try $0.read() == nil })
    }

    @Test("T239a, R2: holders that share are asked in turn")
    func shared() throws {
        let stage = try AskStage()
        for peer in [stage.d, stage.e] {
            try stage.respond(peer, "pool", ["work"], #","ifHeld":"share""#)
        }
        var counts = [0, 0]
        for _ in 0..<6 {
            let peer = try stage.begin("pool", "work")
            for (place, client) in [stage.d, stage.e].enumerated() {
                guard let ask = try stage.asks(client).first else { continue }
                counts[place] += 1
                try client.send(
                    #"{"jsonrpc":"2.0","id":"\#(ask["id"].text ?? "")","result":0}"#)
            }
            #expect(try peer.read()?.status == 200)
        }
        #expect(counts == [3, 3])
    }

    @Test("T235, R18: who observes it is told of holders that come and go")
    func told() throws {
        let stage = try AskStage()
        try stage.asker.observe("belfry.responder.changed")
        try stage.respond(stage.d, "w", ["a"])
        let second = try stage.respond(stage.e, "w", ["a"])
        try stage.e.result("removeObserver", #"{"token":"\#(second["token"].text ?? "")"}"#)
        let states = try stage.asker.takeNotifications().map {
            "\($0["object"].text ?? "?") \($0["userInfo"]["state"].text ?? "?")"
        }
        #expect(states == ["w held", "w left", "w held", "w left"])
    }

    @Test("an ask makes its center, as a post does; a look does not")
    func center() throws {
        let broker = try Broker()
        #expect(try broker.get("/v1/centers/team/responders").status == 404)
        #expect(try broker.get("/v1/centers/team/responders/w").status == 404)
        #expect(try broker.request("POST", "/v1/centers/team/responders/w/a", "").status == 503)
        #expect(try broker.get("/v1/centers/team/responders").status == 200)
        #expect(try broker.get("/v1/centers/team/responders/w").status == 404)
    }

    @Test(
        "what is wrong with an ask is told with its place",
        arguments: [
            ("default=x", "", [], 422, "default"), ("once=2", "", [], 422, "once"),
            ("ttl=5", "", [], 422, "ttl"), ("ttl=0", "", ["Prefer: respond-async"], 422, "ttl"),
            ("ttl=2592001", "", ["Prefer: respond-async"], 422, "ttl"),
            ("style=asap", "", [], 422, "style"), ("", "[]", [], 422, "#"),
        ])
    func faults(query: String, body: String, fields: [String], status: Int, place: String) throws {
        let response = try AskStage().ask("w", "a", query, body, fields: fields)
        #expect(response.status == status)
        #expect(response.place == place)
    }
}
