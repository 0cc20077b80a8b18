import BelfryAccess
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Matching, from outside (rules C1 to C8, cases 4.1)")
struct MatchingRuleTests {
    @Test("C1, T54: every observer gets the same id, seq, userInfo and time", arguments: Scene.all)
    func sameForAll(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.observe(stage.y, "a")
        let stream = try stage.broker.events("/v1/events?name=a")
        let receipt = try stage.post("a", "o", userInfo: #"{"k":1}"#).json
        let first = try #require(try stage.x.takeNotifications().first)
        #expect(first["id"] == receipt["id"])
        #expect(first["seq"] == receipt["seq"])
        #expect(first["name"] == "a")
        #expect(first["object"] == "o")
        #expect(first["userInfo"] == ["k": 1])
        #expect(first["postedAt"] == "2026-01-01T00:00:00.000Z")
        #expect(first.keys == ["id", "seq", "name", "object", "userInfo", "postedAt"])
        #expect(try stage.y.takeNotifications() == [first])
        #expect(try stream.takeEvents().map(\.data) == [first])
    }

    @Test(
        "C1: the bytes of userInfo pass through unchanged",
        arguments: [
            #"{"n":12345678901234567890123,"n":1e400}"#, #"{"a":"\ud800","b":"\u0041"}"#,
            #"{ "deep" : [ [ ], { } ] }"#, #"{"caf\u00e9":"\/"}"#,
        ])
    func userInfoBytes(userInfo: String) throws {
        let stage = try Stage(Scene(door: .http, loopCount: 1))
        try stage.observe(stage.x, "a")
        #expect(try stage.post("a", userInfo: userInfo).status == 200)
        let frame = String(decoding: stage.x.peer.takeReceived(), as: UTF8.self)
        #expect(frame.contains(#""userInfo":\#(userInfo),"#))
    }

    @Test(
        "C2, C3, T1, T3: name and object must both match, null is any, and null posts meet null filters",
        arguments: Scene.all)
    func filters(scene: Scene) throws {
        let stage = try Stage(scene)
        let filters: [(String?, String?)] = [
            ("a", nil), ("a", "o"), (nil, "o"), (nil, nil), ("b", "o"), ("a", "p"),
        ]
        for (place, filter) in filters.enumerated() {
            try stage.observe(stage.x, filter.0, filter.1, selector: "s\(place)")
        }
        let expected: [(String, String?, [Int])] = [
            ("a", nil, [0, 3]), ("a", "o", [0, 1, 2, 3]), ("a", "p", [0, 3, 5]), ("b", nil, [3]),
            ("b", "o", [2, 3, 4]), ("c", "q", [3]), ("A", "O", [3]),
        ]
        for (name, object, places) in expected {
            let receipt = try stage.post(name, object).json
            #expect(receipt["matched"].int == places.count)
            #expect(receipt["delivered"].int == places.count)
            let selectors = try stage.x.takeMessages().compactMap { $0["method"].text }
            #expect(selectors == places.map { "s\($0)" })
        }
    }

    @Test("C4, T4: a filter of nothing gets everything, when that is granted", arguments: Scene.all)
    func wildcard(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil)
        try stage.post("a", "o")
        try stage.post("b")
        #expect(try stage.x.takeNames() == ["a/o", "b"])
    }

    @Test(
        "C4, T21: without the wildcard grant it is 403; one of name and object is allowed",
        arguments: Scene.all)
    func wildcardRefused(scene: Scene) throws {
        let stage = try Stage(scene) {
            $0.anonymousGrants = Grants([Grant([.observe, .post])])
        }
        let refused = try stage.observe(stage.x, nil)
        #expect(refused.status == 403)
        #expect(refused.json["type"].text?.hasSuffix("/forbidden") == true)
        #expect(try !stage.observe(stage.x, nil, "o").isRefused)
        #expect(try !stage.observe(stage.x, "a").isRefused)
        try stage.post("b", "o")
        #expect(try stage.x.takeNames() == ["b/o"])
        let stream = try stage.broker.get("/v1/events")
        #expect(stream.status == 403)
    }

    @Test("C5, T6: names differ by case, and explain tells the near miss", arguments: Scene.all)
    func caseMatters(scene: Scene) throws {
        let stage = try Stage(scene)
        let door = try stage.observe(stage.x, "Door").json
        #expect(try stage.post("door").json["matched"] == 0)
        #expect(try stage.x.takeNames().isEmpty)
        let explanation = try stage.explain("door")
        #expect(explanation["observers"] == [])
        #expect(explanation["near"][0]["id"] == door["id"])
        #expect(explanation["near"][0]["reason"] == "name-differs-in-case")
    }

    @Test("C6, T8: names and objects are compared byte by byte", arguments: Scene.all)
    func unicodeForms(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "caf\u{E9}")
        try stage.observe(stage.x, nil, "caf\u{E9}")
        #expect(try stage.post("cafe\u{301}", "cafe\u{301}").json["matched"] == 0)
        #expect(try stage.post("caf\u{E9}", "cafe\u{301}").json["matched"] == 1)
        #expect(try stage.post("caf\u{E9}", "caf\u{E9}").json["matched"] == 2)
    }

    @Test(
        "C7, T10: a post needs a name that is not empty, and an object that is not empty",
        arguments: Scene.all)
    func required(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, nil)
        let cases: [(String, Int, String)] = [
            ("{}", 422, "#/name"), (#"{"name":""}"#, 422, "#/name"),
            (#"{"name":null}"#, 422, "#/name"), (#"{"name":"a","object":""}"#, 422, "#/object"),
            (#"{"name":"belfry.x"}"#, 403, "#/name"),
            (#"{"name":"a\u0000"}"#, 422, "#/name"), (#"{"name":"a\u007f"}"#, 422, "#/name"),
            (#"{"name":"\ud800"}"#, 422, "#/name"), (#"{"name":"a","name":"b"}"#, 422, "#/name"),
        ]
        for (json, status, place) in cases {
            let account = try stage.post(json: json)
            #expect(account.status == status, "\(json)")
            #expect(account.place == place, "\(json)")
        }
        #expect(try stage.x.takeNames().isEmpty)
    }

    @Test("C7: a name has at most 255 characters", arguments: Scene.all)
    func nameLength(scene: Scene) throws {
        let stage = try Stage(scene)
        let name = String(repeating: "\u{E9}", count: 255)
        #expect(try stage.post(name, name).status == 200)
        #expect(try stage.post(name + "x").place == "#/name")
        #expect(try stage.post("a", name + "x").place == "#/object")
        #expect(try stage.observe(stage.x, name).isRefused == false)
        #expect(try stage.observe(stage.x, name + "x").status == 422)
    }

    @Test("D1, T12: an object that is no string is refused", arguments: Scene.all)
    func objectKinds(scene: Scene) throws {
        let stage = try Stage(scene)
        for object in ["1", "true", "[]", "{}"] {
            let account = try stage.post(json: #"{"name":"a","object":\#(object)}"#)
            #expect(account.status == 422)
            #expect(account.place == "#/object")
        }
        #expect(try stage.post(json: #"{"name":"a","object":null}"#).status == 200)
    }

    @Test("T15: no userInfo and null are both delivered without one", arguments: Scene.all)
    func noUserInfo(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        try stage.post("a")
        try stage.post("a", userInfo: "null")
        let notifications = try stage.x.takeNotifications()
        #expect(notifications.count == 2)
        for notification in notifications { #expect(notification["userInfo"] == .null) }
    }

    @Test("D2: userInfo is an object and nothing else", arguments: Scene.all)
    func userInfoKinds(scene: Scene) throws {
        let stage = try Stage(scene)
        for userInfo in ["1", "[]", #""x""#, "true"] {
            #expect(try stage.post("a", userInfo: userInfo).place == "#/userInfo")
        }
    }

    @Test(
        "C8: registering twice gives two deliveries, told apart by selectors", arguments: Scene.all)
    func twice(scene: Scene) throws {
        let stage = try Stage(scene)
        let first = try stage.observe(stage.x, "a", selector: "one").json
        let second = try stage.observe(stage.x, "a", selector: "two:").json
        #expect(first["token"] != second["token"])
        #expect(try stage.post("a").json["delivered"] == 2)
        #expect(try stage.x.takeMessages().map { $0["method"] } == ["one", "two:"])
        try stage.observe(stage.x, "a", selector: "one")
        try stage.post("a")
        let methods = try stage.x.takeMessages().map { $0["method"] }
        #expect(methods == ["one", "two:", "one"])
    }

    @Test("C8: no frame names a token or a session", arguments: Scene.all)
    func secretsStay(scene: Scene) throws {
        let stage = try Stage(scene)
        let token = try #require(try stage.observe(stage.x, "a").json["token"].text)
        try stage.post("a")
        let text = String(decoding: stage.x.peer.takeReceived(), as: UTF8.self)
        #expect(text.contains(#""name":"a""#))
        #expect(!text.contains(token.split(separator: ".")[1]))
    }

    @Test("T16: removal by name and by object, step by step", arguments: Scene.all)
    func multipleSpecificDelivery(scene: Scene) throws {
        let stage = try Stage(scene)
        for (name, object) in [("a", "o"), ("b", "o"), ("a", "p"), ("b", "p")] {
            try stage.observe(stage.x, name, object)
        }
        #expect(try stage.post("a", "o").json["matched"] == 1)
        #expect(try stage.post("a", "p").json["matched"] == 1)
        #expect(try stage.post("b").json["matched"] == 0)
        #expect(try stage.x.result("removeObserver", #"{"name":"a"}"#) == ["removed": 2])
        #expect(try stage.post("a", "o").json["matched"] == 0)
        #expect(try stage.x.result("removeObserver", #"{"object":"p"}"#) == ["removed": 1])
        #expect(try stage.post("b", "p").json["matched"] == 0)
        #expect(try stage.post("b", "o").json["matched"] == 1)
        #expect(try stage.x.takeNames() == ["a/o", "a/p", "b/o"])
    }

    @Test(
        "D16, T20: an observer found by name and by object gets exactly one frame",
        arguments: Scene.all)
    func onlyOnce(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a", "o")
        #expect(try stage.post("a", "o").json["matched"] == 1)
        #expect(try stage.x.takeNames() == ["a/o"])
    }
}
