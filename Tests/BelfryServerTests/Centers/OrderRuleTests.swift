import BelfryAccess
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Order and synchrony, from outside (laws 2 and 3, rules C9 to C19, cases 4.3)")
struct OrderRuleTests {
    @Test(
        "law 2: for each client the numbers rise, and all clients see one order (C16)",
        arguments: Scene.all)
    func numbersRise(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil)
        try stage.observe(stage.y, nil)
        for number in 0..<20 { try stage.post("n\(number % 3)") }
        let numbers = try stage.x.takeNotifications().compactMap { $0["seq"].int }
        #expect(numbers == Array(1...20))
        #expect(try stage.y.takeNotifications().compactMap { $0["seq"].int } == numbers)
    }

    @Test("law 3: a receipt accounts for every observer that matched", arguments: Scene.all)
    func receipt(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.observe(stage.y, "a")
        let receipt = try stage.post("a").json
        #expect(
            receipt.keys == [
                "id", "seq", "matched", "delivered", "held", "coalesced", "dropped",
                "acknowledged", "refused", "pending", "dequeued",
            ])
        #expect(receipt["matched"] == 2)
        #expect(receipt["delivered"] == 2)
        for member in ["held", "coalesced", "dropped", "acknowledged", "refused", "pending"] {
            #expect(receipt[member] == 0)
        }
    }

    @Test(
        "C9: the observers of a client come in the order of their registration",
        arguments: Scene.all)
    func registrationOrder(scene: Scene) throws {
        let stage = try Stage(scene)
        let filters: [(String?, String?)] = [
            (nil, nil), ("a", "o"), (nil, "o"), ("a", nil), ("a", "o"), (nil, nil), (nil, "o"),
        ]
        var ids: [Value] = []
        for (place, filter) in filters.enumerated() {
            let row = try stage.observe(stage.x, filter.0, filter.1, selector: "s\(place)").json
            ids.append(row["id"])
        }
        try stage.post("a", "o")
        let methods = try stage.x.takeMessages().compactMap { $0["method"].text }
        #expect(methods == filters.indices.map { "s\($0)" })
        let report = try stage.broker.post(
            #"{"name":"a","object":"o"}"#, target: "/v1/notifications?report=observers"
        ).json["observers"].elements
        #expect(report.map { $0["id"] } == ids)
        for row in report { #expect(row["outcome"] == "delivered") }
    }

    @Test(
        "C10: a registration tells since, and nothing up to it is delivered", arguments: Scene.all)
    func since(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.post("a")
        try stage.post("a")
        let row = try stage.observe(stage.x, "a").json
        #expect(row["since"] == 2)
        #expect(try stage.x.takeNames().isEmpty)
        try stage.post("a")
        #expect(try stage.x.takeNotifications().map { $0["seq"] } == [3])
    }

    @Test(
        "C10, T40: who registers while handling a notification gets the next one",
        arguments: Scene.all)
    func registersInHandler(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.post("a")
        #expect(try stage.x.takeNames() == ["a"])
        try stage.observe(stage.x, "a")
        #expect(try stage.x.takeNames().isEmpty)
        try stage.post("a")
        #expect(try stage.x.takeNames() == ["a", "a"])
    }

    @Test("C10: in one JSON-RPC batch an observer gets what is posted behind it, and no more")
    func batchOrder() throws {
        let stage = try Stage(Scene(door: .webSocket, loopCount: 1))
        let calls = [
            stage.x.call("post", #"{"name":"a","userInfo":{"n":1}}"#),
            stage.x.call("addObserver", #"{"name":"a"}"#),
            stage.x.call("post", #"{"name":"a","userInfo":{"n":2}}"#),
        ]
        try stage.x.send("[" + calls.joined(separator: ",") + "]")
        let messages = try stage.x.takeMessages()
        let notifications = messages.filter { $0.has("params") }.map { $0["params"] }
        #expect(notifications.map { $0["userInfo"]["n"] } == [2])
        let answers = try #require(messages.first { !$0.elements.isEmpty })
        #expect(answers.elements.map { $0["id"].int } == [1, 2, 3])
    }

    @Test(
        "C11: after the answer to its own removal no frame of the observer follows",
        arguments: Scene.all)
    func removedOwn(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        stage.x.put(stage.x.call("removeObserver", #"{"name":"a"}"#))
        stage.poster.put(stage.poster.call("post", #"{"name":"a"}"#))
        try stage.broker.crank()
        let messages = try stage.x.takeMessages()
        let place = try #require(messages.firstIndex { $0["result"] == ["removed": 1] })
        #expect(messages[(place + 1)...].isEmpty)
        try stage.post("a")
        #expect(try stage.x.takeMessages().isEmpty)
    }

    @Test("C11: after the 204 no frame of the observer is written", arguments: Scene.all)
    func removedByHTTP(scene: Scene) throws {
        let stage = try Stage(scene)
        let token = try stage.observe(stage.x, "a").json["token"]
        #expect(try !stage.remove(token).isRefused)
        #expect(try stage.post("a").json["matched"] == 0)
        #expect(try stage.x.takeNames().isEmpty)
    }

    @Test(
        "C12, T51: a chain of causedBy ends with 508 at its limit, and the broker goes on",
        arguments: Scene.all)
    func loopDetected(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil)
        var last = try stage.post("a").json["id"].text
        for depth in 2...32 {
            let account = try stage.post(depth % 2 == 0 ? "b" : "a", causedBy: last)
            #expect(account.status == 200, "depth \(depth)")
            last = account.json["id"].text
        }
        let refused = try stage.post("b", causedBy: last)
        #expect(refused.status == 508)
        #expect(refused.json["type"].text?.hasSuffix("/loop-detected") == true)
        #expect(try stage.x.takeNotifications().count == 32)
        #expect(try stage.post("a").status == 200)
    }

    @Test(
        "C12: an unknown cause counts as depth 1, and a delivery names its cause",
        arguments: Scene.all)
    func unknownCause(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        let cause = "01JAAAAAAAAAAAAAAAAAAAAAAA"
        #expect(try stage.post("a", causedBy: cause).status == 200)
        #expect(try stage.x.takeNotifications().first?["causedBy"].text == cause)
        #expect(try stage.post("a", causedBy: "nonsense").place == "#/causedBy")
    }

    @Test(
        "C12: a post by a handler gets the next number, before anybody answers",
        arguments: Scene.all)
    func innerPost(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil)
        let outer = try stage.post("outer").json
        let inner = try stage.x.result(
            "post", #"{"name":"inner","causedBy":"\#(outer["id"].text ?? "")"}"#)
        #expect(inner["seq"].int == (outer["seq"].int ?? 0) + 1)
        #expect(try stage.x.takeNames() == ["outer", "inner"])
    }

    @Test("C14: a client that is gone changes nothing for the others", arguments: Scene.all)
    func deadClient(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.observe(stage.y, "a")
        stage.x.peer.reset()
        try stage.post("a")
        #expect(try stage.y.takeNames() == ["a"])
        let receipt = try stage.post("a").json
        #expect(receipt["delivered"] == 1)
        #expect(receipt["coalesced"] == 1)
    }

    @Test("C14, T53: a malformed frame ends its sender and nobody else", arguments: Scene.all)
    func malformedFrame(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.y, "a")
        stage.x.peer.send([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        try stage.broker.crank()
        try stage.x.read()
        #expect(stage.x.closeCode == 1002)
        try stage.post("a")
        #expect(try stage.y.takeNames() == ["a"])
    }

    @Test("C15, T19: a client gets what it posts itself, before its receipt", arguments: Scene.all)
    func ownPost(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.x.send(stage.x.call("post", #"{"name":"a"}"#))
        let messages = try stage.x.takeMessages()
        #expect(messages.count == 2)
        #expect(messages[0]["params"]["name"] == "a")
        #expect(messages[1]["result"]["delivered"] == 1)
    }

    @Test(
        "C17, T17: a post that nobody observes succeeds, and the report counts it",
        arguments: Scene.all)
    func nobody(scene: Scene) throws {
        let stage = try Stage(scene)
        for _ in 0..<3 { #expect(try stage.post("a").json["matched"] == 0) }
        let silent = try stage.observe(stage.x, "b").json
        let report = try stage.broker.get("/v1/reports/unmatched").json
        #expect(report["postedNeverObserved"] == [["name": "a", "posts": 3]])
        #expect(report["observedNeverPosted"][0]["id"] == silent["id"])
        #expect(report["observedNeverPosted"][0]["name"] == "b")
    }

    @Test("C19: an observer's row counts what it was sent", arguments: Scene.all)
    func counts(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.observe(stage.x, nil)
        try stage.post("a")
        try stage.post("b")
        #expect(try stage.observers().map { $0["delivered"] } == [1, 2])
    }

    @Test("T41: registering produces no frame", arguments: Scene.all)
    func silentRegistration(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        #expect(try stage.x.takeMessages().isEmpty)
        #expect(try stage.y.takeMessages().isEmpty)
    }

    @Test("T49: without acknowledging observers the answer comes at once", arguments: Scene.all)
    func atOnce(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        let receipt = try stage.post("a").json
        #expect(receipt["delivered"] == 1)
        #expect(receipt["pending"] == 0)
    }
}

@Suite("Centers, from outside (rule C18)")
struct CenterRuleTests {
    @Test("C18, D17: centers share nothing: neither observers nor numbers", arguments: [1, 2])
    func independent(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let one = try broker.webSocket("/v1/centers/one/ws")
        let two = try broker.webSocket("/v1/centers/two/ws", loop: loopCount - 1)
        #expect(one.welcome["center"] == "one")
        #expect(one.welcome["epoch"] != two.welcome["epoch"])
        #expect(try one.observe("a")["center"] == "one")
        try two.observe("a")
        for _ in 0..<3 {
            _ = try broker.request("POST", "/v1/centers/one/channels/a", "{}")
        }
        #expect(try one.result("post", #"{"name":"a"}"#)["seq"] == 4)
        #expect(try two.result("post", #"{"name":"a"}"#)["seq"] == 1)
        #expect(try one.takeNames().count == 4)
        #expect(try two.takeNames().count == 1)
        #expect(try broker.post(name: "a")["seq"] == 1)
    }

    @Test(
        "C18: a center comes into being by a post or an observer, never by a look",
        arguments: [1, 2])
    func coming(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        for path in ["observers", "clients", "channels", "explain?name=a", "reports/leaks"] {
            #expect(try broker.get("/v1/centers/c/\(path)").status == 404)
        }
        #expect(try broker.request("DELETE", "/v1/centers/c/observers/o1.x").status == 404)
        #expect(try names(broker).contains("c") == false)
        _ = try broker.request("POST", "/v1/centers/c/channels/a", "")
        #expect(try names(broker).contains("c"))
        #expect(try broker.get("/v1/centers/c/observers").json["observers"] == [])
        _ = try broker.events("/v1/centers/d/events?name=a", loop: loopCount - 1)
        #expect(try names(broker).contains("d"))
    }

    @Test("C18: the center default always exists", arguments: [1, 2])
    func defaultCenter(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        #expect(try broker.get("/v1/observers", loop: loopCount - 1).json["observers"] == [])
        #expect(try broker.get("/v1/explain?name=a").json["observers"] == [])
        #expect(try names(broker) == ["default"])
        #expect(try broker.get("/v1/centers/default/channels").json["channels"] == [])
    }

    @Test("C18: there are at most as many centers as the limit", arguments: [1, 2])
    func limit(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.centerLimit = 3 }
        for name in ["a", "b", "c", "d", "e"] {
            _ = try broker.request(
                "POST", "/v1/centers/\(name)/channels/x", "", loop: loopCount - 1)
        }
        #expect(try names(broker).count == 3)
        let refused = try broker.request("POST", "/v1/centers/z/channels/x", "")
        #expect(refused.problem == "overloaded")
        #expect(refused.field("retry-after") != nil)
        #expect(try broker.post(name: "a")["matched"] == 0)
    }

    private func names(_ broker: Broker) throws -> [String] {
        try broker.get("/v1/centers").json["centers"].elements.compactMap { $0["name"].text }
    }
}
