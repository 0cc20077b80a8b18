import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("WebSocket: JSON-RPC 2.0 (Protocol.md section 5)")
struct WebSocketCallTests {
    @Test("a parse error is answered with -32700, and the connection stays", arguments: [1, 2])
    func parseError(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        for text in ["{", "nonsense", "", #"{"jsonrpc":"2.0""#] {
            try socket.send(text)
            let answer = try #require(try socket.takeMessages().first)
            #expect(answer["error"]["code"] == -32700)
            #expect(answer["id"] == .null && answer.has("id"))
        }
        #expect(try socket.observe("a")["name"] == "a")
    }

    @Test(
        "faults of JSON-RPC itself have its codes",
        arguments: [
            (#"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#, -32601),
            (#"{"jsonrpc":"2.0","id":1,"method":"suspend","params":{}}"#, -32601),
            (#"{"jsonrpc":"2.0","id":1,"method":"post","params":[]}"#, -32602),
            (#"{"jsonrpc":"2.0","id":1,"method":"post","params":"a"}"#, -32602),
            (#"{"jsonrpc":"1.0","id":1,"method":"post"}"#, -32600),
            (#"{"id":1,"method":"post"}"#, -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600), ("[]", -32600), ("7", -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"post","params":{}}"#, -32000),
        ])
    func codes(text: String, code: Int) throws {
        let socket = try Broker().webSocket()
        try socket.send(text)
        let answers = try socket.takeMessages()
        #expect(answers.count == 1)
        #expect(answers[0]["error"]["code"].int == code)
        #expect(answers[0]["jsonrpc"] == "2.0")
        if code == -32000 {
            #expect(answers[0]["error"]["data"]["status"] == 422)
            #expect(answers[0]["error"]["data"]["errors"][0]["pointer"] == "#/name")
        }
    }

    @Test("the welcome tells after which silence a client is pinged", arguments: [25_000, 1_500])
    func pingInterval(milliseconds: Int) throws {
        let broker = try Broker { $0.pingInterval = .milliseconds(milliseconds) }
        let interval = try broker.webSocket().welcome["pingInterval"]
        #expect(interval == .number(Double(milliseconds) / 1_000))
    }

    @Test("a ping is answered with an empty object, and needs no grant", arguments: [1, 2])
    func ping(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) {
            $0.anonymousGrants = Grants([Grant([.modes])])
        }
        let socket = try broker.webSocket(loop: loopCount - 1)
        for params in ["", #","params":{}"#] {
            try socket.send(#"{"jsonrpc":"2.0","id":7,"method":"ping"\#(params)}"#)
            let answers = try socket.takeMessages()
            #expect(answers.count == 1)
            #expect(answers[0]["id"] == 7 && answers[0].has("result"))
            #expect(answers[0]["result"].keys == [])
        }
        let refused = try socket.answer("ping", #"{"now":1}"#)
        #expect(refused["error"]["data"]["errors"][0]["pointer"] == "#/now")
        try socket.send(#"{"jsonrpc":"2.0","method":"ping"}"#)
        #expect(try socket.takeMessages().isEmpty)
    }

    @Test("a response with an unknown id is ignored", arguments: [1, 2])
    func unknownResponse(loopCount: Int) throws {
        let socket = try Broker(loopCount: loopCount).webSocket(loop: loopCount - 1)
        try socket.send(#"{"jsonrpc":"2.0","id":99,"result":null}"#)
        try socket.send(#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}"#)
        try socket.send(#"[{"jsonrpc":"2.0","id":99,"result":null}]"#)
        #expect(try socket.takeMessages().isEmpty)
        #expect(try socket.observe("a")["name"] == "a")
    }

    @Test(
        "a notification of JSON-RPC acts and is not answered, even when it fails",
        arguments: [1, 2])
    func callsWithoutID(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        try socket.send(#"{"jsonrpc":"2.0","method":"post","params":{"name":"a"}}"#)
        try socket.send(#"{"jsonrpc":"2.0","method":"post","params":{}}"#)
        try socket.send(#"{"jsonrpc":"2.0","method":"nothing"}"#)
        let messages = try socket.takeMessages()
        #expect(messages.map { $0["params"]["name"] } == ["a"])
    }

    @Test("the answers of a batch come in one frame, in the order of its calls", arguments: [1, 2])
    func batch(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let calls = [
            #"{"jsonrpc":"2.0","id":"a","method":"addObserver","params":{"name":"a"}}"#,
            #"{"jsonrpc":"2.0","method":"post","params":{"name":"a"}}"#,
            #"{"jsonrpc":"2.0","id":2.5,"method":"post","params":{"name":"a"}}"#, "7",
            #"{"jsonrpc":"2.0","id":null,"method":"nothing"}"#,
            #"{"jsonrpc":"2.0","id":9,"method":"removeObserver","params":{"name":"a"}}"#,
        ]
        try socket.send("[\(calls.joined(separator: ","))]")
        let messages = try socket.takeMessages()
        let answers = try #require(messages.first { !$0.elements.isEmpty }).elements
        #expect(answers.map { $0["id"] } == ["a", .number(2.5), .null, .null, 9])
        #expect(answers[1]["result"]["seq"] == 2)
        #expect(answers[2]["error"]["code"] == -32600)
        #expect(answers[3]["error"]["code"] == -32601)
        #expect(answers[4]["result"] == ["removed": 1])
        #expect(messages.filter { $0.has("params") }.count == 2)
    }

    @Test("a batch has 1 to 1,000 calls")
    func batchLimit() throws {
        let socket = try Broker().webSocket()
        let call = #"{"jsonrpc":"2.0","id":1,"method":"post","params":{"name":"a"}}"#
        for count in [1_000, 1_001] {
            let calls = repeatElement(call, count: count).joined(separator: ",")
            try socket.send("[\(calls)]")
            let answer = try #require(try socket.takeMessages().first)
            #expect(answer.elements.count == (count == 1_000 ? 1_000 : 0))
            if count == 1_001 { #expect(answer["error"]["code"] == -32600) }
        }
    }

    @Test("many calls in one read are answered in their order", arguments: [1, 2])
    func manyCalls(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        for _ in 0..<20 { socket.put(socket.call("post", #"{"name":"a"}"#)) }
        try broker.crank()
        let answers = try socket.takeMessages()
        #expect(answers.map { $0["id"].int } == Array(1...20))
        #expect(answers.map { $0["result"]["seq"].int } == Array(1...20))
    }

    @Test(
        "since: first the result, then the gap and what the ring has, then live frames",
        arguments: [1, 2])
    func since(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.centerLimits.replayCountLimit = 3 }
        let socket = try broker.webSocket(loop: loopCount - 1)
        for _ in 0..<5 { try broker.post(name: "a") }
        try socket.send(socket.call("addObserver", #"{"name":"a","since":1}"#))
        var messages = try socket.takeMessages()
        #expect(messages.count == 5)
        #expect(messages[0]["result"]["since"] == 5)
        #expect(messages[1]["method"] == "belfry.gap")
        #expect(messages[1]["params"]["observer"] == messages[0]["result"]["id"])
        #expect(messages[1]["params"]["firstSeq"] == 2)
        #expect(messages[1]["params"]["lastSeq"] == 2)
        #expect(messages[2...].map { $0["params"]["seq"] } == [3, 4, 5])
        #expect(messages[2...].allSatisfy { $0["params"]["redelivered"] == true })
        try broker.post(name: "a")
        messages = try socket.takeMessages()
        #expect(messages.map { $0["params"]["seq"] } == [6])
        #expect(!messages[0]["params"].has("redelivered"))
    }

    @Test("since over HTTP replays on the client's WebSocket", arguments: [1, 2])
    func sinceOverHTTP(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try broker.post(name: "a")
        try broker.post(name: "b")
        let body = #"{"name":"a","since":0,"selector":"s","session":"\#(socket.session)"}"#
        #expect(try broker.post(body, target: "/v1/observers").status == 201)
        let messages = try socket.takeMessages()
        #expect(messages.map { $0["method"] } == ["s"])
        #expect(messages.map { $0["params"]["redelivered"] } == [true])
    }

    @Test("since in a batch: only the new observer gets what the ring has")
    func sinceInBatch() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe("a", selector: "old")
        try broker.post(name: "a")
        _ = try socket.takeMessages()
        try socket.send(
            "[" + socket.call("addObserver", #"{"name":"a","since":0,"selector":"new"}"#) + "]")
        let methods = try socket.takeMessages().compactMap { $0["method"].text }
        #expect(methods == ["new"])
    }

    @Test("a client removes its own observer by id, and nobody else's", arguments: [1, 2])
    func removeByID(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let (x, y) = (try broker.webSocket(loop: loopCount - 1), try broker.webSocket())
        let id = try x.observe("a")["id"].text ?? ""
        let params = #"{"observer":"\#(id)"}"#
        #expect(try y.problem("removeObserver", params)["status"] == 404)
        #expect(try x.result("removeObserver", params) == ["removed": 1])
        let both = #"{"observer":"\#(id)","name":"a"}"#
        #expect(try x.problem("removeObserver", both)["status"] == 422)
    }
}
