import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Acknowledging observers (rules C12 to C14, Q8)")
struct AcknowledgingRouteTests {
    private static func stage(_ scene: Scene, observers: Int = 1) throws -> Stage {
        let stage = try Stage(scene)
        for _ in 0..<observers {
            try stage.observe(stage.x, "a", nil, terms: #","acknowledge":true"#)
        }
        return stage
    }

    /// The id of a delivery that was sent as a request.
    private static func requests(_ peer: SocketPeer) throws -> [Value] {
        try peer.takeMessages(where: { $0.has("method") && $0.has("id") })
    }

    private static func acknowledge(
        _ peer: SocketPeer, _ id: Value, error: String? = nil, result: String = "null"
    ) throws {
        let answer = error.map { #""error":\#($0)"# } ?? #""result":\#(result)"#
        try peer.send(#"{"jsonrpc":"2.0","id":"\#(id.text ?? "")",\#(answer)}"#)
    }

    /// A post that is not answered yet.
    private struct Pending {
        let stage: Stage
        let http: HTTPPeer?
        let call: Int

        /// The receipt, if it is there.
        func receipt() throws -> Value? {
            if let http { return try http.read()?.json }
            return try stage.poster.takeAnswer(call)?["result"]
        }
    }

    private static func begin(
        _ stage: Stage, prefer: String? = nil, wait: Int? = nil, report: Bool = false
    ) throws -> Pending {
        switch stage.door {
        case .http:
            let peer = try stage.broker.http(loop: stage.postLoop)
            let fields = wait.map { ["Prefer: wait=\($0)"] } ?? []
            let query = report ? "?report=observers" : ""
            try peer.send(HTTPPeer.text("POST", "/v1/channels/a\(query)", "", fields: fields))
            return Pending(stage: stage, http: peer, call: 0)
        case .webSocket:
            var members = #""name":"a""#
            if let wait { members += #","wait":\#(wait)"# }
            if report { members += #","report":"observers""# }
            let text = stage.poster.call("post", "{\(members)}")
            try stage.poster.send(text)
            let id = try Value(Array(text.utf8))["id"].int ?? 0
            return Pending(stage: stage, http: nil, call: id)
        }
    }

    @Test(
        "C13: a delivery is a request, and the post is answered with its answer",
        arguments: Scene.all)
    func acknowledged(scene: Scene) throws {
        let stage = try Self.stage(scene)
        let pending = try Self.begin(stage)
        #expect(try pending.receipt() == nil)
        let request = try #require(try Self.requests(stage.x).first)
        #expect(request["id"] == "o1:1")
        #expect(request["method"] == "notify")
        #expect(request["params"]["observer"] == "o1")
        try Self.acknowledge(stage.x, request["id"])
        let receipt = try #require(try pending.receipt())
        #expect(receipt["delivered"] == 1)
        #expect(receipt["acknowledged"] == 1)
        #expect(receipt["pending"] == 0)
    }

    @Test(
        "Q8, T48: who does not acknowledge is pending when the time is over", arguments: Scene.all)
    func late(scene: Scene) throws {
        let stage = try Self.stage(scene)
        let pending = try Self.begin(stage, wait: 1)
        try stage.broker.advance(by: .milliseconds(900))
        #expect(try pending.receipt() == nil)
        try stage.broker.advance(by: .milliseconds(200))
        let receipt = try #require(try pending.receipt())
        #expect(receipt["pending"] == 1)
        #expect(receipt["acknowledged"] == 0)
        // A late one counts too, and the fate shows it as it is then.
        try Self.acknowledge(stage.x, try Self.requests(stage.x)[0]["id"])
        let fate = try stage.broker.get("/v1/notifications/\(receipt["id"].text ?? "")").json
        #expect(fate["receipt"]["acknowledged"] == 1)
        #expect(fate["receipt"]["pending"] == 0)
    }

    @Test(
        "C13: a poster that does not say how long waits 5 s, and no longer than the broker allows",
        arguments: Scene.all)
    func usualWait(scene: Scene) throws {
        let stage = try Self.stage(scene)
        let pending = try Self.begin(stage)
        try stage.broker.advance(by: .milliseconds(4_900))
        #expect(try pending.receipt() == nil)
        try stage.broker.advance(by: .milliseconds(200))
        #expect(try pending.receipt()?["pending"] == 1)
        let short = try Stage(scene) { $0.maxWait = .seconds(2) }
        try short.observe(short.x, "a", nil, terms: #","acknowledge":true"#)
        let second = try Self.begin(short, wait: 60)
        try short.broker.advance(by: .milliseconds(2_100))
        #expect(try second.receipt()?["pending"] == 1)
    }

    @Test("Q8, T49: an observer that does not acknowledge is not waited for", arguments: Scene.all)
    func unwaited(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        let receipt = try #require(try Self.begin(stage).receipt())
        #expect(receipt["delivered"] == 1)
        #expect(receipt["pending"] == 0)
        #expect(try Self.requests(stage.x).isEmpty)
    }

    @Test("Prefer: respond-async, and a wait of 0, answer at once with pending")
    func respondAsync() throws {
        let stage = try Self.stage(Scene(door: .http, loopCount: 1))
        for (prefer, applied) in [("respond-async", "respond-async"), ("wait=0", nil)] {
            let response = try stage.broker.request(
                "POST", "/v1/channels/a", "", fields: ["Prefer: \(prefer)"])
            #expect(response.status == 200)
            #expect(response.json["pending"] == 1)
            #expect(response.field("preference-applied") == applied)
        }
        #expect(try stage.poster.result("post", #"{"name":"a","wait":0}"#)["pending"] == 1)
        // With both it waits that long (RFC 7240 §4.3).
        let peer = try stage.broker.http()
        try peer.send(
            HTTPPeer.text(
                "POST", "/v1/channels/a", "", fields: ["Prefer: respond-async, wait=1"]))
        #expect(try peer.read() == nil)
        try stage.broker.advance(by: .milliseconds(1_100))
        #expect(try peer.read()?.json["pending"] == 1)
    }

    @Test("Q2, T80: an asap post is answered long before the acknowledgement", arguments: Scene.all)
    func queued(scene: Scene) throws {
        let stage = try Self.stage(scene)
        let receipt = try stage.post(json: asap("a")).json
        #expect(receipt["outcome"] == "queued")
        #expect(try Self.requests(stage.x).count == 1)
        let fate = try stage.broker.get("/v1/notifications/\(receipt["id"].text ?? "")").json
        #expect(fate["receipt"]["pending"] == 1)
    }

    @Test("T239b: the row of an observer has its result, when there is room", arguments: Scene.all)
    func results(scene: Scene) throws {
        let stage = try Self.stage(scene, observers: 3)
        let pending = try Self.begin(stage, report: true)
        let requests = try Self.requests(stage.x)
        let long = "\"\(String(repeating: "x", count: 4_095))\""
        try Self.acknowledge(stage.x, requests[0]["id"], result: #"{"yes":1}"#)
        try Self.acknowledge(stage.x, requests[1]["id"], result: long)
        try Self.acknowledge(stage.x, requests[2]["id"])
        let receipt = try #require(try pending.receipt())
        #expect(receipt["acknowledged"] == 3)
        let rows = receipt["observers"].elements
        #expect(rows.map { $0["outcome"] } == Array(repeating: "acknowledged", count: 3))
        #expect(rows[0]["result"] == ["yes": 1])
        #expect(!rows[1].has("result") && rows[1]["resultOmitted"] == true)
        #expect(!rows[2].has("result") && !rows[2].has("resultOmitted"))
    }

    @Test("the results of all posts that wait share the bytes of --ask-limit", arguments: Scene.all)
    func room(scene: Scene) throws {
        let stage = try Stage(scene) { $0.askByteLimit = 10 }
        for _ in 0..<4 { try stage.observe(stage.x, "a", nil, terms: #","acknowledge":true"#) }
        let pending = try Self.begin(stage, report: true)
        let requests = try Self.requests(stage.x)
        for (place, result) in ["[1234]", "[123]", "[12]"].enumerated() {
            try Self.acknowledge(stage.x, requests[place]["id"], result: result)
            // Each is accounted for at the end of its turn.
            _ = try stage.x.result("setSuspended", #"{"suspended":false}"#)
        }
        try Self.acknowledge(stage.x, requests[3]["id"])
        let rows = try #require(try pending.receipt())["observers"].elements
        #expect(rows.map { $0["resultOmitted"] == true } == [false, true, false, false])
        #expect(rows.map { $0.has("result") } == [true, false, true, false])
    }

    @Test("a result past the limits of an answer acknowledges a post", arguments: Scene.all)
    func oversized(scene: Scene) throws {
        let stage = try Self.stage(scene)
        let pending = try Self.begin(stage, report: true)
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        try Self.acknowledge(stage.x, try Self.requests(stage.x)[0]["id"], result: deep)
        let receipt = try #require(try pending.receipt())
        #expect(receipt["acknowledged"] == 1)
        #expect(receipt["observers"][0]["resultOmitted"] == true)
    }

    @Test("an error is a refusal, and the report has it", arguments: Scene.all)
    func refused(scene: Scene) throws {
        let stage = try Self.stage(scene, observers: 2)
        let pending = try Self.begin(stage, report: true)
        let requests = try Self.requests(stage.x)
        // In any order.
        try Self.acknowledge(stage.x, requests[1]["id"])
        try Self.acknowledge(
            stage.x, requests[0]["id"], error: #"{"code":7,"message":"no"}"#)
        let receipt = try #require(try pending.receipt())
        #expect(receipt["acknowledged"] == 1)
        #expect(receipt["refused"] == 1)
        let rows = receipt["observers"].elements
        #expect(rows.map { $0["outcome"] } == ["refused", "acknowledged"])
        #expect(rows[0]["error"] == ["code": 7, "message": "no"])
    }

    @Test(
        "a client that goes is waited for no longer, and the report says so", arguments: Scene.all)
    func gone(scene: Scene) throws {
        let stage = try Self.stage(scene)
        let pending = try Self.begin(stage, report: true)
        try stage.x.cut()
        let receipt = try #require(try pending.receipt())
        #expect(receipt["observers"][0]["outcome"] == "disconnected")
        #expect(receipt["delivered"] == 1)
        #expect(receipt["pending"] == 0)
    }

    @Test(
        "C12: a handler that posts and waits for its own observer does not stop it",
        arguments: [1, 2])
    func noDeadlock(loopCount: Int) throws {
        let stage = try Self.stage(Scene(door: .webSocket, loopCount: loopCount))
        // X posts to itself, and gets its delivery before the answer.
        let text = stage.x.call("post", #"{"name":"a"}"#)
        let id = try #require(try Value(Array(text.utf8))["id"].int)
        try stage.x.send(text)
        #expect(try stage.x.takeAnswer(id) == nil)
        #expect(try stage.x.result("explain", #"{"name":"a"}"#)["observers"].elements.count == 1)
        let first = try #require(try Self.requests(stage.x).first)
        // The handler of the first posts again: that is delivered though the first is unanswered.
        let inner = stage.x.call(
            "post", #"{"name":"a","causedBy":"\#(first["params"]["id"].text ?? "")"}"#)
        let innerID = try #require(try Value(Array(inner.utf8))["id"].int)
        try stage.x.send(inner)
        let second = try #require(try Self.requests(stage.x).first)
        try Self.acknowledge(stage.x, second["id"])
        #expect(try stage.x.takeAnswer(innerID)?["result"]["acknowledged"] == 1)
        #expect(try stage.x.takeAnswer(id) == nil)
        try Self.acknowledge(stage.x, first["id"])
        #expect(try stage.x.takeAnswer(id)?["result"]["acknowledged"] == 1)
    }

    @Test("the array of a batch waits until all its calls are answered", arguments: [1, 2])
    func batchWaits(loopCount: Int) throws {
        let stage = try Self.stage(Scene(door: .webSocket, loopCount: loopCount))
        let calls = [
            stage.poster.call("post", #"{"name":"a"}"#), stage.poster.call("observers", "{}"),
            stage.poster.call("post", #"{"name":"a"}"#), stage.poster.call("nothing", "{}"),
        ]
        try stage.poster.send("[" + calls.joined(separator: ",") + "]")
        #expect(try stage.poster.takeMessages().isEmpty)
        #expect(try stage.poster.result("observers")["observers"].elements.count == 1)
        let requests = try Self.requests(stage.x)
        #expect(requests.count == 2)
        try Self.acknowledge(stage.x, requests[1]["id"])
        #expect(try stage.poster.takeMessages().isEmpty)
        try Self.acknowledge(stage.x, requests[0]["id"])
        let answers = try #require(try stage.poster.takeMessages().first).elements
        #expect(answers.map { $0["id"] } == [1, 2, 3, 4])
        #expect(answers[0]["result"]["acknowledged"] == 1)
        #expect(answers[1]["result"]["observers"].elements.count == 1)
        #expect(answers[2]["result"]["acknowledged"] == 1)
        #expect(answers[3]["error"]["code"] == -32601)
    }

    @Test("a post that wants no answer is waited for by nobody")
    func notification() throws {
        let stage = try Self.stage(Scene(door: .webSocket, loopCount: 1))
        try stage.poster.send(#"{"jsonrpc":"2.0","method":"post","params":{"name":"a"}}"#)
        #expect(try Self.requests(stage.x).count == 1)
        #expect(stage.broker.nodes[0].server.host.completions.waiting.isEmpty)
        #expect(try stage.poster.takeMessages().isEmpty)
    }

    @Test("responses that answer nothing are ignored", arguments: [1, 2])
    func strange(loopCount: Int) throws {
        let stage = try Self.stage(Scene(door: .webSocket, loopCount: loopCount))
        let pending = try Self.begin(stage)
        for id in [#""o1:9""#, #""o9:1""#, #""o1""#, "1", "null", #""x""#] {
            try stage.x.send(#"{"jsonrpc":"2.0","id":\#(id),"result":null}"#)
            // And no client acknowledges for another one.
            try stage.y.send(#"{"jsonrpc":"2.0","id":"o1:1","result":null}"#)
        }
        #expect(try pending.receipt() == nil)
        #expect(try stage.x.takeMessages().count == 1)
        try stage.x.send(
            #"[{"jsonrpc":"2.0","id":"o1:1","result":null},{"jsonrpc":"2.0","id":"o1:1","result":1}]"#
        )
        #expect(try pending.receipt()?["acknowledged"] == 1)
        #expect(try stage.x.takeMessages().isEmpty)
    }

    @Test(
        "after three missed deadlines posters wait no longer, until it acknowledges again",
        arguments: Scene.all)
    func missed(scene: Scene) throws {
        let stage = try Self.stage(scene)
        for _ in 0..<3 {
            let pending = try Self.begin(stage, wait: 1)
            #expect(try pending.receipt() == nil)
            try stage.broker.advance(by: .milliseconds(1_100))
            #expect(try pending.receipt()?["pending"] == 1)
        }
        #expect(try Self.begin(stage, wait: 1).receipt()?["pending"] == 1)
        let requests = try Self.requests(stage.x)
        #expect(requests.count == 4)
        try Self.acknowledge(stage.x, requests[0]["id"])
        #expect(try Self.begin(stage, wait: 1).receipt() == nil)
    }

    @Test(
        "1,000 may be unacknowledged; one more, and the observer counts as slow", arguments: [1, 2])
    func owing(loopCount: Int) throws {
        let stage = try Stage(Scene(door: .http, loopCount: loopCount)) {
            $0.centerLimits.unacknowledgedLimit = 3
        }
        try stage.observe(stage.x, "a", nil, terms: #","acknowledge":true"#)
        for k in 1...4 {
            let receipt = try stage.poster.result(
                "post", #"{"name":"a","wait":0,"userInfo":{"k":\#(k)}}"#)
            #expect(receipt["held"] == (k == 4 ? 1 : 0))
        }
        #expect(try stage.observers()[0]["state"] == "slow")
        let requests = try Self.requests(stage.x)
        #expect(requests.count == 3)
        try Self.acknowledge(stage.x, requests[0]["id"])
        #expect(try Self.requests(stage.x).map { $0["params"].key } == ["a4"])
        // It owes as many as before: only the next answer brings it below its limit.
        #expect(try stage.observers()[0]["state"] == "slow")
        try Self.acknowledge(stage.x, requests[1]["id"])
        #expect(try stage.observers()[0]["state"] == "live")
    }

    @Test("acknowledging is a grant")
    func grant() throws {
        let broker = try Broker { $0.anonymousGrants = Grants([Grant([.observe])]) }
        let socket = try broker.webSocket()
        let problem = try socket.problem("addObserver", #"{"name":"a","acknowledge":true}"#)
        #expect(problem["status"] == 403)
        #expect(try socket.observe("a")["acknowledge"] == false)
    }

    @Test("a client that resumes may acknowledge what it was sent before", arguments: Scene.all)
    func afterResume(scene: Scene) throws {
        let stage = try Self.stage(scene)
        _ = try stage.poster.result("post", #"{"name":"a","wait":0}"#)
        let before = try #require(try Self.requests(stage.x).first)
        try stage.x.cut()
        let back = try stage.back(stage.x)
        let again = try #require(try Self.requests(back).first)
        #expect(again["id"] == before["id"])
        #expect(again["params"]["redelivered"] == true)
        try Self.acknowledge(back, before["id"])
        try back.cut()
        #expect(try Self.requests(stage.back(stage.x)).isEmpty)
    }
}
