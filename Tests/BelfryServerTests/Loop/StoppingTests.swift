import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("The clean stop (Architecture.md section 9)")
struct StoppingTests {
    @Test("clients are told that the broker drains, and closed with 1012", arguments: [1, 2])
    func drain(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        let stream = try broker.events(loop: loopCount - 1)
        try broker.signal(15)
        let messages = try socket.takeMessages()
        #expect(messages.map { $0["method"] } == ["belfry.draining"])
        #expect(messages[0]["params"]["deadline"] == "2026-01-01T00:00:30.000Z")
        #expect(messages[0]["params"].has("reconnectAfter"))
        #expect(socket.closeCode == 1012)
        _ = try stream.takeEvents()
        #expect(stream.peer.sawEndOfOutput)
        for peer in [socket.peer, stream.peer] { peer.close() }
        try broker.crank()
        for _ in 0..<3 { try broker.advance(by: .milliseconds(60)) }
        #expect(broker.nodes.allSatisfy { $0.hasStopped })
    }

    @Test("many clients are closed spread over the drain period")
    func spread() throws {
        let broker = try Broker { $0.drainPeriod = .seconds(1) }
        let sockets = try (0..<40).map { _ in try broker.webSocket() }
        try broker.signal(15)
        var closed: [Int] = []
        for _ in 0..<5 {
            for socket in sockets { try socket.read() }
            closed.append(sockets.filter { $0.closeCode == 1012 }.count)
            try broker.advance(by: .milliseconds(50))
        }
        #expect(closed == [10, 20, 30, 40, 40])
        for socket in sockets {
            #expect(try socket.takeMessages().map { $0["method"] } == ["belfry.draining"])
        }
    }

    @Test("idle connections close, and the broker ends when nobody is left", arguments: [2, 15])
    func idle(signal: Int) throws {
        let broker = try Broker()
        let (fresh, used) = (try broker.http(), try broker.http())
        _ = try used.request("GET", "/livez")
        try broker.signal(Int32(signal))
        #expect(fresh.peer.sawEndOfOutput)
        #expect(used.peer.sawEndOfOutput)
        #expect(!broker.nodes[0].hasStopped)
        fresh.peer.close()
        used.peer.close()
        try broker.crank()
        try broker.advance(by: .milliseconds(60))
        #expect(broker.nodes[0].hasStopped)
    }

    @Test(
        "a request that was begun is answered, and its connection closed at once",
        arguments: [1, 2])
    func begun(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        try peer.send(
            "POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{")
        try broker.signal(15)
        #expect(!peer.peer.sawEndOfOutput)
        try peer.send("}")
        let response = try #require(try peer.read())
        #expect(response.status == 200)
        let keepsAlive = response.head.keepsAlive
        #expect(!keepsAlive)
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("readyz is 503 while the broker stops, livez is not", arguments: ["/readyz", "/livez"])
    func ready(path: String) throws {
        let broker = try Broker()
        let peer = try broker.http()
        #expect(try peer.request("GET", path).status == 200)
        let late = try broker.http()
        try late.send("GET \(path) HTTP/1.1\r\n")
        try broker.signal(15)
        try late.send("Host: localhost\r\n\r\n")
        let response = try #require(try late.read())
        #expect(response.problem == (path == "/readyz" ? "draining" : nil))
        #expect(response.status == (path == "/readyz" ? 503 : 200))
    }

    @Test(
        "what is asked once the broker stops is refused with 503 and Retry-After",
        arguments: ["/v1/ws", "/v1/events", "/v1/channels/a"])
    func refused(path: String) throws {
        let broker = try Broker()
        let late = try broker.http()
        let method = path.hasSuffix("a") ? "POST" : "GET"
        try late.send("\(method) \(path) HTTP/1.1\r\n")
        try broker.signal(15)
        let fields = path.hasSuffix("ws") ? SocketPeer.openingFields : []
        try late.send((["Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
        let response = try #require(try late.read())
        #expect(response.problem == "draining")
        #expect(response.field("retry-after") != nil)
        #expect(late.peer.sawEndOfOutput)
    }

    @Test("at the deadline the broker ends, whoever is still there", arguments: [1, 2])
    func deadline(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peers = try broker.nodes.indices.map { try broker.http(loop: $0) }
        for peer in peers { try peer.send("GET /livez HTTP/1.1\r\nX: ") }
        try broker.signal(15)
        for _ in 0..<29 {
            try broker.advance(by: .seconds(1))
            for peer in peers where !peer.peer.isClosed { try peer.send("x") }
        }
        try broker.advance(by: .milliseconds(1_100))
        #expect(broker.nodes.allSatisfy { $0.hasStopped })
    }

    @Test("with no time to drain, clients still get their 1012")
    func noTime() throws {
        let broker = try Broker { $0.drainPeriod = .zero }
        let socket = try broker.webSocket()
        try broker.signal(15)
        try broker.advance(by: .milliseconds(60))
        try socket.read()
        #expect(socket.closeCode == 1012)
        #expect(broker.nodes[0].hasStopped)
    }

    @Test("a second signal ends every loop at once", arguments: [1, 2])
    func second(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peers = try broker.nodes.indices.map { try broker.http(loop: $0) }
        for peer in peers { try peer.send("GET ") }
        try broker.signal(15)
        #expect(broker.nodes.allSatisfy { !$0.hasStopped })
        try broker.signal(2)
        #expect(broker.nodes.allSatisfy { $0.hasStopped })
    }

    @Test("SIGHUP keeps every connection")
    func reload() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try broker.signal(1)
        #expect(try socket.observe("a")["name"] == "a")
        #expect(!broker.nodes[0].server.outbox.life.isStopping)
    }
}

@Suite("Before the stop, and how the data is given up (decision 54)")
struct ReleaseTests {
    @Test("with a drain delay all works on and readyz is 503, until it is over", arguments: [1, 2])
    func delay(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.drainDelay = .seconds(3) }
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        try broker.signal(15)
        for loop in 0..<loopCount {
            #expect(try broker.get("/readyz", loop: loop).problem == "draining")
            #expect(try broker.get("/livez", loop: loop).status == 200)
        }
        try broker.advance(by: .milliseconds(2_900))
        #expect(try broker.post(name: "a", loop: loopCount - 1)["matched"] == 1)
        #expect(try socket.takeKeys() == ["a"])
        try broker.advance(by: .milliseconds(200))
        let methods = try socket.takeMessages().map { $0["method"] }
        #expect(methods == ["belfry.draining"])
    }

    @Test("a second signal ends the delay, and the broker")
    func secondSignal() throws {
        let broker = try Broker { $0.drainDelay = .seconds(3) }
        try broker.signal(15)
        #expect(!broker.nodes[0].hasStopped)
        try broker.signal(15)
        #expect(broker.nodes[0].hasStopped)
    }

    @Test(
        "no client is told to come back before all is committed and the data given up",
        arguments: [1, 2])
    func order(loopCount: Int) throws {
        let (broker, store) = try Broker.durable(loopCount: loopCount)
        let loop = loopCount - 1
        let socket = try broker.webSocket(loop: loop)
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try store.commit(in: broker)
        _ = try socket.takeMessages()
        let stream = try broker.events(loop: loop)
        _ = try stream.takeEvents()
        try socket.send(socket.call("addObserver", #"{"name":"b"}"#))
        try broker.signal(15)
        #expect(store.waitingCount > 0)
        #expect(try socket.takeMessages().isEmpty)
        #expect(try stream.takeEvents().isEmpty)
        try store.commit(in: broker)
        let messages = try socket.takeMessages()
        #expect(messages.map { $0.has("result") } == [true, false])
        #expect(messages.last?["method"] == "belfry.draining")
        #expect(socket.closeCode == 1012)
        _ = try stream.takeEvents()
        #expect(stream.peer.sawEndOfOutput)
    }

    @Test("what is called after that changes nothing, and is answered with a problem")
    func late() throws {
        let (broker, store) = try Broker.durable()
        let sockets = try (0..<12).map { _ in try broker.webSocket() }
        try store.commit(in: broker)
        try broker.signal(15)
        try store.commit(in: broker)
        for socket in sockets { try socket.read() }
        let open = try #require(sockets.first { $0.closeCode == nil })
        _ = try open.takeMessages()
        let answer = try open.answer("addObserver", #"{"name":"a"}"#)
        #expect(answer["error"]["data"]["type"] == "https://belfry.dev/problems/draining")
        for _ in 0..<60 { try broker.advance(by: .seconds(1)) }
        #expect(store.waitingCount == 0)
        #expect(broker.nodes[0].hasStopped)
    }

    @Test("a post that waits for its observers holds up the release, for at most 5 s")
    func waitingPost() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        try socket.send(socket.call("addObserver", #"{"name":"a","acknowledge":true}"#))
        try store.commit(in: broker)
        let poster = try broker.http()
        try poster.send(
            "POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=60\r\n"
                + "Content-Length: 0\r\n\r\n")
        try store.commit(in: broker)
        try broker.signal(15)
        try store.commit(in: broker)
        try broker.advance(by: .milliseconds(4_900))
        #expect(try !socket.takeMessages().contains { $0["method"] == "belfry.draining" })
        try broker.advance(by: .milliseconds(200))
        try store.commit(in: broker)
        #expect(try socket.takeMessages().contains { $0["method"] == "belfry.draining" })
    }

    @Test("a store that cannot be ended holds the broker up for the drain period")
    func stuck() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        try socket.send(socket.call("addObserver", #"{"name":"a"}"#))
        try broker.signal(15)
        try broker.advance(by: .seconds(29))
        #expect(socket.closeCode == nil)
        try broker.advance(by: .seconds(2))
        try socket.read()
        #expect(socket.closeCode == 1012)
        #expect(store.waitingCount > 0)
    }

    @Test("an idle connection that its client keeps open does not hold up the end")
    func idle() throws {
        let broker = try Broker()
        let peer = try broker.http()
        _ = try peer.request("GET", "/livez")
        try broker.signal(15)
        try broker.advance(by: .milliseconds(60))
        #expect(broker.nodes[0].hasStopped)
    }

    @Test("readyz is 503 while the store fails, unless told otherwise; verbose names the parts")
    func parts() throws {
        for isReadyWithout in [false, true] {
            let store = HandStore()
            let broker = try Broker(beginning: store.beginning()) {
                $0.isReadyWithoutStore = isReadyWithout
            }
            let fine = try broker.get("/readyz?verbose").json
            #expect(fine["ready"] == true)
            #expect(fine["parts"]["store"] == "ok")
            #expect(fine["parts"]["drain"] == "none")
            #expect(fine["parts"]["limits"] == "ok")
            store.takesPromises = false
            #expect(try broker.get("/readyz").status == 200)
            #expect(try broker.get("/readyz?verbose").json["parts"]["store"] == "refusing")
            store.isFailing = true
            let failing = try broker.get("/readyz?verbose")
            #expect(failing.status == (isReadyWithout ? 200 : 503))
            #expect(failing.problem == (isReadyWithout ? nil : "store-unavailable"))
            #expect(failing.json["parts"]["store"] == "failing")
        }
        let full = try Broker { $0.observerLimit = 1 }
        _ = try full.webSocket().observe("a")
        #expect(try full.get("/readyz?verbose").json["parts"]["limits"] == "observers")
    }
}
