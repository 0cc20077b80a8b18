import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Tokens, removal and introspection, from outside (law 4, rules O1 to O11, cases 4.2)")
struct TokenRuleTests {
    @Test(
        "O1: a token has 128 random bits behind its id, and who has it may remove",
        arguments: Scene.all)
    func token(scene: Scene) throws {
        let stage = try Stage(scene)
        let row = try stage.observe(stage.x, "a").json
        let token = try #require(row["token"].text)
        let id = try #require(row["id"].text)
        #expect(token.hasPrefix(id + "."))
        #expect(token.count == id.count + 1 + 22)
        #expect(row["client"].text == stage.x.client)
        #expect(row["session"].text == stage.x.session)
        #expect(try !stage.remove(row["token"]).isRefused)
        #expect(try stage.post("a").json["matched"] == 0)
    }

    @Test("O1: over HTTP a registration is 201 with its Location", arguments: [1, 2])
    func location(loopCount: Int) throws {
        let stage = try Stage(Scene(door: .http, loopCount: loopCount))
        let body = #"{"name":"a","session":"\#(stage.x.session)"}"#
        let response = try stage.broker.post(body, target: "/v1/observers", loop: loopCount - 1)
        #expect(response.status == 201)
        let location = try #require(response.field("location"))
        #expect(location == "/v1/observers/" + (response.json["token"].text ?? ""))
        #expect(response.field("cache-control") == "no-store")
        #expect(try stage.broker.get(location).json["id"] == response.json["id"])
        #expect(try stage.broker.request("DELETE", location).status == 204)
    }

    @Test(
        "O2, T25: a client's removal takes all its observers, duplicates too", arguments: Scene.all)
    func removeClient(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.observe(stage.x, "a")
        try stage.observe(stage.y, "a")
        let response = try stage.broker.request(
            "DELETE", "/v1/clients/\(stage.x.client)",
            fields: ["Belfry-Session: \(stage.x.session)"])
        #expect(response.status == 204)
        try stage.x.read()
        #expect(stage.x.closeCode == 4002)
        #expect(try stage.post("a").json["matched"] == 1)
        #expect(try stage.x.takeNames().isEmpty)
    }

    @Test(
        "O2, T29: removal by name takes every object of it, and by pair that pair",
        arguments: Scene.all)
    func removeByName(scene: Scene) throws {
        let stage = try Stage(scene)
        for object in ["o", "p"] { try stage.observe(stage.x, "a", object) }
        try stage.observe(stage.y, "a", "o")
        let pair = #"{"name":"a","object":"q"}"#
        #expect(try stage.x.result("removeObserver", pair) == ["removed": 0])
        let all = #"{"name":"a","object":null}"#
        #expect(try stage.x.result("removeObserver", all) == ["removed": 2])
        #expect(try stage.post("a", "o").json["matched"] == 1)
        #expect(try stage.x.takeNames().isEmpty)
    }

    @Test("O3, T28: removal by name leaves a wildcard alone", arguments: Scene.all)
    func removeKeepsWildcard(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil)
        try stage.observe(stage.x, "a")
        try stage.observe(stage.x, nil, "o")
        #expect(try stage.x.result("removeObserver", #"{"name":"a"}"#) == ["removed": 1])
        #expect(try stage.post("a").json["matched"] == 1)
        #expect(try stage.x.result("removeObserver", #"{"object":"o"}"#) == ["removed": 1])
        #expect(try stage.x.takeNames() == ["a"])
    }

    @Test(
        "O4, T26: the first removal succeeds, the second is 410, others feel nothing",
        arguments: Scene.all)
    func removeTwice(scene: Scene) throws {
        let stage = try Stage(scene)
        let token = try stage.observe(stage.x, "a").json["token"]
        try stage.observe(stage.y, "a")
        #expect(try !stage.remove(token).isRefused)
        let second = try stage.remove(token)
        #expect(second.status == 410)
        #expect(second.json["type"].text?.hasSuffix("/observer-removed") == true)
        #expect(try stage.post("a").json["matched"] == 1)
        #expect(try stage.remove("o999.AAAAAAAAAAAAAAAAAAAAAA").status == 404)
    }

    @Test("O4, T34: the tombstone tells when, by whom and why", arguments: Scene.all)
    func tombstone(scene: Scene) throws {
        let stage = try Stage(scene)
        let token = try stage.observe(stage.x, "a").json["token"]
        try stage.broker.advance(by: .milliseconds(1_500))
        _ = try stage.remove(token)
        let response = try stage.broker.get("/v1/observers/\(token.text ?? "")")
        #expect(response.problem == "observer-removed")
        #expect(response.status == 410)
        #expect(response.json["removedAt"] == "2026-01-01T00:00:01.500Z")
        #expect(response.json["reason"] == "removed")
        let remover = scene.door == .http ? "anonymous" : stage.poster.client
        #expect(response.json["removedBy"].text == remover)
    }

    @Test("O4: each way to go leaves its reason", arguments: Scene.all)
    func reasons(scene: Scene) throws {
        let stage = try Stage(scene)
        let first = try stage.observe(stage.x, "a").json["token"].text ?? ""
        let second =
            try stage.register(stage.y, #""name":"a","lifetime":"connection""#).json["token"].text
            ?? ""
        _ = try stage.broker.request(
            "DELETE", "/v1/clients/\(stage.x.client)",
            fields: ["Belfry-Session: \(stage.x.session)"])
        stage.y.peer.close()
        try stage.broker.crank()
        let removed = try stage.broker.get("/v1/observers/\(first)").json
        #expect(removed["reason"] == "client-removed")
        #expect(removed["removedBy"].text == stage.x.client)
        let closed = try stage.broker.get("/v1/observers/\(second)").json
        #expect(closed["reason"] == "connection-closed")
        #expect(closed["removedBy"] == "broker")
    }

    @Test("law 4, O5: no id and no token is ever used again", arguments: Scene.all)
    func neverReused(scene: Scene) throws {
        let stage = try Stage(scene)
        var ids: Set<String> = []
        var tokens: Set<String> = []
        for _ in 0..<10 {
            let row = try stage.observe(stage.x, "a").json
            ids.insert(row["id"].text ?? "")
            tokens.insert(row["token"].text ?? "")
            _ = try stage.remove(row["token"])
        }
        #expect(ids.count == 10)
        #expect(tokens.count == 10)
        let first = try stage.broker.webSocket()
        first.peer.close()
        try stage.broker.crank()
        #expect(try stage.broker.webSocket().client != first.client)
    }

    @Test(
        "O6: an observer that nobody removes goes on, and one of its connection ends with that",
        arguments: Scene.all)
    func forgotten(scene: Scene) throws {
        let stage = try Stage(scene)
        _ = try stage.register(stage.x, #""name":"a","lifetime":"connection""#)
        try stage.broker.advance(by: .seconds(20))
        #expect(try stage.post("a").json["matched"] == 1)
        stage.x.peer.close()
        try stage.broker.crank()
        #expect(try stage.post("a").json["matched"] == 0)
        #expect(try stage.observers().isEmpty)
    }

    @Test("O8, T33: a listing shows filter, behaviour, client and state", arguments: Scene.all)
    func listing(scene: Scene) throws {
        let stage = try Stage(scene)
        let first = try stage.observe(stage.x, "a", "o", selector: "input:").json
        try stage.observe(stage.x, nil)
        try stage.broker.advance(by: .seconds(1))
        try stage.post("a", "o")
        let rows = try stage.observers()
        #expect(rows.count == 2)
        let row = rows[0]
        #expect(row["id"] == first["id"])
        #expect(row["client"].text == stage.x.client)
        #expect(row["center"] == "default")
        #expect(row["name"] == "a")
        #expect(row["object"] == "o")
        #expect(row["selector"] == "input:")
        #expect(row["suspensionBehavior"] == "coalesce")
        #expect(row["state"] == "live")
        #expect(row["principal"] == "anonymous")
        #expect(row["createdAt"] == "2026-01-01T00:00:00.000Z")
        #expect(row["lastDeliveredAt"] == "2026-01-01T00:00:01.000Z")
        #expect(row["delivered"] == 1)
        #expect(rows[1]["name"] == .null)
        #expect(rows[1]["object"] == .null)
        #expect(!row.has("token") && !row.has("session"))
    }

    @Test("O8, T38: duplicates of one client are told as a leak", arguments: Scene.all)
    func duplicates(scene: Scene) throws {
        let stage = try Stage(scene)
        let first = try stage.observe(stage.x, "a", "o").json
        let second = try stage.observe(stage.x, "a", "o").json
        try stage.observe(stage.y, "a", "o")
        let leaks = try stage.broker.get("/v1/reports/leaks").json["observers"].elements
        #expect(leaks.allSatisfy { $0["reason"] == "duplicate" })
        let ids = leaks.compactMap { $0["id"].text }
        #expect(ids.contains(second["id"].text ?? ""))
        #expect(Set(ids).isSubset(of: [first["id"].text ?? "", second["id"].text ?? ""]))
    }

    @Test(
        "O8, T42: explain lists who would get it, delivers nothing and moves no number",
        arguments: Scene.all)
    func explain(scene: Scene) throws {
        let stage = try Stage(scene)
        let first = try stage.observe(stage.x, "a").json
        let second = try stage.observe(stage.x, nil, "o").json
        let other = try stage.observe(stage.x, "a", "p").json
        let explanation = try stage.explain("a", "o")
        #expect(explanation["observers"].elements.map { $0["id"] } == [first["id"], second["id"]])
        for row in explanation["observers"].elements {
            #expect(row["state"] == "live")
            #expect(row["outcome"] == "delivered")
        }
        #expect(explanation["near"][0]["id"] == other["id"])
        #expect(explanation["near"][0]["reason"] == "object-differs")
        #expect(try stage.x.takeNames().isEmpty)
        #expect(try stage.post("z").json["seq"] == 1)
    }

    @Test("O9, T32: the owner is told who removed its observer and why", arguments: Scene.all)
    func removedFrame(scene: Scene) throws {
        let stage = try Stage(scene)
        let row = try stage.observe(stage.x, "a").json
        _ = try stage.remove(row["token"])
        let messages = try stage.x.takeMessages()
        #expect(messages.count == 1)
        #expect(messages[0]["method"] == "belfry.removed")
        let params = messages[0]["params"]
        #expect(params["observer"] == row["id"])
        #expect(params["reason"] == "removed")
        let remover = scene.door == .http ? "anonymous" : stage.poster.client
        #expect(params["removedBy"].text == remover)
    }

    @Test("O9: an event stream is told by the event belfry.removed", arguments: [1, 2])
    func removedEvent(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) {
            $0.anonymousGrants = Grants([Grant(.all)])
        }
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        let id = try #require(
            try broker.get("/v1/observers").json["observers"][0]["id"].text)
        #expect(try broker.request("DELETE", "/v1/observers/\(id)").status == 204)
        let events = try stream.takeEvents()
        #expect(events.map(\.type) == ["belfry.removed"])
        #expect(events[0].data["observer"].text == id)
        #expect(events[0].data["reason"] == "removed")
    }

    @Test("O9: who removes its own observer is told by the answer alone", arguments: [1, 2])
    func removedSelf(loopCount: Int) throws {
        let stage = try Stage(Scene(door: .webSocket, loopCount: loopCount))
        let row = try stage.observe(stage.x, "a").json
        let params = #"{"token":"\#(row["token"].text ?? "")"}"#
        #expect(try stage.x.result("removeObserver", params) == ["removed": 1])
        #expect(try stage.x.takeMessages().isEmpty)
        #expect(try stage.x.problem("removeObserver", params)["status"] == 410)
    }

    @Test("O10, T30: a bulk removal without a criterion is 422", arguments: [1, 2])
    func unscoped(loopCount: Int) throws {
        let stage = try Stage(Scene(door: .webSocket, loopCount: loopCount))
        try stage.observe(stage.x, "a")
        for params in ["{}", #"{"name":null,"object":null}"#, #"{"token":null}"#] {
            #expect(try stage.x.problem("removeObserver", params)["status"] == 422)
        }
        #expect(try stage.post("a").json["matched"] == 1)
    }

    @Test("O11: a registration is checked at once", arguments: Scene.all)
    func validation(scene: Scene) throws {
        let stage = try Stage(scene)
        let cases: [(String, Int, String)] = [
            (#""nam":"a""#, 422, "#/nam"), (#""name":"""#, 422, "#/name"),
            (#""name":1"#, 422, "#/name"), (#""name":"a","object":"""#, 422, "#/object"),
            (#""name":"a","object":7"#, 422, "#/object"),
            (#""name":"a","name":"b""#, 422, "#/name"),
            (#""name":"a","selector":"""#, 422, "#/selector"),
            (#""name":"a","selector":"belfry.x""#, 422, "#/selector"),
            (#""name":"a","selector":"rpc.x""#, 422, "#/selector"),
            (#""name":"a","selector":"\#(String(repeating: "s", count: 129))""#, 422, "#/selector"),
            (#""name":"a","since":-1"#, 422, "#/since"),
            (#""name":"a","since":1.5"#, 422, "#/since"),
            (#""name":"a","suspensionBehavior":"keep""#, 422, "#/suspensionBehavior"),
            (#""name":"a","holdLimit":0"#, 422, "#/holdLimit"),
            (#""name":"a","holdLimit":10001"#, 422, "#/holdLimit"),
            (#""name":"a","lease":0"#, 422, "#/lease"),
            (#""name":"a","acknowledge":1"#, 422, "#/acknowledge"),
            (
                #""name":"a","acknowledge":true,"suspensionBehavior":"drop""#, 422,
                "#/suspensionBehavior"
            ),
            (#""name":"a","minInterval":-1"#, 422, "#/minInterval"),
            (#""name":"a","minInterval":3601"#, 422, "#/minInterval"),
            (#""name":"a","lifetime":"ever""#, 422, "#/lifetime"),
            (#""name":"belfry.x""#, 403, "#/name"),
        ]
        for (members, status, place) in cases {
            let account = try stage.register(stage.x, members)
            #expect(account.status == status, "\(members)")
            #expect(account.place == place, "\(members)")
        }
        let allowed = #""name":"a","acknowledge":false,"minInterval":0,"lifetime":"connection""#
        #expect(try !stage.register(stage.x, allowed).isRefused)
        let longest = String(repeating: "s", count: 128)
        #expect(try !stage.observe(stage.x, "a", selector: longest).isRefused)
        #expect(try stage.observers().count == 2)
    }

    @Test("the observers of a client have a limit", arguments: Scene.all)
    func clientLimit(scene: Scene) throws {
        let stage = try Stage(scene) { $0.centerLimits.clientObserverLimit = 2 }
        for _ in 0..<2 { #expect(try !stage.observe(stage.x, "a").isRefused) }
        let refused = try stage.observe(stage.x, "a")
        #expect(refused.status == 429)
        #expect(refused.json["limit"] == 2)
        #expect(try !stage.observe(stage.y, "a").isRefused)
    }

    @Test(
        "the observers of the broker have a limit, and removals make room again",
        arguments: Scene.all)
    func brokerLimit(scene: Scene) throws {
        let stage = try Stage(scene) { $0.observerLimit = 2 }
        try stage.observe(stage.x, "a")
        let token = try stage.observe(stage.y, "a").json["token"]
        #expect(try stage.observe(stage.x, "a").status == 503)
        _ = try stage.remove(token)
        #expect(try !stage.observe(stage.x, "a").isRefused)
        _ = try stage.broker.request(
            "DELETE", "/v1/clients/\(stage.x.client)",
            fields: ["Belfry-Session: \(stage.x.session)"])
        for _ in 0..<2 { #expect(try !stage.observe(stage.y, "a").isRefused) }
    }
}
