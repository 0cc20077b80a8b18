import BelfryAccess
import BelfryHTTP
import Testing

@testable import BelfryServer

@Suite("What grants do not cover is neither seen nor taken away (decision 122)")
struct CoveredAccessTests {
    private static let all = grants(Verbs.names.map { "\"\($0.name)\"" }.joined(separator: ","))

    private static func grants(_ verbs: String, _ members: String = "") -> String {
        #"[{"verbs":[\#(verbs)]\#(members)}]"#
    }

    private static func broker(_ keys: [String: String]) async throws -> Broker {
        try await AccessTests.broker(keys.merging(["all": all]) { one, _ in one })
    }

    private static func ask(
        _ broker: Broker, _ method: String, _ target: String, _ body: String? = nil, as id: String,
        _ fields: [String] = []
    ) throws -> Response {
        try broker.request(method, target, body, fields: fields + [Keys.field(id)])
    }

    // MARK: Tags

    @Test("V14: whoever may set and not read gets no tag, and has no condition decided")
    func tags() async throws {
        let broker = try await Self.broker(["setter": Self.grants(#""set""#)])
        let merge = "Content-Type: application/merge-patch+json"
        let secret = try Self.ask(broker, "PUT", "/v1/values/o/pin", #""4711""#, as: "all")
        let tag = try #require(secret.field("etag"))
        let json = "Content-Type: application/json"
        for (method, body, field) in [("PUT", #""4711""#, json), ("PATCH", "{}", merge)] {
            let answer = try Self.ask(
                broker, method, "/v1/values/o/pin", body, as: "setter", [field])
            #expect(answer.status == 200)
            #expect(answer.field("etag") == nil && !answer.json.has("etag"))
        }
        for condition in [
            "If-Match: \(tag)", "If-Match: *", "If-None-Match: *", "If-None-Match: \(tag)",
            #"If-Match: "x""#,
        ] {
            for method in ["PUT", "PATCH", "DELETE"] {
                let answer = try Self.ask(
                    broker, method, "/v1/values/o/pin", method == "DELETE" ? nil : #""1""#,
                    as: "setter",
                    method == "PATCH" ? [condition, merge] : [condition])
                #expect(answer.status == 403)
                #expect(answer.json["verb"] == "read")
                #expect(answer.field("etag") == nil && !answer.json.has("etag"))
            }
        }
        let peer = try broker.webSocket(fields: [Keys.field("setter")])
        let written = try peer.result("setValue", #"{"object":"o","keyPath":"pin","value":"1"}"#)
        #expect(written["changed"] == true && !written.has("etag"))
        let refused = try peer.answer(
            "setValue", #"{"object":"o","keyPath":"pin","value":"1","ifMatch":"*"}"#)
        #expect(refused["error"]["data"]["status"] == 403)
        #expect(try Self.ask(broker, "GET", "/v1/values/o/pin", as: "all").text == #""1""#)
    }

    @Test("V14: a center that is not there decides no condition of a stranger either")
    func tagsWithoutACenter() async throws {
        let broker = try await Self.broker(["setter": Self.grants(#""set""#)])
        let answer = try Self.ask(
            broker, "PUT", "/v1/centers/none/values/o", "{}", as: "setter", ["If-Match: *"])
        #expect(answer.status == 403)
    }

    @Test("V14: two brokers have different tags for one value, and one has its own after a restart")
    func keyedTags() async throws {
        func tag(_ broker: Broker) throws -> String? {
            try broker.request("PUT", "/v1/values/o", #"{"a":1}"#).field("etag")
        }
        let (first, second) = (try tag(Broker()), try tag(Broker()))
        #expect(first != nil && first != second)
    }

    // MARK: Responders

    @Test(
        "R1: a responder of another principal goes only with grants on all that it implements",
        arguments: [("b", 409), ("both", 201), ("admin", 201), ("all", 201)])
    func replacing(id: String, status: Int) async throws {
        let broker = try await Self.broker([
            "a": Self.grants(#""respond""#, #","names":["f"]"#),
            "b": Self.grants(#""respond""#, #","names":["g"]"#),
            "both": Self.grants(#""respond""#, #","names":["f","g"]"#),
            "admin": Self.grants(#""respond""#, #","names":["g"]"#).dropLast()
                + #",{"verbs":["admin"],"objects":["R"]}]"#,
        ])
        let held = try Self.ask(
            broker, "POST", "/v1/observers", #"{"object":"R","implements":["f"]}"#, as: "a")
        let observer = try #require(held.json["id"].text)
        let answer = try Self.ask(
            broker, "POST", "/v1/observers", #"{"object":"R","implements":["g"]}"#, as: id)
        #expect(answer.status == status)
        if status == 409 { #expect(answer.json["type"].text?.hasSuffix("already-held") == true) }
        let left = try Self.ask(broker, "GET", "/v1/observers/\(observer)", as: "all").status
        #expect(left == (status == 409 ? 200 : 410))
        let peer = try broker.webSocket(fields: [Keys.field("a")])
        let call = try peer.answer("addObserver", #"{"object":"R","implements":["f"]}"#)
        #expect(call.has("error") == (status != 409))
    }

    @Test("R1: one principal replaces its own responder, whatever that implements")
    func ownResponder() async throws {
        var keys = Keys()
        keys.add("f", principal: "p", Self.grants(#""respond""#, #","names":["f"]"#))
        keys.add("g", principal: "p", Self.grants(#""respond""#, #","names":["g"]"#))
        let keyring = try keys.keyring()
        let broker = try Broker {
            $0.keyring = keyring
            $0.anonymousGrants = Grants.none
        }
        for (id, selector) in [("f", "f"), ("g", "g"), ("f", "f")] {
            let answer = try Self.ask(
                broker, "POST", "/v1/observers", #"{"object":"R","implements":["\#(selector)"]}"#,
                as: id)
            #expect(answer.status == 201)
        }
    }

    // MARK: Leaves

    @Test("V19: a grant below a leaf does not remove it, by no door")
    func leaves() async throws {
        let broker = try await Self.broker([
            "below": Self.grants(#""set","read""#, #","names":["a.b*"]"#),
            "leaf": Self.grants(#""set""#, #","names":["a","a.b*"]"#),
        ])
        _ = try Self.ask(broker, "PUT", "/v1/values/o", #"{"a":"text"}"#, as: "all")
        for (method, body) in [("PUT", "1"), ("PATCH", #"{"c":1}"#)] {
            let answer = try Self.ask(
                broker, method, "/v1/values/o/a.b", body, as: "below",
                ["Content-Type: application/json"])
            #expect(answer.status == 403)
            #expect(answer.json["name"] == "a" && answer.json["verb"] == "set")
        }
        let peer = try broker.webSocket(fields: [Keys.field("below")])
        for call in [
            ("setValue", #"{"object":"o","keyPath":"a.b","value":1}"#),
            ("mergeValue", #"{"object":"o","keyPath":"a.b","patch":{"c":1}}"#),
        ] {
            #expect(try peer.answer(call.0, call.1)["error"]["data"]["status"] == 403)
        }
        #expect(try Self.ask(broker, "GET", "/v1/values/o", as: "all").text == #"{"a":"text"}"#)
        #expect(try Self.ask(broker, "PUT", "/v1/values/o/a.b", "1", as: "leaf").status == 201)
        #expect(try Self.ask(broker, "PUT", "/v1/values/o/a.b", "2", as: "below").status == 200)
        #expect(try Self.ask(broker, "PUT", "/v1/values/p/a.b", "2", as: "below").status == 201)
    }

    // MARK: Sight

    private static func path(_ json: Value) -> [String] { json["path"].elements.compactMap(\.text) }

    private static func chain(_ broker: Broker) throws {
        for body in [
            #"{"object":"R","implements":["other"],"next":"S"}"#,
            #"{"object":"S","implements":["f"]}"#,
        ] {
            #expect(try ask(broker, "POST", "/v1/observers", body, as: "all").status == 201)
        }
    }

    @Test("O8: explain stops at the first address that inspect does not cover")
    func explained() async throws {
        let broker = try await Self.broker([
            "r": Self.grants(#""inspect""#, #","objects":["R"]"#),
            "both": Self.grants(#""inspect""#, #","objects":["R","S"]"#),
        ])
        try Self.chain(broker)
        func explain(_ id: String) throws -> Value {
            try Self.ask(broker, "GET", "/v1/explain?object=R&selector=f", as: id).json["ask"]
        }
        for id in ["all", "both"] {
            let whole = try explain(id)
            #expect(Self.path(whole) == ["R", "S"])
            #expect(whole.has("observer") && !whole.has("partial"))
        }
        let part = try explain("r")
        #expect(Self.path(part) == ["R"] && part["partial"] == true)
        #expect(part["outcome"] == "delivered")
        #expect(!part.has("observer") && part["skipped"].elements.count == 1)
    }

    @Test("O8: explain of a post tells the way of an action as far as inspect covers it")
    func explainedAction() async throws {
        let broker = try await Self.broker([
            "n": #"[{"verbs":["inspect"],"names":["n"]},{"verbs":["inspect"],"objects":["R"]}]"#
        ])
        try Self.chain(broker)
        let peer = try broker.webSocket(fields: [Keys.field("all")])
        _ = try peer.result("addObserver", #"{"name":"n","target":"R","selector":"f"}"#)
        func explain(_ id: String) throws -> Value {
            try Self.ask(broker, "GET", "/v1/explain?name=n", as: id).json["observers"][0]
        }
        let whole = try explain("all")
        #expect(Self.path(whole) == ["R", "S"] && !whole.has("partial"))
        let part = try explain("n")
        #expect(part["target"] == "R" && Self.path(part) == ["R"] && part["partial"] == true)
        #expect(!part.has("observer"))
    }

    @Test("O8: answers of asks stop at the first address that neither ask nor inspect covers")
    func answered() async throws {
        let broker = try await Self.broker([
            "r": Self.grants(#""ask""#, #","objects":["R"]"#),
            "s": #"[{"verbs":["ask"],"objects":["R"]},{"verbs":["inspect"],"objects":["S"]}]"#,
        ])
        try Self.chain(broker)
        for (id, isPartial) in [("r", true), ("s", false)] {
            let target = "/v1/responders/R/nope"
            let answer = try Self.ask(broker, "POST", target + "?default=1", "{}", as: id)
            let failed = try Self.ask(broker, "POST", target, "{}", as: id)
            #expect(answer.json["by"] == "default")
            #expect(failed.status == 501)
            for json in [answer.json, failed.json] {
                #expect(Self.path(json) == (isPartial ? ["R"] : ["R", "S"]))
                #expect(json.has("partial") == isPartial && !json.has("observer"))
            }
            let peer = try broker.webSocket(fields: [Keys.field(id)])
            let call = try peer.answer("ask", #"{"object":"R","selector":"nope"}"#)
            #expect(call["error"]["data"].has("partial") == isPartial)
        }
    }

    @Test("O8: the report of a post tells the way of an action as far as it is covered")
    func reported() async throws {
        let broker = try await Self.broker([
            "post": Self.grants(#""post""#),
            "r": #"[{"verbs":["post"]},{"verbs":["ask"],"objects":["R"]}]"#,
        ])
        try Self.chain(broker)
        let peer = try broker.webSocket(fields: [Keys.field("all")])
        _ = try peer.result("addObserver", #"{"name":"n","target":"R","selector":"f"}"#)
        func row(_ id: String) throws -> Value {
            try Self.ask(broker, "POST", "/v1/channels/n?report=observers", "{}", as: id)
                .json["observers"][0]
        }
        #expect(try Self.path(row("all")) == ["R", "S"])
        let part = try row("r")
        #expect(part["target"] == "R" && part["partial"] == true && !part.has("observer"))
        let none = try row("post")
        #expect(!none.has("target") && Self.path(none) == [] && none["partial"] == true)
    }
}
