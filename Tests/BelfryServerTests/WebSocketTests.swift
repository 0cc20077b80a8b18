import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("WebSocket: the opening (RFC 6455 §4.2)")
struct WebSocketOpeningTests {
    @Test("a client that offers belfry.v1 gets it, one that offers none the same without a name")
    func subprotocols() throws {
        let broker = try Broker()
        for (offer, answer) in [
            ("belfry.v1", "belfry.v1"), ("other, belfry.v1", "belfry.v1"), (nil, nil),
        ] as [(String?, String?)] {
            let socket = try SocketPeer(http: broker.http(), path: "/v1/ws", subprotocol: offer)
            #expect(socket.subprotocol == answer)
            #expect(try socket.observe("a")["name"] == "a")
        }
    }

    @Test("a client that offers only others is refused")
    func foreignSubprotocol() throws {
        let fields = SocketPeer.openingFields + ["Sec-WebSocket-Protocol: mqtt, belfry.v2"]
        let response = try Broker().get("/v1/ws", fields: fields)
        #expect(response.problem == "malformed-request")
    }

    @Test(
        "what is no opening is refused, and told how to do it",
        arguments: [
            ("Upgrade: websocket", 426), ("Connection: Upgrade", 426),
            ("Sec-WebSocket-Version: 13", 426),
            ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", 400),
        ])
    func missingField(missing: String, status: Int) throws {
        let fields = SocketPeer.openingFields.filter { $0 != missing }
        for path in ["/v1/ws", "/v1/centers/team/ws"] {
            let response = try Broker().get(path, fields: fields)
            #expect(response.status == status)
            #expect(response.problem == (status == 426 ? "upgrade-required" : "malformed-request"))
            if status == 426 {
                #expect(response.field("upgrade") == "websocket")
                #expect(response.field("sec-websocket-version") == "13")
            }
        }
    }

    @Test("the welcome names client, session, center, epoch and number", arguments: [1, 2])
    func welcome(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        try broker.post(name: "a")
        let socket = try broker.webSocket(loop: loopCount - 1)
        #expect(
            socket.welcome.keys
                == ["client", "session", "center", "epoch", "seq", "pingInterval"])
        #expect(socket.session.hasPrefix(socket.client + "."))
        #expect(socket.session.count == socket.client.count + 23)
        #expect(socket.welcome["center"] == "default")
        #expect(socket.welcome["seq"] == 1)
    }

    @Test("frames that arrive right behind the opening are answered", arguments: [1, 2])
    func framesBehindOpening(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        var bytes = Array(
            HTTPPeer.text("GET", "/v1/ws", fields: SocketPeer.openingFields).utf8)
        let call = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"addObserver","params":{"name":"a"}}"#.utf8)
        FrameWriter.append(
            .text, payload: call.span, maskingKey: MaskingKey([1, 2, 3, 4]), to: &bytes)
        peer.peer.send(bytes)
        try broker.crank()
        #expect(try peer.read()?.status == 101)
        let text = String(decoding: peer.takeRest(), as: UTF8.self)
        #expect(text.contains("belfry.welcome"))
        #expect(text.contains(#""id":1,"result":"#))
        #expect(try broker.post(name: "a")["matched"] == 1)
    }
}

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

@Suite("WebSocket: frames and the close (RFC 6455 §5 to §7)")
struct WebSocketFrameTests {
    @Test("a binary message closes with 1003")
    func binary() throws {
        let socket = try Broker().webSocket()
        try socket.send(.binary, [1, 2, 3])
        try socket.read()
        #expect(socket.closeCode == 1003)
        #expect(socket.peer.sawEndOfOutput)
    }

    @Test("text that is not UTF-8 closes with 1007, an unmasked frame with 1002")
    func protocolErrors() throws {
        let broker = try Broker()
        let first = try broker.webSocket()
        try first.send(.text, [0xFF])
        try first.read()
        #expect(first.closeCode == 1007)
        let second = try broker.webSocket()
        second.peer.send([0x81, 0x00])
        try broker.crank()
        try second.read()
        #expect(second.closeCode == 1002)
        #expect(try broker.webSocket().observe("a")["name"] == "a")
    }

    @Test("a message has at most its limit, else it closes with 1009")
    func messageLimit() throws {
        let broker = try Broker { $0.messageByteLimit = 100 }
        let socket = try broker.webSocket()
        let call = socket.call("post", #"{"name":"a"}"#)
        let padding = String(repeating: " ", count: 100 - call.utf8.count)
        try socket.send(call + padding)
        #expect(try socket.takeAnswer(1)?["result"]["seq"] == 1)
        try socket.send(call + padding + " ")
        try socket.read()
        #expect(socket.closeCode == 1009)
    }

    @Test("fragments are one message, with control frames between them")
    func fragments() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        let other = try broker.webSocket()
        let call = Array(socket.call("post", #"{"name":"a"}"#).utf8)
        socket.put(.text, Array(call[..<10]), isFinal: false)
        try socket.send(.ping, Array("hey".utf8))
        #expect(try other.result("post", #"{"name":"b"}"#)["seq"] == 1)
        try socket.send(.continuation, Array(call[10...]))
        #expect(try socket.takeAnswer(1)?["result"]["seq"] == 2)
        #expect(socket.pongs == ["hey"])
    }

    @Test("a call that comes one byte at a time is answered", arguments: [1, 2])
    func byteByByte(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        var bytes: [UInt8] = []
        let call = Array(socket.call("post", #"{"name":"a"}"#).utf8)
        FrameWriter.append(
            .text, payload: call.span, maskingKey: MaskingKey([9, 8, 7, 6]), to: &bytes)
        for byte in bytes {
            #expect(try socket.takeMessages().isEmpty)
            socket.peer.send([byte])
            try broker.crank()
        }
        #expect(try socket.takeAnswer(1)?["result"]["seq"] == 1)
    }

    @Test(
        "a close is answered with its code, and the client is gone",
        arguments: [
            (1000 as UInt16?, 1000 as UInt16), (1001, 1001), (nil, 1005), (4242, 4242),
        ])
    func close(code: UInt16?, answer: UInt16) throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.result("addObserver", #"{"name":"a","lifetime":"connection"}"#)
        let payload = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
        try socket.send(.close, payload)
        try socket.read()
        #expect(socket.closeCode == answer)
        #expect(socket.peer.sawEndOfOutput)
        #expect(try broker.get("/v1/clients").json["clients"] == [])
        #expect(try broker.post(name: "a")["matched"] == 0)
    }

    @Test("after a Close frame nothing is sent and nothing is heard", arguments: [1, 2])
    func silenceAfterClose(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        socket.put(.close, [3, 232])
        socket.put(socket.call("post", #"{"name":"a"}"#))
        let poster = try broker.http()
        poster.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "").utf8)
        try broker.crank()
        #expect(try socket.takeMessages().isEmpty)
        #expect(try broker.webSocket().welcome["seq"] == 1)
    }

    @Test("a silent client is asked after 25 s, and closed 30 s later", arguments: [1, 2])
    func pings(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.result("addObserver", #"{"name":"a","lifetime":"connection"}"#)
        try broker.advance(by: .milliseconds(24_900))
        try socket.read()
        #expect(socket.pingCount == 0)
        try broker.advance(by: .milliseconds(400))
        try socket.read()
        #expect(socket.pingCount == 1)
        try socket.send(.pong, [])
        try broker.advance(by: .milliseconds(24_900))
        try broker.advance(by: .milliseconds(400))
        try socket.read()
        #expect(socket.pingCount == 2)
        try broker.advance(by: .milliseconds(29_500))
        #expect(!socket.peer.isClosed)
        try broker.advance(by: .milliseconds(900))
        #expect(socket.peer.isClosed)
        #expect(try broker.post(name: "a")["matched"] == 0)
    }

    @Test("the echo answers what it gets: text, binary, fragments, 16 MiB")
    func echo() throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let socket = try broker.webSocket("/debug/ws")
        try socket.send("hello")
        try socket.send(.binary, [1, 2, 3])
        socket.put(.text, Array("a".utf8), isFinal: false)
        socket.put(.continuation, Array("b".utf8), isFinal: false)
        try socket.send(.continuation, Array("c".utf8))
        #expect(try socket.takeEchoes() == [Array("hello".utf8), [1, 2, 3], Array("abc".utf8)])
    }

    @Test("a large echo leaves piece by piece when its reader takes it piece by piece")
    func largeEcho() throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let socket = try broker.webSocket("/debug/ws")
        let payload = [UInt8](repeating: 7, count: 1_200_000)
        socket.peer.writeCapacity = 100_000
        try socket.send(.binary, payload)
        for _ in 0..<4 {
            socket.peer.writeCapacity = 1 << 20
            try broker.crank()
        }
        #expect(try socket.takeEchoes() == [payload])
        #expect(socket.closeCode == nil)
    }
}
