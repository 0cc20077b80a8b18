import BelfryCenter
import BelfryLoop
import BelfrySystem
import Testing

@testable import BelfryAccess
@testable import BelfryServer

@Suite("Shares: one principal, or one address, takes a part of each kind and no more")
struct ShareTests {
    private static func broker(
        loopCount: Int = 1, connectionLimit: Int = 900, beginning: Beginning = Beginning(),
        _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> Broker {
        var keys = Keys()
        keys.add("a", #"[{"verbs":["post","observe","inspect","modes","set"]}]"#)
        keys.add("b", #"[{"verbs":["post","observe","inspect","modes","set"]}]"#)
        let keyring = try keys.keyring()
        return try Broker(
            loopCount: loopCount, connectionLimit: connectionLimit, beginning: beginning
        ) {
            $0.keyring = keyring
            $0.anonymousGrants = .loopbackDefault
            adjust(&$0)
        }
    }

    /// A broker that other machines reach.
    private static func open(
        _ adjust: (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> Broker {
        try Broker(connectionLimit: 8) {
            $0.listenAddresses = [SocketAddress("0.0.0.0:0")].compactMap { $0 }
            $0.anonymousGrants = .loopbackDefault
            $0.trustedProxies = ["10.0.0.1"].compactMap { Network($0) }
            adjust(&$0)
        }
    }

    private static let json = "Content-Type: application/json"

    private static func fields(_ key: String?, _ more: String...) -> [String] {
        [json] + (key.map { [Keys.field($0)] } ?? []) + more
    }

    // MARK: Observers and centers

    @Test("observers: a quarter by number, then 503 names the option, and others have room")
    func observerCount() async throws {
        let broker = try await Self.broker { $0.observerLimit = 40 }
        func register(_ key: String?) throws -> Response {
            try broker.request(
                "POST", "/v1/observers", #"{"name":"n"}"#, fields: Self.fields(key))
        }
        let answers = try (0..<10).map { _ in try register("a") }
        #expect(answers.allSatisfy { $0.status == 201 })
        let refused = try register("a")
        #expect(refused.status == 503 && refused.problem == "overloaded")
        #expect(refused.json["detail"].text?.contains("--principal-share") == true)
        for _ in 0..<10 { #expect(try register("b").status == 201) }
        // Callers without a key are no principal, and loopback is no address that counts.
        for _ in 0..<20 { #expect(try register(nil).status == 201) }
        // A removal makes room.
        let target = "/v1/observers/\(answers[3].json["token"].text ?? "")"
        #expect(try broker.request("DELETE", target, fields: [Keys.field("a")]).status == 204)
        #expect(try register("a").status == 201)
        #expect(try register("a").status == 503)
    }

    @Test("observers: a quarter by memory, over all centers and loops", arguments: [1, 2])
    func observerMemory(loopCount: Int) async throws {
        let broker = try await Self.broker(loopCount: loopCount) { $0.memory.observers = 400_000 }
        let name = String(repeating: "n", count: 200)
        let peer = try broker.http()
        var count = 0
        while count < 1_000 {
            let response = try peer.request(
                "POST", "/v1/centers/c\(count % 5)/observers", #"{"name":"\#(name)\#(count)"}"#,
                fields: Self.fields("a"))
            if response.status != 201 { break }
            count += 1
        }
        #expect((50...250).contains(count))
        #expect((100_000...101_500).contains(broker.held("a").memory[.observers]))
        #expect(
            try broker.request(
                "POST", "/v1/observers", #"{"name":"x"}"#, fields: Self.fields("b")
            ).status == 201)
    }

    @Test("a WebSocket's observers count for whoever opened it, and go with it")
    func webSocket() async throws {
        let broker = try await Self.broker { $0.observerLimit = 40 }
        let socket = try broker.webSocket(fields: [Keys.field("a")])
        for number in 0..<10 {
            _ = try socket.result(
                "addObserver", #"{"name":"n\#(number)","lifetime":"connection"}"#)
        }
        let problem = try socket.problem("addObserver", #"{"name":"m"}"#)
        #expect(problem["detail"].text?.contains("--principal-share") == true)
        #expect(broker.held("a").observerCount == 10)
        try socket.cut()
        #expect(broker.held("a").observerCount == 0)
    }

    @Test("centers: a quarter, and a center that ends makes room")
    func centers() async throws {
        let broker = try await Self.broker { $0.centerLimit = 8 }
        func post(_ center: String, _ key: String) throws -> Int {
            try broker.request(
                "POST", "/v1/centers/\(center)/channels/n", "{}", fields: Self.fields(key)
            ).status
        }
        #expect(try post("one", "a") == 200)
        #expect(try post("two", "a") == 200)
        #expect(try post("three", "a") == 503)
        #expect(try post("three", "b") == 200)
        #expect(try post("three", "a") == 200)
        #expect(broker.held("a").centerCount == 2)
        try broker.advance(by: .seconds(900))
        #expect(broker.held("a").isNone)
        #expect(try post("four", "a") == 200)
    }

    // MARK: The queue, keys, what is held, rings

    @Test("the queue: past its share a principal is refused, and others wait beside it")
    func queue() async throws {
        let broker = try await Self.broker { $0.memory.queue = 80_000 }
        let text = String(repeating: "x", count: 500)
        func enqueue(_ key: String, _ number: Int) throws -> Response {
            try broker.request(
                "POST", "/v1/notifications",
                """
                {"name":"n\(number)","style":"asap","modes":["never"],"userInfo":{"t":"\(text)"}}
                """, fields: Self.fields(key))
        }
        var count = 0
        while try enqueue("a", count).status == 202, count < 1_000 { count += 1 }
        #expect((10...30).contains(count))
        let refused = try enqueue("a", count)
        #expect(refused.status == 503 && refused.problem == "queue-full")
        #expect(refused.json["detail"].text?.contains("--principal-share") == true)
        #expect(try enqueue("b", 0).status == 202)
        let target = "/v1/queue?name=n0&coalesce=name"
        #expect(try broker.request("DELETE", target, fields: [Keys.field("a")]).status == 200)
        #expect(try enqueue("a", count).status == 202)
    }

    @Test(
        "queue, timers and values: a quarter of the limit of each over all centers, apart from each other",
        arguments: [1, 2])
    func texts(loopCount: Int) async throws {
        let broker = try await Self.broker(loopCount: loopCount) {
            $0.queueByteLimit = 4_000
            $0.timerByteLimit = 8_000
            $0.valueByteLimit = 16_000
        }
        func text(_ byteCount: Int) -> String { String(repeating: "x", count: byteCount) }
        func post(_ key: String, _ byteCount: Int, _ more: String, _ center: String = "default")
            throws -> Response
        {
            // A name of one byte, and eight bytes around the text.
            try broker.request(
                "POST", "/v1/centers/\(center)/notifications",
                #"{"name":"n",\#(more),"userInfo":{"t":"\#(text(byteCount - 9))"}}"#,
                fields: Self.fields(key))
        }
        func put(_ key: String, _ byteCount: Int, _ object: String, _ center: String = "default")
            throws -> Response
        {
            try broker.request(
                "PUT", "/v1/centers/\(center)/values/\(object)/t", #""\#(text(byteCount - 9))""#,
                fields: Self.fields(key))
        }
        let (waits, later) = (#""style":"asap","modes":["never"]"#, #""after":60"#)
        for key in ["a", "b"] {
            #expect(try put(key, 4_000, key).status == 201)
            #expect(try post(key, 2_000, later).status == 202)
            #expect(try post(key, 1_000, waits).status == 202)
        }
        for (refused, problem, option) in [
            (try put("a", 10, "o", "x"), "values-full", "--value-limit"),
            (try post("a", 10, later, "x"), "queue-full", "--timer-limit"),
            (try post("a", 10, waits, "x"), "queue-full", "--queue-limit"),
        ] {
            #expect(refused.status == 503 && refused.problem == problem)
            let detail = refused.json["detail"].text ?? ""
            #expect(detail.contains(option) && detail.contains("--principal-share"))
        }
        // A value that is smaller than before makes room.
        #expect(try put("a", 3_990, "a").status == 200)
        #expect(try put("a", 10, "o", "x").status == 201)
        #expect(try put("a", 10, "p", "x").status == 503)
    }

    @Test("small values: a quarter of the memory of all queues, for values alone")
    func smallValues() async throws {
        let broker = try await Self.broker { $0.memory.queue = 80_000 }
        let peer = try broker.http()
        func put(_ key: String, _ object: String) throws -> Response {
            try peer.request(
                "PUT", "/v1/values/\(object)/t", "1", fields: Self.fields(key))
        }
        var count = 0
        while try put("a", "o\(count)").status == 201, count < 1_000 { count += 1 }
        #expect((30...40).contains(count))
        #expect((19_990...20_640).contains(broker.held("a").texts[.values].cost))
        #expect(try put("b", "p").status == 201)
        let queued = try broker.request(
            "POST", "/v1/notifications", #"{"name":"n","style":"asap","modes":["never"]}"#,
            fields: Self.fields("a"))
        #expect(queued.status == 202)
    }

    @Test("keys: the oldest of a principal go for its newest, those of others stay")
    func keys() async throws {
        let broker = try await Self.broker { $0.memory.keys = 200_000 }
        let peer = try broker.http()
        func post(_ key: String, _ idempotencyKey: String) throws -> Response {
            try peer.request(
                "POST", "/v1/channels/n", "{}",
                fields: Self.fields(key, "Idempotency-Key: \"\(idempotencyKey)\""))
        }
        let first = try post("b", "first")
        let own = try post("a", "first")
        for number in 0..<500 { _ = try post("a", "\(number)") }
        _ = try broker.get("/livez")
        #expect(broker.held("a").memory[.keys] <= 50_000)
        #expect(broker.held("a").memory[.keys] > 30_000)
        #expect(try post("b", "first").json["id"] == first.json["id"])
        #expect(try post("a", "first").json["id"] != own.json["id"])
        #expect(try post("a", "499").field("idempotency-replayed") != nil)
    }

    @Test("what is held: the oldest of a principal's clients goes, with a gap")
    func held() async throws {
        let broker = try await Self.broker { $0.memory.held = 400_000 }
        func mailbox(_ key: String) throws -> String {
            let response = try broker.request(
                "POST", "/v1/observers",
                #"{"name":"h","suspensionBehavior":"hold","holdLimit":10000}"#,
                fields: Self.fields(key))
            return response.json["token"].text ?? ""
        }
        let (mine, others) = (try mailbox("a"), try mailbox("b"))
        let text = String(repeating: "x", count: 500)
        _ = try broker.post(#"{"name":"h","userInfo":{"first":1}}"#)
        func first(_ token: String, _ key: String) throws -> Value {
            try broker.request(
                "GET", "/v1/observers/\(token)/notifications?limit=1", fields: [Keys.field(key)]
            ).json
        }
        // The held deliveries of b stay within its own share: 100,000 bytes.
        for _ in 0..<50 { _ = try broker.post(#"{"name":"h","userInfo":{"t":"\#(text)"}}"#) }
        #expect(try first(others, "b")["gaps"].elements.isEmpty)
        for _ in 0..<20 { _ = try mailbox("a") }
        for _ in 0..<20 { _ = try broker.post(#"{"name":"h","userInfo":{"t":"\#(text)"}}"#) }
        _ = try broker.get("/livez")
        #expect(broker.held("a").memory[.held] <= 100_000)
        #expect(try !first(mine, "a")["gaps"].elements.isEmpty)
        #expect(try first(others, "b")["gaps"].elements.isEmpty)
    }

    @Test("the ring of a center counts for its maker, and is cut at its share", .withinOneTurn)
    func ring() async throws {
        let broker = try await Self.broker { $0.memory.replay = 400_000 }
        let text = String(repeating: "x", count: 500)
        let peer = try broker.http()
        for (center, key) in [("b", "b"), ("a1", "a"), ("a2", "a")] {
            for _ in 0..<(key == "a" ? 300 : 100) {
                _ = try peer.request(
                    "POST", "/v1/centers/\(center)/channels/n", #"{"t":"\#(text)"}"#,
                    fields: Self.fields(key))
            }
        }
        _ = try broker.get("/livez")
        #expect(broker.held("a").memory[.replay] <= 100_000)
        #expect(broker.held("a").memory[.replay] > 60_000)
        let center = try #require(broker.nodes[0].position(of: "b"))
        #expect(broker.nodes[0].trimmableCount(of: .replay, at: center) == 100)
    }

    @Test("what a store has kept counts for its principals after a start")
    func restored() async throws {
        let store = HandStore()
        let broker = try await Self.broker(beginning: try store.beginning())
        let peer = try broker.http()
        for (target, body, more) in [
            ("/v1/observers", #"{"name":"n","suspensionBehavior":"hold"}"#, []),
            ("/v1/channels/n", "{}", [#"Idempotency-Key: "k""#]),
        ] {
            try peer.send(
                HTTPPeer.text("POST", target, body, fields: Self.fields("a") + more))
            try broker.crank()
            try store.commit(in: broker)
            #expect(try peer.read()?.status == (more.isEmpty ? 201 : 200))
        }
        let before = broker.held("a")
        #expect(before.observerCount == 1)
        #expect(before.memory[.held] > 0 && before.memory[.keys] > 0)
        let next = try await Self.broker(beginning: try store.beginning())
        #expect(next.held("a") == before)
    }

    // MARK: Connections

    private static let longPost =
        "POST /v1/channels/n HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n"

    @Test("a principal has a quarter of the connections; another request on one of them needs none")
    func connections() async throws {
        let broker = try await Self.broker(connectionLimit: 8)
        func ask(_ peer: HTTPPeer, _ key: String) throws -> Response {
            try peer.request("GET", "/v1/observers", fields: [Keys.field(key)])
        }
        let peers = try (0..<4).map { _ in try broker.http() }
        #expect(try ask(peers[0], "a").status == 200)
        #expect(try ask(peers[1], "a").status == 200)
        #expect(try ask(peers[1], "a").status == 200)
        let refused = try ask(peers[2], "a")
        #expect(refused.status == 429 && refused.problem == "too-many-connections")
        #expect(refused.json["detail"].text?.contains("--principal-share") == true)
        #expect(peers[2].peer.sawEndOfOutput)
        #expect(try ask(peers[3], "b").status == 200)
        // A connection counts for the principal that spoke on it last.
        #expect(try ask(peers[1], "b").status == 200)
        #expect(try ask(broker.http(), "a").status == 200)
        peers[0].peer.close()
        try broker.crank()
        #expect(try ask(broker.http(), "a").status == 200)
        #expect(try ask(broker.http(), "a").status == 429)
    }

    @Test("an address that is not loopback has a quarter of the connections, a proxy has all")
    func addresses() throws {
        let broker = try Self.open()
        let peers = try (0..<2).map { _ in try broker.http(from: "192.0.2.1") }
        for peer in peers { #expect(try peer.request("GET", "/livez").status == 200) }
        let refused = try #require(try broker.http(from: "192.0.2.1").read())
        #expect(refused.status == 429)
        #expect(refused.json["detail"].text?.contains("--address-share") == true)
        for address in ["10.0.0.1", "127.0.0.1"] {
            let more = try (0..<3).map { _ in try broker.http(from: address) }
            for peer in more { #expect(try peer.request("GET", "/livez").status == 200) }
            for peer in more { peer.peer.close() }
            try broker.crank()
        }
    }

    @Test("an address counts for what it makes, also behind a proxy")
    func madeByAddress() throws {
        let broker = try Self.open { $0.observerLimit = 8 }
        func register(_ peer: HTTPPeer, _ more: String...) throws -> Int {
            try peer.request(
                "POST", "/v1/observers", #"{"name":"n"}"#, fields: [Self.json] + more
            ).status
        }
        let far = try broker.http(from: "192.0.2.1")
        #expect(try (0..<3).map { _ in try register(far) } == [201, 201, 503])
        let proxy = try broker.http(from: "10.0.0.1")
        let forwarded = ["Forwarded: for=192.0.2.1", "Forwarded: for=192.0.2.2"]
        #expect(try register(proxy, forwarded[0]) == 503)
        #expect(try (0..<3).map { _ in try register(proxy, forwarded[1]) } == [201, 201, 503])
        #expect(try register(proxy) == 201)
    }

    @Test("input by halves: the largest of an address goes, those of others stay")
    func unfinished() throws {
        let broker = try Self.open { $0.unfinishedByteLimit = 400_000 }
        let other = try broker.http(from: "192.0.2.2")
        try other.send(Self.longPost)
        try other.send(String(repeating: "x", count: 80_000))
        let peers = try (0..<2).map { _ in try broker.http(from: "192.0.2.1") }
        for peer in peers {
            try peer.send(Self.longPost)
            try peer.send(String(repeating: "x", count: 80_000))
        }
        try broker.crank()
        #expect(peers.count { $0.peer.sawEndOfOutput } == 1)
        #expect(!other.peer.sawEndOfOutput)
    }

    @Test("a share of 100 is all, and nobody is counted")
    func all() async throws {
        let broker = try await Self.broker(connectionLimit: 4) {
            $0.observerLimit = 4
            $0.principalShare = 100
            $0.addressShare = 100
        }
        for _ in 0..<4 {
            #expect(
                try broker.request(
                    "POST", "/v1/observers", #"{"name":"n"}"#, fields: Self.fields("a")
                ).status == 201)
        }
        #expect(broker.held("a").isNone)
    }
}
