import BelfryAccess
import BelfryCenter
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("Posts that enter the queue later (rules L1 to L10)")
struct TimerRouteTests {
    private static func later(_ name: String, _ members: String, object: String? = nil) -> String {
        let object = object.map { #","object":"\#($0)""# } ?? ""
        return #"{"name":"\#(name)"\#(object),\#(members)}"#
    }

    private static func queue(_ broker: Broker, _ query: String = "") throws -> [Value] {
        try broker.get("/v1/queue\(query)").json["entries"].elements
    }

    @Test(
        "L1, L3 (T290): it is listed with its time, posted then and not before, and gone",
        arguments: Scene.all)
    func firesOnce(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "tick")
        let answer = try stage.post(json: Self.later("tick", #""after":0.2"#)).json
        let id = try #require(answer["id"].text)
        #expect(answer["outcome"] == "queued" && !answer.has("dequeued"))
        let dueAt = try #require(answer["dueAt"].text)
        let rows = try Self.queue(stage.broker)
        #expect(rows.map { $0["dueAt"].text } == [dueAt] && rows[0]["id"].text == id)
        #expect(try stage.broker.get("/v1/queue/\(id)").json["dueAt"].text == dueAt)
        let fate = try stage.broker.get("/v1/notifications/\(id)").json
        #expect(fate["state"] == "queued" && fate["dueAt"].text == dueAt)
        try stage.broker.advance(by: .milliseconds(199))
        #expect(try stage.x.takeNames() == [])
        try stage.broker.advance(by: .milliseconds(1))
        let frames = try stage.x.takeNotifications()
        #expect(frames.count == 1 && frames[0]["id"].text == id)
        #expect((frames[0]["postedAt"].text ?? "") >= dueAt)
        #expect(try stage.broker.request("DELETE", "/v1/queue/\(id)").status == 404)
        #expect(try stage.broker.get("/v1/notifications/\(id)").json["state"] == "posted")
        try stage.broker.advance(by: .seconds(60))
        #expect(try stage.x.takeNames() == [])
    }

    @Test("L1: 202 with Location over HTTP; the content of a channel has its options in the query")
    func overHTTP() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe("Reminder")
        let response = try broker.request("POST", "/v1/channels/Reminder?after=3", #"{"a":1}"#)
        #expect(response.status == 202)
        let location = try #require(response.field("location"))
        #expect(location == "/v1/notifications/\(response.json["id"].text ?? "?")")
        try broker.advance(by: .seconds(3))
        #expect(try x.takeNotifications().map { $0["userInfo"]["a"] } == [1])
        #expect(try broker.get(location).json["state"] == "posted")
    }

    @Test("L1 (T296): a debounce is posted once, after the last", arguments: Scene.all)
    func debounces(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "save")
        for step in 0..<7 {
            let save = Self.later("save", #""after":1,"replaces":true"#, object: "doc")
            let answer = try stage.post(json: save).json
            #expect(answer["dequeued"].int == (step == 0 ? nil : 1))
            try stage.broker.advance(by: .milliseconds(300))
        }
        #expect(try stage.x.takeNames() == [])
        try stage.broker.advance(by: .milliseconds(699))
        #expect(try stage.x.takeNames() == [])
        try stage.broker.advance(by: .milliseconds(1))
        #expect(try stage.x.takeNames() == ["save/doc"])
    }

    @Test("L2: after 0 is the next turn, behind what was posted with it")
    func nextTurn() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe(nil)
        _ = try broker.post(#"[{"name":"a","after":0},{"name":"b"},{"name":"c","style":"asap"}]"#)
        #expect(try x.takeNames() == ["b", "c", "a"])
    }

    @Test(
        "L4 (T292): after a pause of the process it fires once, and returns to its grid",
        arguments: [1, 2])
    func pause(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let x = try broker.webSocket(loop: loopCount - 1)
        try x.observe("r")
        _ = try broker.post(Self.later("r", #""after":0,"every":1"#))
        #expect(try x.takeNames() == ["r"])
        try broker.pause(for: .milliseconds(3_500))
        #expect(try x.takeNames() == ["r"])
        let row = try #require(try Self.queue(broker).first)
        #expect(row["fired"] == 2 && row["missed"] == 2 && row["every"] == 1)
        try broker.advance(by: .milliseconds(499))
        #expect(try x.takeNames() == [])
        try broker.advance(by: .milliseconds(1))
        #expect(try x.takeNames() == ["r"])
        try broker.advance(by: .seconds(1))
        #expect(try x.takeNames() == ["r"])
    }

    @Test("L4, L5: firings have their own ids, and a timer ends with DELETE", arguments: Scene.all)
    func repeats(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "r")
        let timer = try stage.post(json: Self.later("r", #""every":0.5"#)).json["id"].text ?? "?"
        try stage.broker.advance(by: .milliseconds(500))
        try stage.broker.advance(by: .milliseconds(500))
        let frames = try stage.x.takeNotifications()
        #expect(frames.map { $0["causedBy"].text } == [timer, timer])
        #expect(Set(frames.map { $0["id"].text } + [timer]).count == 3)
        #expect(try stage.broker.request("DELETE", "/v1/queue/\(timer)").status == 204)
        try stage.broker.advance(by: .seconds(5))
        #expect(try stage.x.takeNames() == [])
        #expect(try stage.broker.get("/v1/notifications/\(timer)").json["state"] == "dequeued")
    }

    @Test("L5: timers are dequeued by name and object", arguments: Scene.all)
    func dequeues(scene: Scene) throws {
        let stage = try Stage(scene)
        for object in ["o", "p"] {
            _ = try stage.post(json: Self.later("a", #""after":9"#, object: object))
        }
        #expect(try stage.dequeue(name: "a", object: "o").json["removed"] == 1)
        #expect(try stage.dequeue(name: "a").json["removed"] == 1)
        #expect(try Self.queue(stage.broker).isEmpty)
    }

    @Test(
        "L7 (T298): one that repeats ends with the client that made it, and not with the disconnection"
    )
    func endsWithItsClient() throws {
        let broker = try Broker()
        let (x, y) = (try broker.webSocket(), try broker.webSocket())
        try y.observe(nil)
        try x.result("addObserver", #"{"name":"x"}"#)
        try x.result("post", Self.later("r", #""every":1"#))
        try x.result("post", Self.later("once", #""after":60"#))
        try x.cut()
        try broker.advance(by: .seconds(1))
        #expect(try y.takeNames() == ["r"])
        let session = ["Belfry-Session: \(x.session)"]
        #expect(
            try broker.request("DELETE", "/v1/clients/\(x.client)", fields: session).status == 204)
        try broker.advance(by: .seconds(58))
        #expect(try y.takeNames() == [])
        try broker.advance(by: .seconds(1))
        #expect(try y.takeNames() == ["once"])
    }

    @Test("L8 (T294): due in another mode it waits, once", arguments: Scene.all)
    func modes(scene: Scene) throws {
        let stage = try Stage(scene)
        try stage.observe(stage.x, "a")
        _ = try stage.post(json: Self.later("a", #""after":0.2,"modes":["modal"]"#))
        try stage.broker.advance(by: .seconds(5))
        #expect(try stage.x.takeNames() == [])
        let token = try stage.enter("modal")
        #expect(try stage.x.takeNames() == ["a"])
        try stage.leave(token)
        #expect(try stage.x.takeNames() == [])
    }

    @Test("L9: a timer that is not due keeps no idle post waiting")
    func idles() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe(nil)
        _ = try broker.post(Self.later("later", #""after":60"#))
        _ = try broker.post(#"{"name":"idle","style":"idle"}"#)
        #expect(try x.takeNames() == ["idle"])
    }

    @Test("L1: entries come first, then timers by their time; waiting lists the ones or the others")
    func lists() throws {
        let broker = try Broker()
        _ = try broker.post(#"{"mode":"held"}"#, target: "/v1/modes")
        for (name, after) in [("c", 30), ("b", 20), ("d", 40)] {
            _ = try broker.post(Self.later(name, #""after":\#(after)"#))
        }
        _ = try broker.post(#"{"name":"a","style":"asap"}"#)
        func names(_ query: String) throws -> [String?] {
            try Self.queue(broker, query).map { $0["name"].text }
        }
        #expect(try names("") == ["a", "b", "c", "d"])
        #expect(try names("?waiting=true") == ["b", "c", "d"])
        #expect(try names("?waiting=false") == ["a"])
        #expect(try names("?name=c") == ["c"])
        var (pages, cursor): ([[String?]], String?) = ([], nil)
        repeat {
            let query = "?limit=1" + (cursor.map { "&cursor=\($0)" } ?? "")
            let page = try broker.get("/v1/queue\(query)").json
            pages.append(page["entries"].elements.map { $0["name"].text })
            cursor = page["next"].text
        } while cursor != nil && pages.count < 9
        #expect(pages.flatMap { $0 } == ["a", "b", "c", "d"])
        #expect(try broker.get("/v1/queue?waiting=1").place == "waiting")
    }

    @Test("L1 (T299): what does not fit is 422", arguments: Scene.all)
    func refuses(scene: Scene) throws {
        let stage = try Stage(scene)
        for members in [
            #""after":-1"#, #""every":0.05"#, #""style":"now","after":1"#,
            #""after":1,"at":"2026-11-21T08:00:00Z""#, #""lease":5"#,
            #""at":"2027-01-02T00:00:00.001Z""#,
        ] {
            let account = try stage.post(json: Self.later("a", members))
            #expect(account.status == 422, "\(members)")
        }
        // The clocks begin with the year 2026, which has 365 days.
        let farthest = try stage.post(json: Self.later("a", #""at":"2027-01-02T00:00:00Z""#))
        #expect(farthest.status < 300)
        #expect(try stage.post(json: Self.later("a", #""every":1,"lease":null"#)).status == 403)
    }

    @Test("L1: a time that is too far ahead is told where it stands")
    func placeOfTime() throws {
        let broker = try Broker()
        let late = "2027-01-02T00:00:00.001Z"
        let inQuery = try broker.request("POST", "/v1/channels/a?at=\(late)", "{}")
        #expect(inQuery.status == 422 && inQuery.place == "at")
        let inContent = try broker.request(
            "POST", "/v1/notifications", #"{"name":"a","at":"\#(late)"}"#)
        #expect(inContent.status == 422 && inContent.place == "#/at")
        let inBatch = try broker.request(
            "POST", "/v1/notifications", #"[{"name":"a"},{"name":"a","at":"\#(late)"}]"#)
        #expect(inBatch.status == 422 && inBatch.place == "#/1/at")
    }

    @Test("limits: --timer-limit by number and by bytes", arguments: Scene.all)
    func limits(scene: Scene) throws {
        let stage = try Stage(scene) {
            $0.centerLimits.timerLimit = 2
            $0.timerByteLimit = 4
        }
        #expect(try stage.post(json: Self.later("ab", #""after":9"#)).status < 300)
        let bytes = try stage.post(json: Self.later("abc", #""after":9"#))
        #expect(bytes.status == 503 && bytes.json["type"].text?.hasSuffix("queue-full") == true)
        #expect(try stage.post(json: Self.later("ab", #""after":9"#)).status < 300)
        let count = try stage.post(json: Self.later("a", #""after":9"#))
        #expect(count.status == 503 && count.json["limit"] == 2)
        #expect(count.json["detail"].text?.contains("--timer-limit") == true)
        #expect(try stage.dequeue(name: "ab").json["removed"] == 2)
        #expect(try stage.post(json: Self.later("abcd", #""after":9"#)).status < 300)
    }

    @Test(
        "L10 (T300): a farewell is posted when its client is gone, and not after close code 1000",
        arguments: [1, 2])
    func farewells(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let y = try broker.webSocket()
        try y.observe("bye")
        func leave(_ how: (SocketPeer) throws -> Void) throws -> [String?] {
            let x = try broker.webSocket(loop: loopCount - 1)
            let answer = try x.result(
                "post", Self.later("bye", #""onDisconnect":true"#, object: x.client))
            #expect(answer["outcome"] == "queued" && !answer.has("dueAt"))
            let row = try #require(try Self.queue(broker).first)
            #expect(row["onDisconnect"].text == x.client && !row.has("dueAt"))
            try how(x)
            try broker.crank()
            #expect(try Self.queue(broker).isEmpty)
            return try y.takeNotifications().map { $0["object"].text }
        }
        #expect(try leave { try $0.cut() }.count == 1)
        #expect(try leave { try $0.send(.close, [3, 232]) }.isEmpty)
        #expect(try leave { try $0.send(.close, [3, 233]) }.count == 1)
        #expect(try leave { try $0.send(.close, []) }.count == 1)
        let refused = try broker.post(Self.later("bye", #""onDisconnect":true"#))
        #expect(refused.status == 422 && refused.place == "#/onDisconnect")
    }

    @Test("L10: resume in time keeps it armed, also for a client without observers")
    func staysArmed() throws {
        let broker = try Broker()
        let y = try broker.webSocket()
        try y.observe("bye")
        let x = try broker.webSocket()
        try x.result("post", Self.later("bye", #""onDisconnect":true,"after":5"#))
        try x.cut()
        try broker.advance(by: .milliseconds(4_900))
        #expect(try Self.queue(broker).first?.has("dueAt") == true)
        let back = try broker.webSocket()
        try back.result("resume", #"{"session":"\#(x.session)"}"#)
        try broker.advance(by: .seconds(60))
        #expect(try y.takeNames() == [])
        #expect(try Self.queue(broker).first?.has("dueAt") == false)
        try back.cut()
        try broker.advance(by: .seconds(5))
        #expect(try y.takeNames() == ["bye"])
    }

    @Test("L10: a client has 16 farewells; one more is 429, and says of what")
    func farewellLimit() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        for number in 0..<16 {
            try x.result("post", Self.later("bye\(number)", #""onDisconnect":true"#))
        }
        let problem = try x.problem("post", Self.later("bye16", #""onDisconnect":true"#))
        #expect(problem["status"] == 429 && problem["of"] == "onDisconnect")
        #expect(problem["limit"] == 16)
    }

    @Test("L10: a farewell whose key is gone by then is not posted")
    func rights() async throws {
        var keys = Keys()
        keys.add("x", #"[{"verbs":["post"],"names":["bye"]}]"#)
        keys.add("stays", #"[{"verbs":["post"],"names":["bye"]}]"#)
        let keyring = try keys.keyring()
        let broker = try Broker {
            $0.keyring = keyring
            $0.anonymousGrants = Grants([Grant([.observe, .inspect, .wildcard])])
        }
        let y = try broker.webSocket()
        try y.observe(nil)
        let x = try broker.webSocket(fields: [Keys.field("x")])
        let stays = try broker.webSocket(fields: [Keys.field("stays")])
        for peer in [x, stays] {
            try peer.result(
                "post", Self.later("bye", #""onDisconnect":true,"after":1"#, object: peer.client))
            #expect(
                try peer.problem("post", Self.later("other", #""onDisconnect":true"#))["status"]
                    == 403)
            try peer.cut()
        }
        var left = Keys()
        left.add("stays", #"[{"verbs":["post"],"names":["bye"]}]"#)
        var configuration = broker.nodes[0].server.outbox.configuration
        configuration.keyring = try left.keyring()
        _ = broker.shared.mailboxes[0].post(.reload(configuration))
        try broker.crank()
        try broker.advance(by: .seconds(1))
        #expect(try y.takeNotifications().map { $0["object"].text } == [stays.client])
        #expect(try Self.queue(broker).isEmpty)
    }

    @Test("a center with a timer does not end")
    func keepsItsCenter() throws {
        let broker = try Broker { $0.centerIdleTimeout = .seconds(60) }
        let path = "/v1/centers/other"
        _ = try broker.post(Self.later("a", #""after":3600"#), target: path + "/notifications")
        try broker.advance(by: .seconds(1_000))
        #expect(try broker.get(path + "/queue").json["entries"].elements.count == 1)
        try broker.advance(by: .seconds(2_600))
        for _ in 0..<20 { try broker.advance(by: .seconds(60)) }
        #expect(try broker.get(path + "/queue").status == 404)
    }

    @Test("many that are due at once are all posted, in shares of turns")
    func many() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe(nil)
        for start in stride(from: 0, to: 20_000, by: 1_000) {
            let posts = (start..<start + 1_000).map { Self.later("n\($0)", #""after":5"#) }
            #expect(try broker.post("[" + posts.joined(separator: ",") + "]").status == 200)
        }
        try broker.advance(by: .seconds(5))
        #expect(try x.takeNames() == (0..<20_000).map { "n\($0)" })
    }

    @Test("an Idempotency-Key repeats the 202 of a timer, which is set once")
    func keyed() throws {
        let broker = try Broker()
        func post() throws -> Response {
            try broker.request(
                "POST", "/v1/channels/a?after=9", "{}", fields: ["Idempotency-Key: k"])
        }
        let (first, second) = (try post(), try post())
        #expect(first.status == 202 && second.status == 202 && second.json == first.json)
        #expect(second.field("idempotency-replayed") == "true")
        #expect(try Self.queue(broker).count == 1)
    }
}
