import BelfryAccess
import BelfryCenter
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("The queue (Rules.md, Q)")
struct QueueRouteTests {
    @Test("Q1, T56: idle entries leave in the order in which they came", arguments: Scene.all)
    func idleOrder(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        try stage.batch(idle("i1"), idle("i2"), idle("i3"))
        #expect(try stage.x.takeKeys() == ["i1", "i2", "i3"])
    }

    @Test("Q2: asap and idle are answered with 202, the place of their fate, and no count")
    func accepted() throws {
        let broker = try Broker()
        for style in ["asap", "idle"] {
            let response = try broker.request(
                "POST", "/v1/centers/default/channels/a?style=\(style)", "")
            #expect(response.status == 202)
            #expect(response.json["outcome"] == "queued")
            #expect(response.json.keys == ["id", "outcome"])
            let location = try #require(response.field("location"))
            let id = try #require(response.json["id"].text)
            #expect(location == "/v1/centers/default/notifications/\(id)")
            #expect(try broker.get(location).json["state"] == "posted")
        }
        let minimal = try broker.request(
            "POST", "/v1/channels/a?style=asap", "", fields: ["Prefer: return=minimal"])
        #expect(minimal.status == 204)
        #expect(minimal.field("location")?.hasPrefix("/v1/notifications/") == true)
        #expect(try broker.request("POST", "/v1/channels/a?style=now", "").status == 200)
    }

    @Test("Q10, T58: of three pipelined requests idle comes last", .withinOneTurn)
    func pipelined() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe(nil)
        let texts = [("A", "idle"), ("B", "asap"), ("C", "now")].map { name, style in
            HTTPPeer.text("POST", "/v1/channels/\(name)?style=\(style)", "")
        }
        let peer = try broker.http()
        try peer.send(texts.joined())
        #expect(try x.takeNames() == ["C", "B", "A"])
        #expect(try peer.read()?.status == 202)
        #expect(try peer.read()?.status == 202)
        #expect(try peer.read()?.status == 200)
    }

    @Test(
        "Q6, T61: keep latest puts the newest content in the first one's place",
        arguments: Scene.all)
    func keepLatest(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let latest = #","keep":"latest""#
        let receipts = try stage.batch(
            asap("s", k: 1, more: latest), asap("z", nil, more: latest),
            asap("s", k: 2, more: latest))
        #expect(try stage.x.takeKeys() == ["s2", "z"])
        #expect(receipts[2]["outcome"] == "coalesced")
        #expect(receipts[2]["into"] == receipts[0]["id"])
    }

    @Test(
        "Q3, Q4, Q21, T62 to T66, T94: the mask says what is similar",
        arguments: Scene.all)
    func masks(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        func kinds(_ posts: String...) throws -> [String] {
            for post in posts { precondition(post.contains("asap")) }
            switch posts.count {
            case 2: try stage.batch(posts[0], posts[1])
            default: try stage.batch(posts[0], posts[1], posts[2])
            }
            return try stage.x.takeNotifications().map(\.kind)
        }
        let name = #","coalesce":["name"]"#
        let sender = #","coalesce":["sender"]"#
        let none = #","coalesce":"none""#
        #expect(try kinds(asap("a", "o"), asap("a", "p")) == ["a/o", "a/p"])
        #expect(try kinds(asap("a", "o", more: name), asap("a", "p", more: name)) == ["a/o"])
        #expect(try kinds(asap("a", "o", more: sender), asap("b", "o", more: sender)) == ["a/o"])
        #expect(
            try kinds(asap("n1", nil, more: sender), asap("n2", nil, more: sender)) == ["n1/null"])
        #expect(
            try kinds(
                asap("s", "o", more: none), asap("s", "o", more: none), asap("s", "o", more: none)
            ).count == 3)
        #expect(
            try kinds(asap("a", "o", more: none), asap("b", "p", more: none), asap("a", "p"))
                == ["a/o", "b/p", "a/p"])
    }

    @Test("Q5, Q7, T68: only the mask of the new one counts", arguments: Scene.all)
    func newMask(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let name = #","coalesce":["name"]"#
        let sender = #","coalesce":["sender"]"#
        try stage.batch(
            asap("n", "o", k: 1, more: name), asap("n", "p", k: 2, more: sender),
            asap("n", "o", k: 3, more: name),
            asap("n", "p", k: 4, more: name), asap("n", "o", k: 5, more: sender))
        // The second has another sender, so it stays until the third, by its name, takes it in.
        #expect(try stage.x.takeKeys() == ["n1"])
        let none = #","coalesce":"none""#
        try stage.batch(asap("s", k: 1), asap("s", k: 2, more: none), asap("s", k: 3, more: none))
        #expect(try stage.x.takeKeys().count == 3)
        try stage.batch(asap("s", k: 1, more: none), asap("s", k: 2, more: none), asap("s", k: 3))
        #expect(try stage.x.takeKeys() == ["s1"])
    }

    @Test("Q8, T70: three now posts are three deliveries", arguments: Scene.all)
    func nowThrice(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        for k in 1...3 { #expect(try stage.post(json: now("s", k: k)).json["delivered"] == 1) }
        #expect(try stage.x.takeKeys() == ["s1", "s2", "s3"])
    }

    @Test("Q8, T71: a now post stands for similar entries, and passes others", arguments: Scene.all)
    func nowTakesOut(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        try stage.batch(asap("s", "o"), now("s", "p"))
        #expect(try stage.x.takeNotifications().map(\.kind) == ["s/p", "s/o"])
        let receipts = try stage.batch(asap("s", k: 1), idle("t"), now("s", k: 2))
        #expect(receipts[2]["dequeued"] == 1)
        #expect(try stage.x.takeKeys() == ["s2", "t"])
        let fate = try stage.broker.get("/v1/notifications/\(receipts[0]["id"].text ?? "")").json
        #expect(fate["state"] == "coalesced")
        #expect(fate["into"] == receipts[2]["id"])
    }

    @Test("Q9: a plain post leaves the queue alone", arguments: Scene.all)
    func plainPost(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let receipts = try stage.batch(asap("s", k: 1), json(nil, "s", k: 2))
        #expect(receipts[1]["dequeued"] == 0)
        #expect(try stage.x.takeKeys() == ["s2", "s1"])
    }

    @Test(
        "law 1, T73: an entry takes the first place and the most urgent style",
        arguments: Scene.all)
    func neverLater(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let mode = try stage.enter("held")
        let held = #","modes":["default"]"#
        _ = try stage.post(json: idle("s", k: 1, more: held))
        _ = try stage.post(json: idle("t"))
        _ = try stage.post(json: asap("s", k: 2))
        let queue = try stage.queue()
        #expect(queue.map { $0["name"] } == ["s", "t"])
        #expect(queue.map { $0["style"] } == ["asap", "idle"])
        #expect(queue[0]["merged"] == 1)
        #expect(try stage.leave(mode) == 204)
        #expect(try stage.x.takeKeys() == ["s1", "t"])
    }

    @Test("Q7, T74: asap then idle is one entry, and asap", arguments: Scene.all)
    func notDemoted(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        _ = try stage.enter("held")
        _ = try stage.post(json: asap("s", k: 1))
        _ = try stage.post(json: idle("s", k: 2))
        let queue = try stage.queue()
        #expect(queue.count == 1)
        #expect(queue.first?["style"] == "asap")
    }

    @Test("Q19, T75: an entry stands for the modes of all that it merges", arguments: Scene.all)
    func unionOfModes(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let mode = try stage.enter("held")
        _ = try stage.post(json: asap("s", k: 1, more: #","modes":["modal"]"#))
        _ = try stage.post(json: asap("s", k: 2, more: #","modes":["default"]"#))
        #expect(try stage.x.takeKeys() == [])
        try stage.leave(mode)
        #expect(try stage.x.takeKeys() == ["s1"])
    }

    @Test("law 3, T76: the receipt of a merged post names the survivor", arguments: Scene.all)
    func mergedReceipt(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        _ = try stage.enter("held")
        let first = try stage.post(json: asap("s", k: 1))
        let second = try stage.post(json: asap("s", k: 2))
        #expect(first.json["outcome"] == "queued")
        #expect(second.json["outcome"] == "coalesced")
        #expect(second.json["into"] == first.json["id"])
        #expect(second.status == (scene.door == .http ? 202 : 200))
        let fate = try stage.broker.get("/v1/notifications/\(second.json["id"].text ?? "")").json
        #expect(fate["state"] == "coalesced")
        #expect(fate["into"] == first.json["id"])
    }

    @Test("Q13, T78: one idle entry a moment, and asap entries before the next")
    func oneIdle() throws {
        let broker = try Broker()
        let x = try broker.webSocket()
        try x.observe(nil)
        let poster = try broker.http()
        poster.peer.send(
            HTTPPeer.text(
                "POST", "/v1/notifications", "[\(idle("i1")),\(idle("i2"))]",
                fields: ["Content-Type: application/json"]
            ).utf8)
        while broker.nodes[0].ahead != .idle { try broker.nodes[0].turn() }
        // It arrives while the first idle entry is posted.
        x.put(x.call("post", asap("b")))
        try broker.crank()
        #expect(try x.takeNames() == ["i1/o", "b/o", "i2/o"])
    }

    @Test("Q12, Q14, T79: an idle entry waits for all input, unless it has a maxDelay")
    func steadyInput() throws {
        for hasDelay in [false, true] {
            let broker = try Broker()
            let x = try broker.webSocket()
            try x.observe(nil)
            let more = hasDelay ? #","maxDelay":0.5"# : ""
            let busy = try (0..<2).map { _ in try broker.http() }
            let poster = try broker.http()
            poster.peer.send(
                HTTPPeer.text(
                    "POST", "/v1/notifications", idle("i", more: more),
                    fields: ["Content-Type: application/json"]
                ).utf8)
            // More than is read at once, so that the next turn has something to read, too.
            let request = Array(HTTPPeer.text("POST", "/v1/channels/b", "").utf8)
            let requests = (0..<10_000).flatMap { _ in request }
            for peer in busy { peer.peer.send(requests) }
            for _ in 0..<3 {
                try broker.nodes[0].turn()
                broker.nodes[0].kernel.advance(by: .milliseconds(400))
            }
            try broker.crank()
            let names = try x.takeNames()
            #expect(names.count == 20_001)
            #expect((names.last == "i/o") == !hasDelay)
        }
    }

    @Test("Q20, T88 to T91: dequeuing compares what the mask names", arguments: Scene.all)
    func dequeuing(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let mode = try stage.enter("held")
        _ = try stage.post(json: asap("d"))
        #expect(try stage.dequeue(name: "d", object: "o").json == ["removed": 1])
        _ = try stage.batch(asap("d"), idle("e"), idle("e", "p"))
        let entries = try stage.queue()
        #expect(try stage.dequeue(name: "x").json["removed"] == 0)
        let bySender = try stage.dequeue(name: "x", object: "o", coalesce: "sender")
        #expect(bySender.json["removed"] == 2)
        #expect(try stage.queue().map { $0["object"] } == ["p"])
        #expect(try stage.dequeue().status == 422)
        #expect(try stage.dequeue(name: "e", coalesce: "sender,name").json["removed"] == 0)
        let fate = try stage.broker.get("/v1/notifications/\(entries[0]["id"].text ?? "")").json
        #expect(fate == .object(["id": entries[0]["id"], "state": "dequeued"]))
        try stage.leave(mode)
        #expect(try stage.x.takeNotifications().map(\.kind) == ["e/p"])
    }

    @Test("Q20, T91: one entry by its id, exactly that one", arguments: [1, 2])
    func dequeueOne(loopCount: Int) throws {
        let stage = try Stage(Scene(door: .http, loopCount: loopCount))
        _ = try stage.enter("held")
        let receipts = try stage.batch(asap("d"), idle("e"), idle("e", "p"))
        let path = "/v1/queue/\(receipts[1]["id"].text ?? "")"
        let entry = try stage.broker.get(path, loop: stage.postLoop)
        #expect(entry.status == 200)
        #expect(entry.json["name"] == "e")
        #expect(try stage.broker.request("DELETE", path, loop: stage.postLoop).status == 204)
        #expect(try stage.broker.request("DELETE", path).problem == "not-found")
        #expect(try stage.broker.get(path).problem == "not-found")
        #expect(try stage.queue().map { $0["id"] } == [receipts[0]["id"], receipts[2]["id"]])
        let id = receipts[2]["id"].text ?? ""
        #expect(try stage.poster.result("dequeue", #"{"id":"\#(id)"}"#) == ["removed": 1])
    }

    @Test(
        "law 3, T92: the listing tells order, style, modes and what was merged",
        arguments: Scene.all)
    func listing(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        _ = try stage.enter("held")
        _ = try stage.batch(
            idle("i", nil, more: #","modes":["default","modal"],"coalesce":["name"]"#), asap("a"),
            asap("a", k: 2), asap("b", more: #","coalesce":"none""#))
        let queue = try stage.queue()
        #expect(queue.map { $0["name"] } == ["a", "b", "i"])
        #expect(queue.map { $0["style"] } == ["asap", "asap", "idle"])
        #expect(queue.map { $0["merged"] } == [1, 0, 0])
        #expect(queue[0]["coalesce"] == ["name", "sender"])
        #expect(queue[1]["coalesce"] == [])
        #expect(queue[2]["modes"] == ["default", "modal"])
        #expect(queue[2].has("object") == false)
        #expect(queue[0].keys.contains("enqueuedAt"))
        let page = try stage.broker.get("/v1/queue?limit=2").json
        #expect(page["entries"].elements.count == 2)
        let rest = try stage.broker.get("/v1/queue?cursor=\(page["next"].text ?? "")").json
        #expect(rest["entries"].elements.map { $0["name"] } == ["i"])
        #expect(rest.has("next") == false)
        let filtered = try stage.broker.get("/v1/queue?name=a&object=o").json["entries"].elements
        #expect(filtered.count == 1)
    }

    @Test(
        "Q24: a full queue is 503, nothing is accepted, and what merges needs no room",
        arguments: Scene.all)
    func fullQueue(scene: Scene) throws {
        let stage = try Stage(scene) { $0.centerLimits.queueEntryLimit = 2 }
        _ = try stage.enter("held")
        _ = try stage.batch(asap("a"), asap("b"))
        #expect(try stage.post(json: asap("c")).status == 503)
        #expect(try stage.post(json: asap("a")).json["outcome"] == "coalesced")
        #expect(try !stage.post(json: now("c", more: #","modes":["held"]"#)).isRefused)
        #expect(try stage.queue().count == 2)
        let response = try stage.broker.post("[\(idle("d")),\(asap("a"))]")
        #expect(response.problem == "queue-full")
        #expect(response.field("retry-after") == "1")
        #expect(try stage.queue().map { $0["merged"] } == [1, 0])
    }

    @Test("the bytes of all queues have a limit", arguments: [1, 2])
    func queueBytes(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.queueByteLimit = 100 }
        _ = try broker.post(#"{"mode":"held"}"#, target: "/v1/modes")
        let text = String(repeating: "x", count: 48)
        #expect(
            try broker.request("POST", "/v1/channels/aa?style=asap&object=\(text)", "").status
                == 202)
        let path = "/v1/channels/bb?style=asap&object=\(text)"
        #expect(try broker.request("POST", path, "").status == 202)
        #expect(try broker.request("POST", "/v1/channels/c?style=idle", "").problem == "queue-full")
        _ = try broker.request("DELETE", "/v1/queue?name=aa")
        #expect(try broker.request("POST", "/v1/channels/c?style=idle", "").status == 202)
    }

    @Test("Q25, T140: who is removed before the queue leaves gets nothing", arguments: Scene.all)
    func removedBefore(scene: Scene) throws {
        let stage = try Stage(scene)
        let token = try stage.observe(stage.x, "a").json["token"]
        let mode = try stage.enter("held")
        _ = try stage.post(json: asap("a"))
        #expect(try !stage.remove(token).isRefused)
        try stage.observe(stage.y, "a")
        try stage.leave(mode)
        #expect(try stage.x.takeKeys() == [])
        #expect(try stage.y.takeKeys() == ["a"])
    }

    @Test("Q22: a post merges with, and a dequeue removes, only what the caller may post")
    func scopes() throws {
        let broker = try Broker {
            $0.anonymousGrants = Grants([
                Grant([.post], names: [Pattern("Mail*")]), Grant([.modes, .inspect, .observe]),
            ])
        }
        _ = try broker.post(#"{"mode":"held"}"#, target: "/v1/modes")
        #expect(try broker.post(asap("MailA", more: #","coalesce":["sender"]"#)).status == 202)
        #expect(try broker.post(asap("Other")).problem == "forbidden")
        #expect(
            try broker.post(asap("MailB", more: #","coalesce":["sender"]"#)).json["outcome"]
                == "coalesced")
        #expect(
            try broker.request("DELETE", "/v1/queue?object=o&coalesce=sender").json["removed"] == 1)
        let none = try Broker { $0.anonymousGrants = Grants([Grant([.inspect])]) }
        #expect(try none.request("DELETE", "/v1/queue?name=a").problem == "forbidden")
        #expect(try none.post(#"{"mode":"held"}"#, target: "/v1/modes").problem == "forbidden")
    }

    @Test(
        "ttl: an entry that is too old is never posted, and its fate says so", arguments: Scene.all)
    func timeToLive(scene: Scene) throws {
        let stage = try Stage.watched(scene)
        let mode = try stage.enter("held")
        let receipt = try stage.post(json: asap("s", more: #","ttl":2"#)).json
        try stage.broker.advance(by: .milliseconds(1_900))
        #expect(try stage.queue().count == 1)
        try stage.broker.advance(by: .milliseconds(200))
        #expect(try stage.queue().isEmpty)
        let fate = try stage.broker.get("/v1/notifications/\(receipt["id"].text ?? "")").json
        #expect(fate["state"] == "expired")
        try stage.leave(mode)
        #expect(try stage.x.takeKeys() == [])
    }
}
