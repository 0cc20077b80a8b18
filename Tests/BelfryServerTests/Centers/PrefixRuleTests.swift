import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Prefixes and sets of names (rules P1 to P10)")
struct PrefixRuleTests {
    private static func place(_ account: Account) -> String {
        "\(account.status) \(account.place ?? "-")"
    }

    @Test(
        "P1 (T330): a prefix matches what begins with its bytes, itself too", arguments: Scene.all)
    func matches(scene: Scene) throws {
        let stage = try Stage(scene)
        #expect(try stage.register(stage.x, #""namePrefix":"Order.""#).status < 300)
        for name in ["Order.New", "Order", "Orders", "Order.", "order.New"] {
            try stage.post(name)
        }
        #expect(try stage.x.takeNames() == ["Order.New", "Order."])
    }

    @Test(
        "P1 (T331): one of name, names and namePrefix, one of object and objectPrefix: else 422",
        arguments: Scene.all)
    func combinations(scene: Scene) throws {
        let stage = try Stage(scene)
        let faults = [
            (#""name":"a","namePrefix":"a""#, "422 #/namePrefix"),
            (#""namePrefix":"""#, "422 #/namePrefix"),
            (#""names":["a"],"name":"a""#, "422 #/names"),
            (#""names":["a"],"namePrefix":"a""#, "422 #/names"),
            (#""names":[]"#, "422 #/names"), (#""names":["a","a"]"#, "422 #/names/1"),
            (#""names":["a",1]"#, "422 #/names/1"), (#""names":"a""#, "422 #/names"),
            (#""name":"a","object":"o","objectPrefix":"o""#, "422 #/objectPrefix"),
            (#""objectPrefix":"o","object":"a","keyPath":"""#, "422 #/objectPrefix"),
            (#""names":["a"],"object":"a","implements":["m"]"#, "422 #/names"),
        ]
        for (members, place) in faults {
            #expect(Self.place(try stage.register(stage.x, members)) == place, "\(members)")
        }
        let many = (0..<33).map { "\"n\($0)\"" }
        let atLimit = #""names":[\#(many.prefix(32).joined(separator: ","))]"#
        #expect(try stage.register(stage.x, atLimit).status < 300)
        let pastLimit = #""names":[\#(many.joined(separator: ","))]"#
        #expect(Self.place(try stage.register(stage.x, pastLimit)) == "422 #/names")
        let long = String(repeating: "é", count: 255)
        #expect(try stage.register(stage.x, #""namePrefix":"\#(long)""#).status < 300)
        #expect(
            Self.place(try stage.register(stage.x, #""namePrefix":"\#(long)x""#))
                == "422 #/namePrefix")
    }

    @Test("P1: a name with a star is a name", arguments: Scene.all)
    func stars(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "Order.*")
        try stage.post("Order.New")
        try stage.post("Order.*")
        #expect(try stage.x.takeNames() == ["Order.*"])
    }

    @Test("P2: a prefix of objects does not match a notification without one", arguments: Scene.all)
    func objects(scene: Scene) throws {
        let stage = try Stage(scene)
        #expect(
            try stage.register(stage.x, #""name":"a","objectPrefix":"shop-""#).status < 300)
        #expect(try stage.register(stage.y, #""objectPrefix":"shop-""#).status < 300)
        try stage.post("a")
        try stage.post("a", "shop-7")
        try stage.post("b", "shop-8")
        try stage.post("a", "shop")
        #expect(try stage.x.takeNames() == ["a/shop-7"])
        #expect(try stage.y.takeNames() == ["a/shop-7", "b/shop-8"])
    }

    @Test("P3 (T332): a grant must cover every name with the prefix; no wildcard is needed")
    func grants() async throws {
        let broker = try await AccessTests.broker([
            "exact": #"[{"verbs":["observe"],"names":["Order.New"]}]"#,
            "wide": #"[{"verbs":["observe"],"names":["Order*"],"objects":["shop-*"]}]"#,
            "all": #"[{"verbs":["observe"]}]"#,
        ])
        func status(_ id: String, _ body: String) throws -> Int {
            try broker.request(
                "POST", "/v1/observers", body,
                fields: ["Content-Type: application/json", Keys.field(id)]
            ).status
        }
        let prefix = #"{"namePrefix":"Order.","objectPrefix":"shop-7"}"#
        #expect(try status("exact", prefix) == 403)
        #expect(try status("wide", prefix) == 201)
        #expect(try status("all", prefix) == 201)
        #expect(try status("wide", #"{"namePrefix":"Ord","objectPrefix":"shop-"}"#) == 403)
        #expect(try status("wide", #"{"namePrefix":"Order","objectPrefix":"shop"}"#) == 403)
        #expect(try status("wide", #"{"namePrefix":"Order."}"#) == 403)
        #expect(try status("all", #"{"namePrefix":"belfry.client."}"#) == 403)
        #expect(try status("all", #"{"namePrefix":"bel"}"#) == 201)
    }

    @Test(
        "P4 (T333): a prefix matches reserved channels only if it begins with belfry.",
        arguments: Scene.all)
    func reserved(scene: Scene) throws {
        let stage = try Stage(scene)
        #expect(try stage.register(stage.x, #""namePrefix":"bel""#).status < 300)
        #expect(try stage.register(stage.y, #""namePrefix":"belfry.client.""#).status < 300)
        let z = try stage.broker.webSocket()
        z.peer.close()
        try stage.broker.crank()
        try stage.post("bell")
        let kinds = try stage.y.takeNotifications().compactMap { $0["name"].text }
        #expect(kinds == ["belfry.client.connected", "belfry.client.left"])
        #expect(try stage.x.takeNames() == ["bell"])
    }

    @Test(
        "P5 (T334): the order of registration over all kinds, one delivery for one registration",
        arguments: Scene.all)
    func order(scene: Scene) throws {
        let stage = try Stage(scene)
        let filters = [
            #""name":"a""#, #""namePrefix":"a""#, #""object":"o""#, #""name":"a","object":"o""#,
            #""names":["b","a"]"#, #""namePrefix":"a","objectPrefix":"o""#,
            #""objectPrefix":"o""#, #""where":{"k":null}"#, #""name":null"#,
        ]
        for (number, members) in filters.enumerated() {
            let members = #"\#(members),"selector":"m\#(number)""#
            #expect(try stage.register(stage.x, members).status < 300)
        }
        try stage.post("a", "o")
        let methods = try stage.x.takeMessages().compactMap { $0["method"].text }
        #expect(methods == (0...8).map { "m\($0)" })
    }

    @Test("P6 (T335): removal by filter compares the registered one", arguments: Scene.all)
    func removal(scene: Scene) throws {
        let stage = try Stage(scene)
        for members in [
            #""namePrefix":"a""#, #""name":"a""#, #""names":["a","b"]"#,
            #""name":"a","where":{"k":1}"#, #""namePrefix":"a","object":"o""#,
        ] {
            #expect(try stage.register(stage.x, members).status < 300)
        }
        func remove(_ members: String) throws -> Int? {
            try stage.x.result("removeObserver", "{\(members)}")["removed"].int
        }
        #expect(try remove(#""namePrefix":"a","object":"p""#) == 0)
        #expect(try remove(#""namePrefix":"a","object":"o""#) == 1)
        #expect(try remove(#""namePrefix":"a""#) == 1)
        #expect(try remove(#""names":["b","a"]"#) == 1)
        #expect(try remove(#""name":"a","where":{"k":2}"#) == 0)
        #expect(try remove(#""where":{"k":1}"#) == 1)
        #expect(try stage.observers().compactMap { $0["name"].text } == ["a"])
    }

    @Test("P7: nobody can post to a prefix", arguments: Scene.all)
    func posts(scene: Scene) throws {
        let stage = try Stage(scene)
        #expect(try stage.post(json: #"{"namePrefix":"a"}"#).status == 422)
    }

    @Test(
        "P8: prefixes of a center have a limit; one more observer of the same needs no room",
        arguments: Scene.all)
    func limits(scene: Scene) throws {
        let stage = try Stage(scene) { $0.centerLimits.prefixLimit = 2 }
        let first = try stage.register(stage.x, #""namePrefix":"a","objectPrefix":"b""#)
        #expect(first.status < 300)
        #expect(try stage.register(stage.x, #""objectPrefix":"b""#).status < 300)
        let refused = try stage.register(stage.x, #""namePrefix":"c""#)
        #expect(refused.status == 503 && refused.json["limit"] == 2)
        #expect(refused.json["detail"].text?.contains("--max-prefixes") == true)
        #expect(try stage.remove(first.json["token"]).status < 300)
        #expect(try stage.register(stage.x, #""namePrefix":"c""#).status < 300)
    }

    @Test(
        "P9: a set of names is one observer: one token, one delivery, one row", arguments: Scene.all
    )
    func names(scene: Scene) throws {
        let stage = try Stage(scene)
        let answer = try stage.register(stage.x, #""names":["b","a"],"object":"o""#)
        #expect(answer.json["names"].elements.compactMap(\.text) == ["b", "a"])
        #expect(!answer.json.has("name") && answer.json["object"] == "o")
        try stage.observe(stage.y, "c")
        for name in ["a", "b", "c"] { try stage.post(name, "o") }
        try stage.post("a")
        #expect(try stage.x.takeNames() == ["a/o", "b/o"])
        let row = try #require(try stage.observers().first)
        #expect(row["names"].elements.compactMap(\.text) == ["b", "a"] && row["delivered"] == 2)
        #expect(try stage.remove(answer.json["token"]).status < 300)
        #expect(try stage.post("a", "o").json["matched"] == 0)
        let gone = try stage.remove(answer.json["token"])
        #expect(gone.status == 410)
        #expect(gone.json["names"].elements.compactMap(\.text) == ["b", "a"])
    }

    @Test("P9: each name of a set needs a grant, and a reserved one inspect")
    func namesGrants() async throws {
        let broker = try await AccessTests.broker([
            "two": """
            [{"verbs":["observe"],"names":["a"]},{"verbs":["observe"],"names":["b*"]}]
            """,
            "all": #"[{"verbs":["observe"]}]"#, "seer": #"[{"verbs":["observe","inspect"]}]"#,
        ])
        func status(_ id: String, _ names: String) throws -> Int {
            try broker.request(
                "POST", "/v1/observers", #"{"names":[\#(names)]}"#,
                fields: ["Content-Type: application/json", Keys.field(id)]
            ).status
        }
        #expect(try status("two", #""a","bc""#) == 201)
        #expect(try status("two", #""a","c""#) == 403)
        #expect(try status("all", #""a","belfry.client.left""#) == 403)
        #expect(try status("seer", #""a","belfry.client.left""#) == 201)
        #expect(try status("seer", #""a","belfry.other""#) == 403)
    }

    @Test("P9: a set goes with a target, whose actions go out once for a notification")
    func targets() throws {
        let stage = try Stage(Scene(door: .webSocket, loopCount: 1))
        #expect(
            try stage.register(stage.y, #""object":"w","implements":["go"]"#).status < 300)
        #expect(
            try stage.register(
                stage.x, #""names":["a","b"],"target":"w","selector":"go""#
            ).status < 300)
        try stage.post("a")
        try stage.post("c")
        #expect(try stage.y.takeMessages { $0["method"] == "go" }.count == 1)
    }

    @Test("P10: a stream has its prefixes in the query; names is not a parameter")
    func streams() throws {
        let broker = try Broker()
        let stream = try broker.events("/v1/events?namePrefix=Order.&objectPrefix=shop-")
        try broker.post(name: "Order.New", object: "shop-1")
        try broker.post(name: "Order.New", object: "other")
        #expect(try stream.takeNames() == ["Order.New"])
        #expect(try broker.get("/v1/events?names=a").status == 422)
        #expect(try broker.get("/v1/events?name=a&namePrefix=a").status == 422)
        #expect(try broker.get("/v1/events?object=a&objectPrefix=a").status == 422)
    }

    @Test("L12: an observer of a prefix makes names observed", arguments: Scene.all)
    func watchers(scene: Scene) throws {
        let stage = try Stage(scene)
        for name in ["belfry.channel.observed", "belfry.channel.unobserved"] {
            try stage.observe(stage.y, name, "price.a")
        }
        let token = try stage.register(stage.x, #""namePrefix":"price.""#).json["token"]
        let set = try stage.register(stage.x, #""names":["price.a","b"]"#).json["token"]
        #expect(try stage.remove(token).status < 300)
        let before = try stage.y.takeNotifications().compactMap { $0["name"].text }
        #expect(before == ["belfry.channel.observed"])
        #expect(try stage.remove(set).status < 300)
        let after = try stage.y.takeNotifications().compactMap { $0["name"].text }
        #expect(after == ["belfry.channel.unobserved"])
    }
}
