import BelfryAccess
import BelfryCenter
import Testing

@testable import BelfryServer

@Suite("Conditions on userInfo (rules W1 to W10)")
struct WhereRuleTests {
    /// The values of `v` that an observer of a condition got, as they were posted.
    private static func passed(
        _ stage: Stage, where condition: String, _ posts: [String]
    ) throws -> [Int] {
        let token = try stage.register(stage.x, #""name":"a","where":\#(condition)"#)
        #expect(token.status < 300, "\(condition): \(token.json)")
        var numbers: [Int] = []
        for (number, userInfo) in posts.enumerated() {
            let receipt = try stage.post(
                "a", userInfo: userInfo.isEmpty ? nil : userInfo)
            let got = try stage.x.takeNotifications()
            #expect(receipt.json["matched"].int == got.count)
            if got.count == 1 { numbers.append(number) }
        }
        #expect(try stage.remove(token.json["token"]).status < 300)
        return numbers
    }

    @Test(
        "W1, W4, W5 (T340): a registration matches when its condition is true", arguments: Scene.all
    )
    func numbers(scene: Scene) throws {
        let stage = try Stage(scene)
        let posts = [
            #"{"total":99}"#, #"{"total":100}"#, #"{"total":"100"}"#, "{}", #"{"total":1e2}"#,
            #"{"total":100.0000000000000000001}"#,
        ]
        #expect(try Self.passed(stage, where: #"{"total":{"atLeast":100}}"#, posts) == [1, 4, 5])
        #expect(try Self.passed(stage, where: #"{"total":{"above":100}}"#, posts) == [5])
    }

    @Test("W4 (T341): numbers compare as the decimals that they are", arguments: Scene.all)
    func decimals(scene: Scene) throws {
        let stage = try Stage(scene)
        let posts = [
            #"{"v":9007199254740992}"#, #"{"v":9007199254740993}"#,
            #"{"v":9007199254740993.0}"#,
        ]
        #expect(try Self.passed(stage, where: #"{"v":9007199254740993}"#, posts) == [1, 2])
        #expect(
            try Self.passed(stage, where: #"{"v":-0}"#, [#"{"v":0}"#, #"{"v":0.0}"#]) == [0, 1])
    }

    @Test(
        "W2, W3 (T342, T345): the bytes of the userInfo decide; of two keys the last one",
        arguments: Scene.all)
    func bytes(scene: Scene) throws {
        let stage = try Stage(scene)
        let texts = [#"{"k":"é"}"#, #"{"k":"\u00e9"}"#, #"{"k":"e\u0301"}"#]
        #expect(try Self.passed(stage, where: #"{"k":"\u00e9"}"#, texts) == [0, 1])
        #expect(try Self.passed(stage, where: #"{"k":2}"#, [#"{"k":1,"k":2}"#]) == [0])
        #expect(try Self.passed(stage, where: #"{"k":1}"#, [#"{"k":1,"k":2}"#]) == [])
    }

    @Test("W5, W6 (T343): no value makes a condition false, and its not true", arguments: Scene.all)
    func negations(scene: Scene) throws {
        let stage = try Stage(scene)
        let posts = [#"{"s":"open"}"#, #"{"s":"done"}"#, #"{"t":1}"#, ""]
        #expect(try Self.passed(stage, where: #"{"s":{"not":"done"}}"#, posts) == [0, 2, 3])
        #expect(try Self.passed(stage, where: #"{"s":{"exists":true}}"#, posts) == [0, 1])
        #expect(try Self.passed(stage, where: #"{"s":null}"#, posts) == [2, 3])
    }

    @Test(
        "W1 (T344): contains looks into arrays and strings; any of several conditions",
        arguments: Scene.all)
    func contains(scene: Scene) throws {
        let stage = try Stage(scene)
        let posts = [
            #"{"tags":["a","urgent"]}"#, #"{"tags":"very urgent!"}"#, #"{"tags":{"urgent":1}}"#,
        ]
        #expect(try Self.passed(stage, where: #"{"tags":{"contains":"urgent"}}"#, posts) == [0, 1])
        let any = #"[{"total":{"above":1000}},{"vip":true,"note":{"exists":false}}]"#
        let orders = [
            #"{"total":1001}"#, #"{"vip":true}"#, #"{"vip":true,"note":"x"}"#, #"{"total":1}"#,
        ]
        #expect(try Self.passed(stage, where: any, orders) == [0, 1])
    }

    @Test("W7 (T350): a malformed condition is 422 with its pointer", arguments: Scene.all)
    func faults(scene: Scene) throws {
        let stage = try Stage(scene)
        let alternatives = (0..<17).map { #"{"k":\#($0)}"# }.joined(separator: ",")
        let faults = [
            ("{}", "#/where"), ("[]", "#/where"), ("1", "#/where"), ("true", "#/where"),
            (#"{"a":{"like":1}}"#, "#/where/a/like"), (#"{"a":{}}"#, "#/where/a"),
            ("[\(alternatives)]", "#/where"), (#"{"a..b":1}"#, "#/where/a..b"),
            (#"{"a":{"above":"x"}}"#, "#/where/a/above"), (#"[{"a":1},{}]"#, "#/where/1"),
        ]
        for (condition, place) in faults {
            let answer = try stage.register(stage.x, #""name":"a","where":\#(condition)"#)
            #expect(answer.status == 422 && answer.place == place, "\(condition): \(answer.json)")
        }
        #expect(try stage.observers().isEmpty)
    }

    @Test(
        "W8 (T346): an observer that coalesces holds the last one that matched",
        arguments: Scene.all)
    func coalesces(scene: Scene) throws {
        let stage = try Stage(scene)
        let observer = try stage.register(stage.x, #""name":"a","where":{"v":{"above":5}}"#)
        #expect(observer.status < 300)
        _ = try stage.x.result("setSuspended", #"{"suspended":true}"#)
        try stage.post("a", userInfo: #"{"v":7}"#)
        try stage.post("a", userInfo: #"{"v":1}"#)
        _ = try stage.x.result("setSuspended", #"{"suspended":false}"#)
        let messages = try stage.x.takeMessages { _ in true }
        let values = messages.compactMap { $0["params"]["userInfo"]["v"].int }
        #expect(values == [7])
        #expect(!messages.contains { $0["method"] == "belfry.gap" })
    }

    @Test("W9: a replay asks the condition as it was registered", arguments: Scene.all)
    func replays(scene: Scene) throws {
        let stage = try Stage(scene)
        for value in 1...6 { try stage.post("a", userInfo: #"{"v":\#(value)}"#) }
        let members = #""namePrefix":"a","where":{"v":{"above":4}},"since":0"#
        #expect(try stage.register(stage.x, members).status < 300)
        #expect(try stage.x.takeNotifications().compactMap { $0["userInfo"]["v"].int } == [5, 6])
    }

    @Test("W9: a mailbox holds what fulfils its condition, and nothing else")
    func mailboxes() throws {
        let broker = try Broker()
        let answer = try broker.post(
            #"{"names":["a","b"],"where":{"v":[1,3]}}"#, target: "/v1/observers")
        let token = try #require(answer.json["token"].text)
        for value in 1...4 {
            _ = try broker.request("POST", "/v1/channels/a", #"{"v":\#(value)}"#)
        }
        let page = try broker.get("/v1/observers/\(token)/notifications").json
        #expect(page["notifications"].elements.compactMap { $0["userInfo"]["v"].int } == [1, 3])
        #expect(page["gaps"].elements.isEmpty)
    }

    @Test(
        "W10 (T347): explain decides it with a userInfo, and marks it without", arguments: Scene.all
    )
    func explains(scene: Scene) throws {
        let stage = try Stage(scene)
        #expect(
            try stage.register(stage.x, #""name":"a","where":{"v":{"above":5}}"#).status < 300)
        func explain(_ members: String) throws -> Value {
            let content = #"{"name":"a"\#(members)}"#
            switch scene.door {
            case .http: return try stage.broker.post(content, target: "/v1/explain").json
            case .webSocket: return try stage.poster.result("explain", content)
            }
        }
        let without = try explain("")
        #expect(without["observers"][0]["where"] == true && without["near"].elements.isEmpty)
        let no = try explain(#","userInfo":{"v":3}"#)
        #expect(no["observers"].elements.isEmpty && no["near"][0]["reason"] == "where-false")
        let yes = try explain(#","userInfo":{"v":6}"#)
        #expect(yes["observers"][0]["id"] == "o1" && !yes["observers"][0].has("where"))
        #expect(try stage.post("a", userInfo: #"{"v":3}"#).json["matched"] == 0)
        let both = try stage.broker.post(
            #"{"selector":"m","object":"o","userInfo":{}}"#, target: "/v1/explain")
        #expect(both.status == 422)
        #expect(try stage.broker.get("/v1/explain?name=a&userInfo=%7B%7D").status == 422)
    }

    @Test(
        "W13: distinct conditions of a center have a limit; the same one needs no room",
        arguments: Scene.all)
    func limits(scene: Scene) throws {
        let stage = try Stage(scene) { $0.centerLimits.conditionLimit = 2 }
        let first = try stage.register(stage.x, #""name":"a","where":{"v":1}"#)
        #expect(try stage.register(stage.x, #""name":"a","where":{"v":2}"#).status < 300)
        #expect(try stage.register(stage.x, #""name":"b","where":{"v":2}"#).status < 300)
        let refused = try stage.register(stage.x, #""name":"b","where":{"v":3}"#)
        #expect(refused.status == 503 && refused.json["limit"] == 2)
        #expect(refused.json["detail"].text?.contains("--max-conditions") == true)
        #expect(try stage.remove(first.json["token"]).status < 300)
        #expect(try stage.register(stage.x, #""name":"b","where":{"v":3}"#).status < 300)
    }

    @Test("W13: a post pays for each distinct condition that its name meets, once")
    func evaluations() throws {
        let stage = try Stage(Scene(door: .webSocket, loopCount: 1))
        for members in [
            #""name":"a","where":{"v":1}"#, #""name":"a","where":{"v":1}"#,
            #""namePrefix":"a","where":{"v":1}"#, #""where":{"v":2}"#,
            #""name":"b","where":{"v":3}"#,
        ] {
            #expect(try stage.register(stage.x, members).status < 300)
        }
        try stage.post("a", userInfo: #"{"v":1}"#)
        #expect(try stage.x.takeNotifications().count == 3)
        let counters = stage.broker.nodes[0].server.context.counters
        #expect(counters.whereEvaluations == 2)
    }

    @Test("W1: a stream has its condition in the query, as JSON")
    func streams() throws {
        let broker = try Broker()
        let stream = try broker.events("/v1/events?name=a&where=%7B%22vip%22%3Atrue%7D")
        _ = try broker.request("POST", "/v1/channels/a", #"{"vip":true}"#)
        _ = try broker.request("POST", "/v1/channels/a", #"{"vip":1}"#)
        #expect(try stream.takeNames() == ["a"])
        let fault = try broker.get("/v1/events?name=a&where=%7B%7D")
        #expect(fault.status == 422 && fault.json["errors"][0]["parameter"] == "where")
    }
}
