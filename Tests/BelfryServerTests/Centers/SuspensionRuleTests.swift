import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Suspension (Rules.md, D)")
struct SuspensionRuleTests {
    private static func behavior(_ behavior: String) -> String {
        #","suspensionBehavior":"\#(behavior)""#
    }

    @Test("D5, T95: drop loses what comes, and the loss is told", arguments: Scene.all)
    func drop(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil, nil, terms: Self.behavior("drop"))
        try stage.suspend(stage.x)
        for k in 1...2 {
            #expect(try stage.post(json: json(nil, "a", k: k)).json["dropped"] == 1)
        }
        #expect(try stage.observers()[0]["dropped"] == 2)
        try stage.suspend(stage.x, false)
        #expect(try stage.x.takeGaps() == ["dropped 2"])
        try stage.post("barrier")
        #expect(try stage.x.takeKeys() == ["barrier"])
    }

    @Test("D3, D6, T96: coalesce keeps the last of its kind", arguments: Scene.all)
    func coalesce(scene: Scene) throws {
        let stage = try Stage(scene)
        let row = try stage.observe(stage.x, "a", "o", terms: "")
        #expect(row["suspensionBehavior"] == "coalesce")
        try stage.suspend(stage.x)
        #expect(try stage.post(json: json(nil, "a", k: 1)).json["held"] == 1)
        for k in 2...3 {
            #expect(try stage.post(json: json(nil, "a", k: k)).json["coalesced"] == 1)
        }
        #expect(try stage.x.takeKeys() == [])
        try stage.suspend(stage.x, false)
        #expect(try stage.x.takeGaps() == ["coalesced 2"])
        #expect(try stage.x.takeKeys() == ["a3"])
    }

    @Test("D6, T97: a wildcard keeps the last of each kind, at its own place", arguments: Scene.all)
    func coalesceKinds(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil, "o", terms: "")
        try stage.suspend(stage.x)
        for (name, k) in [("a", 1), ("a", 2), ("b", 1), ("a", 3)] {
            _ = try stage.post(json: json(nil, name, k: k))
        }
        try stage.suspend(stage.x, false)
        #expect(try stage.x.takeKeys() == ["b1", "a3"])
    }

    @Test(
        "D9, T102: an immediate post comes at once, behind all that was held", arguments: Scene.all)
    func immediatePost(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "h", nil, terms: Self.behavior("hold"))
        try stage.observe(stage.x, "h", nil, terms: Self.behavior("drop") + #","selector":"d""#)
        try stage.suspend(stage.x)
        _ = try stage.post(json: json(nil, "h", k: 1))
        _ = try stage.post(json: json(nil, "h", k: 2))
        #expect(try stage.x.takeKeys() == [])
        let receipt = try stage.post(json: json(nil, "h", k: 3, more: #","immediate":true"#))
        #expect(receipt.json["delivered"] == 2)
        #expect(try stage.x.takeKeys() == ["h1", "h2", "h3", "h3"])
        _ = try stage.post(json: json(nil, "h", k: 4))
        #expect(try stage.x.takeKeys() == [])
    }

    @Test("D9: an immediate post needs the grant")
    func immediateGrant() throws {
        let broker = try Broker { $0.anonymousGrants = Grants([Grant([.post])]) }
        let body = json(nil, "a", more: #","immediate":true"#)
        #expect(try broker.post(body).problem == "forbidden")
        let batch = try broker.post("[\(json(nil, "b")),\(body)]")
        #expect(batch.problem == "forbidden")
        #expect(batch.place == "#/1")
        #expect(try broker.request("POST", "/v1/channels/a?immediate=true", "").status == 403)
        #expect(try broker.request("POST", "/v1/channels/a?immediate=false", "").status == 200)
    }

    @Test(
        "D8: an observer that delivers immediately does so, and is suspended again",
        arguments: Scene.all)
    func immediateObserver(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: Self.behavior("hold"))
        try stage.observe(stage.x, "i", nil, terms: Self.behavior("deliverImmediately"))
        try stage.suspend(stage.x)
        try stage.post("a")
        try stage.post("i")
        #expect(try stage.x.takeKeys() == ["a", "i"])
        try stage.post("a")
        #expect(try stage.x.takeKeys() == [])
        #expect(try stage.observers().map { $0["state"] } == ["asked", "asked"])
    }

    @Test(
        "D4, C14, T105: the client is suspended with all its observers, and no other",
        arguments: Scene.all)
    func oneClient(scene: Scene) throws {
        let stage = try Stage(scene)
        for peer in [stage.x, stage.y] {
            try stage.observe(peer, "a", nil, terms: Self.behavior("hold"))
            try stage.observe(peer, "b", nil, terms: Self.behavior("hold"))
        }
        try stage.suspend(stage.x)
        try stage.post("a")
        try stage.post("b")
        #expect(try stage.y.takeKeys() == ["a", "b"])
        #expect(try stage.x.takeKeys() == [])
        let rows = try stage.broker.get("/v1/clients").json["clients"].elements
        #expect(rows.map { $0["state"] } == ["asked", "live", "live"])
        #expect(rows[0]["held"] == 2)
        let asked = try stage.broker.get("/v1/clients?state=asked").json["clients"].elements
        #expect(asked.map { $0["id"] } == [rows[0]["id"]])
        let observers = try stage.broker.get("/v1/observers?state=asked").json["observers"]
        #expect(observers.elements.count == 2)
    }

    @Test(
        "law 3, D13, T107: a client that comes back is told what was dropped", arguments: Scene.all)
    func dropped(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: Self.behavior("drop"))
        try stage.x.cut()
        #expect(try stage.post("a").json["dropped"] == 1)
        let back = try stage.back(stage.x)
        #expect(try back.takeGaps() == ["dropped 1"])
        try stage.post("a")
        #expect(try back.takeKeys() == ["a"])
    }

    @Test("D10, T109: what cannot be delivered immediately comes when it can", arguments: Scene.all)
    func immediateWhenBack(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "i", nil, terms: Self.behavior("deliverImmediately"))
        try stage.x.cut()
        #expect(try stage.post(json: json(nil, "i", k: 1)).json["held"] == 1)
        #expect(try stage.back(stage.x).takeKeys() == ["i1"])
    }

    @Test("C11, T110: what was held for an observer goes with it", arguments: Scene.all)
    func removedWhileHeld(scene: Scene) throws {
        let stage = try Stage(scene)
        let row = try stage.observe(stage.x, "a", nil, terms: Self.behavior("hold"))
        try stage.observe(stage.x, "barrier")
        try stage.suspend(stage.x)
        let receipt = try stage.post("a").json
        #expect(try !stage.remove(row["token"]).isRefused)
        try stage.suspend(stage.x, false)
        try stage.post("barrier")
        #expect(try stage.x.takeKeys() == ["barrier"])
        let fate = try stage.broker.get("/v1/notifications/\(receipt["id"].text ?? "")").json
        #expect(fate["receipt"]["dropped"] == 1)
        #expect(fate["receipt"]["held"] == 0)
    }

    @Test("D12, T112: a suspended client may post", arguments: [1, 2])
    func posting(loopCount: Int) throws {
        let stage = try Stage(Scene(door: .webSocket, loopCount: loopCount))
        try stage.observe(stage.y, "a")
        try stage.suspend(stage.x)
        #expect(try stage.x.result("post", #"{"name":"a"}"#)["delivered"] == 1)
        #expect(try stage.y.takeKeys() == ["a"])
    }

    @Test("T113: suspension that was asked for twice ends at once", arguments: Scene.all)
    func twice(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: Self.behavior("hold"))
        try stage.suspend(stage.x)
        try stage.suspend(stage.x)
        try stage.post("a")
        try stage.suspend(stage.x, false)
        #expect(try stage.x.takeKeys() == ["a"])
        #expect(try stage.observers()[0]["state"] == "live")
    }

    @Test("D14, T115: what was not acknowledged comes once more, and says so", arguments: Scene.all)
    func redelivered(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: #","acknowledge":true"#)
        _ = try stage.poster.result("post", #"{"name":"a","wait":0}"#)
        #expect(try stage.x.takeKeys() == ["a"])
        try stage.x.cut()
        let back = try stage.back(stage.x)
        let notifications = try back.takeNotifications()
        #expect(notifications.map(\.key) == ["a"])
        #expect(notifications[0]["redelivered"] == true)
        #expect(notifications[0]["observer"] == "o1")
    }

    @Test("law 2, D11, T116: what was held comes first", arguments: Scene.all)
    func heldFirst(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "h", nil, terms: Self.behavior("hold"))
        try stage.suspend(stage.x)
        for k in 1...3 { _ = try stage.post(json: SuspensionRuleTests.post(k)) }
        try stage.suspend(stage.x, false)
        _ = try stage.post(json: SuspensionRuleTests.post(4))
        #expect(try stage.x.takeKeys() == ["h1", "h2", "h3", "h4"])
    }

    private static func post(_ k: Int) -> String { json(nil, "h", k: k) }

    @Test(
        "D13, T118: a second connection takes over, and nothing is lost or doubled",
        arguments: Scene.all, [0, 1])
    func takeOver(scene: Scene, loop: Int) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: Self.behavior("hold"))
        _ = try stage.post(json: json(nil, "a", k: 1))
        let back = try stage.back(stage.x, loop: min(loop, scene.loopCount - 1))
        try stage.x.read()
        #expect(stage.x.closeCode == 4001)
        #expect(stage.x.peer.sawEndOfOutput)
        _ = try stage.post(json: json(nil, "a", k: 2))
        #expect(try stage.x.takeKeys() == ["a1"])
        #expect(try back.takeKeys() == ["a2"])
        let clients = try stage.broker.get("/v1/clients").json["clients"].elements
        #expect(clients.filter { $0["id"].text == stage.x.client }.count == 1)
        #expect(clients.contains { $0["id"].text == back.client } == false)
        try back.cut()
        #expect(try stage.post("a").json["held"] == 1)
    }

    @Test("D18, T119: the state at the time of the post decides", arguments: Scene.all)
    func laterBehavior(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.suspend(stage.x)
        let row = try stage.observe(stage.x, "a", nil, terms: Self.behavior("hold"))
        _ = try stage.post(json: json(nil, "a", k: 1))
        _ = try stage.remove(row["token"])
        try stage.observe(stage.x, "a", nil, terms: Self.behavior("drop"))
        try stage.suspend(stage.x, false)
        #expect(try stage.x.takeKeys() == [])
    }

    @Test("D7: past the hold limit the oldest goes, and the gap says so", arguments: Scene.all)
    func holdLimit(scene: Scene) throws {
        let stage = try Stage(scene)
        let row = try stage.observe(
            stage.x, "a", nil, terms: Self.behavior("hold") + #","holdLimit":2"#)
        #expect(row["holdLimit"] == 2)
        try stage.suspend(stage.x)
        for k in 1...2 { _ = try stage.post(json: json(nil, "a", k: k)) }
        #expect(try stage.observers()[0]["held"] == 2)
        #expect(try stage.observers()[0]["dropped"] == 0)
        _ = try stage.post(json: json(nil, "a", k: 3))
        try stage.suspend(stage.x, false)
        #expect(try stage.x.takeGaps() == ["overflow 1"])
        #expect(try stage.x.takeKeys() == ["a2", "a3"])
    }

    /// A text that does not become much shorter when it is compressed.
    private static func noise(byteCount: Int) -> String {
        var state: UInt64 = 1
        let bytes = (0..<byteCount).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(0x3F + state >> 58)
        }
        return String(decoding: bytes.map { $0 == 0x5C ? 0x2E : $0 }, as: UTF8.self)
    }

    @Test(
        "D15, law 5: a client that does not read is held, and gets the rest when it reads",
        arguments: [false, true])
    func slow(isCompressed: Bool) throws {
        let broker = try Broker()
        let x = try isCompressed ? broker.deflatingSocket() : broker.webSocket()
        try x.result("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#)
        let y = try broker.webSocket()
        try y.observe("a")
        x.peer.writeCapacity = 0
        let padding = Self.noise(byteCount: 100_000)
        for k in 1...20 {
            _ = try broker.request("POST", "/v1/channels/a", #"{"k":\#(k),"p":"\#(padding)"}"#)
        }
        #expect(try y.takeKeys().count == 20)
        let row = try broker.get("/v1/observers").json["observers"][0]
        #expect(row["state"] == "slow")
        #expect((row["held"].int ?? 0) > 0)
        x.peer.writeCapacity = .max
        try broker.crank()
        #expect(try x.takeKeys() == (1...20).map { "a\($0)" })
        #expect(try broker.get("/v1/observers").json["observers"][0]["state"] == "live")
    }

    @Test("minInterval: the last of each interval wins", arguments: Scene.all)
    func minInterval(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: #","minInterval":2"#)
        for k in 1...3 { _ = try stage.post(json: json(nil, "a", k: k)) }
        #expect(try stage.x.takeKeys() == ["a1"])
        try stage.broker.advance(by: .milliseconds(2_100))
        #expect(try stage.x.takeKeys() == ["a3"])
    }

    @Test("PATCH needs the session or admin; the answer is the row")
    func patch() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        let json = ["Content-Type: application/json"]
        let body = #"{"suspended":true}"#
        func patch(_ body: String, _ fields: [String]) throws -> Response {
            try broker.request("PATCH", "/v1/clients/\(x.client)", body, fields: json + fields)
        }
        let other = try broker.webSocket()
        for fields in [[], ["Belfry-Session: x"], ["Belfry-Session: \(other.session)"]] {
            #expect(try patch(body, fields).problem == "not-found")
        }
        let own = ["Belfry-Session: \(x.session)"]
        let response = try patch(body, own)
        #expect(response.status == 200)
        #expect(response.json["id"].text == x.client)
        #expect(response.json["state"] == "asked")
        #expect(try patch("{}", own).place == "#/suspended")
        #expect(try patch(#"{"suspended":1}"#, own).place == "#/suspended")
        #expect(try patch("{", own).status == 400)
        let admin = try Broker { $0.anonymousGrants = Grants([Grant(.all)]) }
        let socket = try admin.webSocket()
        let asAdmin = try admin.request("PATCH", "/v1/clients/\(socket.client)", body, fields: json)
        #expect(asAdmin.json["state"] == "asked")
    }

    @Test("explain tells what would become of a notification", arguments: Scene.all)
    func explained(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", nil, terms: Self.behavior("hold"))
        try stage.observe(stage.x, "a", nil, terms: Self.behavior("drop"))
        try stage.observe(stage.y, "a", nil, terms: #","acknowledge":true"#)
        let immediate = Self.behavior("deliverImmediately")
        try stage.observe(stage.x, "a", nil, terms: immediate)
        try stage.observe(stage.x, "a", nil, terms: immediate + #","acknowledge":true"#)
        try stage.suspend(stage.x)
        let rows = try stage.explain("a")["observers"].elements
        #expect(
            rows.map { $0["outcome"] }
                == ["delivered", "dropped", "pending", "delivered", "pending"])
        #expect(rows.map { $0["state"] } == ["asked", "asked", "live", "asked", "asked"])
        // A post says the same: what was held goes along with what is delivered immediately.
        let receipt = try stage.broker.request(
            "POST", "/v1/channels/a?report=observers", "", fields: ["Prefer: wait=0"])
        let told = receipt.json["observers"].elements
        #expect(told.map { $0["outcome"] } == rows.map { $0["outcome"] })
    }

    @Test("what the broker tells of clients needs inspect, and nobody can post it")
    func lifetimes() throws {
        let broker = try Broker()
        let watcher = try broker.webSocket()
        try watcher.observe("belfry.client.connected")
        let x = try broker.webSocket()
        let told = try #require(try watcher.takeNotifications().first)
        #expect(told["object"].text == x.client)
        #expect(try broker.request("POST", "/v1/channels/belfry.client.left", "").status == 403)
        #expect(try watcher.problem("addObserver", #"{"name":"belfry.other"}"#)["status"] == 403)
        let blind = try Broker { $0.anonymousGrants = Grants([Grant([.observe, .wildcard])]) }
        let socket = try blind.webSocket()
        let problem = try socket.problem("addObserver", #"{"name":"belfry.client.left"}"#)
        #expect(problem["status"] == 403)
        #expect(try blind.get("/v1/events?name=belfry.client.left").status == 403)
    }
}
