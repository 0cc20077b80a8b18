import BelfryAccess
import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Grants with a condition (rules W11 and W12)")
struct WhereAccessTests {
    private static let engineers = #"[{"verbs":["observe","wildcard"],"where":{"team":"eng"}}]"#
    private static let all = #"[{"verbs":["post","observe","inspect","admin","wildcard"]}]"#

    private static func ask(
        _ broker: Broker, _ method: String, _ target: String, _ body: String? = nil, as id: String
    ) throws -> Response {
        try broker.request(
            method, target, body, fields: ["Content-Type: application/json", Keys.field(id)])
    }

    /// Posts to two teams, and returns the receipts.
    private static func post(_ broker: Broker, _ name: String = "a") throws -> [Value] {
        try ["eng", "ops"].map { team in
            try ask(
                broker, "POST", "/v1/channels/\(name)", #"{"team":"\#(team)"}"#, as: "all"
            ).json
        }
    }

    private static func teams(_ notifications: [Value]) -> [String] {
        notifications.compactMap { $0["userInfo"]["team"].text }
    }

    @Test("W11 (T348): live, an observer gets only what fulfils the condition of its grant")
    func live() async throws {
        let broker = try await AccessTests.broker(["e": Self.engineers, "all": Self.all])
        let peer = try broker.webSocket(fields: [Keys.field("e")])
        let stream = try broker.events("/v1/events?name=a", fields: [Keys.field("e")])
        try peer.observe("a")
        try peer.observe(nil)
        _ = try peer.result("addObserver", #"{"namePrefix":"a","where":{"team":["eng","ops"]}}"#)
        let receipts = try Self.post(broker)
        #expect(receipts.map { $0["matched"].int } == [4, 0])
        #expect(Self.teams(try peer.takeNotifications()) == ["eng", "eng", "eng"])
        #expect(try stream.takeEvents().count == 1)
        #expect(try peer.takeMessages().isEmpty)
    }

    @Test("W11: replayed, held and in a mailbox it gets no more, and is told of no gap")
    func replayed() async throws {
        let broker = try await AccessTests.broker(["e": Self.engineers, "all": Self.all])
        _ = try Self.post(broker)
        let peer = try broker.webSocket(fields: [Keys.field("e")])
        _ = try peer.result("addObserver", #"{"name":"a","since":0}"#)
        let replay = try peer.takeMessages()
        #expect(Self.teams(replay.map { $0["params"] }) == ["eng"])
        _ = try peer.result("setSuspended", #"{"suspended":true}"#)
        _ = try Self.post(broker)
        _ = try peer.result("setSuspended", #"{"suspended":false}"#)
        let held = try peer.takeMessages()
        #expect(Self.teams(held.map { $0["params"] }) == ["eng"])
        #expect(!held.contains { $0["method"] == "belfry.gap" })
        let mailbox = try Self.ask(broker, "POST", "/v1/observers", #"{"name":"a"}"#, as: "e")
        _ = try Self.post(broker)
        let token = try #require(mailbox.json["token"].text)
        let page = try broker.get("/v1/observers/\(token)/notifications").json
        #expect(Self.teams(page["notifications"].elements) == ["eng"])
        #expect(page["gaps"].elements.isEmpty)
    }

    @Test("W11: of several grants one is enough; one without a condition shows all")
    func several() async throws {
        let two = """
            [{"verbs":["observe"],"names":["a"],"where":{"team":"eng"}},
             {"verbs":["observe"],"names":["a*"],"where":{"team":"ops"}},
             {"verbs":["observe"],"names":["b"]}]
            """
        let broker = try await AccessTests.broker(["two": two, "all": Self.all])
        let peer = try broker.webSocket(fields: [Keys.field("two")])
        try peer.observe("a")
        _ = try peer.result("addObserver", #"{"names":["ab","b"]}"#)
        _ = try Self.post(broker, "a")
        #expect(Self.teams(try peer.takeNotifications()) == ["eng", "ops"])
        _ = try Self.post(broker, "ab")
        #expect(Self.teams(try peer.takeNotifications()) == ["ops"])
        _ = try Self.post(broker, "b")
        #expect(Self.teams(try peer.takeNotifications()) == ["eng", "ops"])
    }

    @Test("W11: explain shows such an observer as near to who may inspect")
    func explains() async throws {
        let broker = try await AccessTests.broker(["e": Self.engineers, "all": Self.all])
        let peer = try broker.webSocket(fields: [Keys.field("e")])
        try peer.observe("a")
        let answer = try Self.ask(
            broker, "POST", "/v1/explain", #"{"name":"a","userInfo":{"team":"ops"}}"#, as: "all"
        ).json
        #expect(
            answer["observers"].elements.isEmpty && answer["near"][0]["reason"] == "where-false")
        let refused = try Self.ask(broker, "POST", "/v1/explain", #"{"name":"a"}"#, as: "e")
        #expect(refused.status == 403)
        // Listings show what was asked for, and not what the grant adds.
        let rows = try Self.ask(broker, "GET", "/v1/observers", as: "all").json["observers"]
        #expect(rows[0]["name"] == "a" && !rows[0].has("where"))
    }

    @Test(
        "W12, L10: a farewell that the condition of its key excludes by then is not posted",
        arguments: [("eng", true), ("ops", false)])
    func farewell(team: String, isPosted: Bool) throws {
        func keyring(_ team: String) throws -> Keyring {
            var keys = Keys()
            keys.add("x", #"[{"verbs":["post"],"where":{"team":"\#(team)"}}]"#)
            return try keys.keyring()
        }
        let keys = try keyring("eng")
        let broker = try Broker {
            $0.keyring = keys
            $0.anonymousGrants = Grants([Grant([.observe])])
        }
        let other = try broker.webSocket()
        try other.observe("bye")
        let peer = try broker.webSocket(fields: [Keys.field("x")])
        _ = try peer.result(
            "post", #"{"name":"bye","userInfo":{"team":"eng"},"onDisconnect":true,"after":1}"#)
        try peer.cut()
        var configuration = broker.nodes[0].server.context.configuration
        configuration.keyring = try keyring(team)
        _ = broker.shared.mailboxes[0].post(.reload(configuration))
        try broker.crank()
        try broker.advance(by: .seconds(1))
        #expect(try other.takeNotifications().count == (isPosted ? 1 : 0))
    }

    @Test("W12 (T349): a post whose userInfo does not fulfil the condition is 403")
    func posts() async throws {
        let poster = #"[{"verbs":["post"],"names":["a"],"where":{"total":{"atLeast":0}}}]"#
        let broker = try await AccessTests.broker(["p": poster, "all": Self.all])
        func status(_ body: String) throws -> Int {
            try Self.ask(broker, "POST", "/v1/notifications", body, as: "p").status
        }
        #expect(try status(#"{"name":"a","userInfo":{"total":0}}"#) == 200)
        #expect(try status(#"{"name":"a","userInfo":{"total":-1}}"#) == 403)
        #expect(try status(#"{"name":"a"}"#) == 403)
        #expect(try status(#"[{"name":"a","userInfo":{"total":1}},{"name":"a"}]"#) == 403)
        #expect(
            try Self.ask(broker, "POST", "/v1/channels/a", #"{"total":2}"#, as: "p").status == 200)
        let excluded = try Self.ask(broker, "POST", "/v1/channels/a", "{}", as: "p")
        #expect(excluded.status == 403)
        #expect(
            excluded.json["detail"]
                == """
                This requires the grant post, which the caller has under a condition (where) that \
                this userInfo does not fulfil.
                """)
        let peer = try broker.webSocket(fields: [Keys.field("p")])
        let refused = try peer.answer("post", #"{"name":"a","userInfo":{"total":-1}}"#)
        #expect(refused["error"]["data"]["status"] == 403)
        let queued = #"{"name":"a","style":"asap","userInfo":{"total":-1}}"#
        #expect(try status(queued) == 403)
    }

    @Test("W11: the caller sees its condition, and a key file may give it to no other verb")
    func keyFiles() async throws {
        let broker = try await AccessTests.broker(["e": Self.engineers])
        let row = try Self.ask(broker, "GET", "/v1/centers/default/me", as: "e").json
        #expect(row["grants"][0]["where"]["team"] == "eng")
        for grants in [
            #"[{"verbs":["observe","inspect"],"where":{"a":1}}]"#,
            #"[{"verbs":["observe"],"where":{}}]"#,
            #"[{"verbs":["observe"],"where":{"a":{"x":1}}}]"#,
        ] {
            var keys = Keys()
            keys.add("k", grants)
            #expect(throws: AccessError.self) { _ = try keys.keyring() }
        }
        var keys = Keys()
        let grant = #"{"verbs":["observe"],"where":{"a":1}}"#
        keys.add("k", "[" + repeatElement(grant, count: 32).joined(separator: ",") + "]")
        _ = try keys.keyring()
        keys.add("l", "[" + repeatElement(grant, count: 33).joined(separator: ",") + "]")
        #expect(throws: AccessError.self) { _ = try keys.keyring() }
    }
}
