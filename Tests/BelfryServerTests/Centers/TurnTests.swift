import BelfryCenter
import BelfryLoop
import Synchronization
import Testing

@testable import BelfryServer

@Suite("What centers do by themselves: turns, idle moments, time (Architecture.md section 3)")
struct TurnTests {
    @Test(
        "Q10: an asap post leaves with the turn, for the observer before the poster", .withinOneTurn
    )
    func asap() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe("a")
        let peer = try broker.http()
        peer.peer.send(HTTPPeer.text("POST", "/v1/channels/a?style=asap", "").utf8)
        try broker.nodes[0].turn()
        #expect(try peer.read()?.status == 202)
        #expect(try socket.takeNames() == ["a"])
        #expect(socket.peer.lastWriteSerial < peer.peer.lastWriteSerial)
    }

    @Test(
        "Q10: the answers of a now and an asap post in one write go after the deliveries of both",
        .withinOneTurn)
    func asapAfterNow() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe("a")
        let peer = try broker.http()
        let posts = ["a?style=now", "a?style=asap"].map {
            HTTPPeer.text("POST", "/v1/channels/\($0)", "")
        }
        peer.peer.send(posts.joined().utf8)
        try broker.nodes[0].turn()
        #expect(try peer.read()?.status == 200)
        #expect(try peer.read()?.status == 202)
        #expect(try socket.takeNames() == ["a", "a"])
        #expect(socket.peer.lastWriteSerial < peer.peer.lastWriteSerial)
    }

    @Test(
        "T58: idle, asap and now in one write: the idle post is the last", .withinOneTurn,
        arguments: [1, 2])
    func styles(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe(nil)
        let peer = try broker.http()
        let posts = ["A?style=idle", "B?style=asap", "C?style=now"].map {
            HTTPPeer.text("POST", "/v1/channels/\($0)", "")
        }
        try peer.send(posts.joined())
        #expect(try socket.takeNames() == ["C", "B", "A"])
    }

    @Test("Q13: one idle entry an idle moment, and a look at the input between", .withinOneTurn)
    func idle() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe(nil)
        let peer = try broker.http()
        #expect(broker.nodes[0].server.outbox.loop.reportsIdle == false)
        let posts = ["i1?style=idle", "i2?style=idle"].map {
            HTTPPeer.text("POST", "/v1/channels/\($0)", "")
        }
        peer.peer.send(posts.joined().utf8)
        try broker.nodes[0].turn()
        #expect(try socket.takeNames().isEmpty)
        #expect(broker.nodes[0].server.outbox.loop.reportsIdle == true)
        // The idle moment has come; what arrives now is looked at before the next one.
        peer.peer.send(HTTPPeer.text("POST", "/v1/channels/now", "").utf8)
        try broker.crank()
        #expect(try socket.takeNames() == ["i1", "now", "i2"])
        #expect(broker.nodes[0].server.outbox.loop.reportsIdle == false)
    }

    @Test("Q12: an idle post that nobody observes leaves the queue all the same")
    func unobservedIdle() throws {
        let (broker, store) = try Broker.durable()
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("POST", "/v1/channels/a?style=idle", ""))
        try store.commit(in: broker)
        #expect(try peer.read()?.status == 202)
        // That it left is handed to the store, although nothing else happened.
        #expect(store.waitingCount == 0)
        #expect(try store.beginning().centers.first?.queueCount == 0)
    }

    @Test(
        "what is due in a center happens at its time, though nothing else does",
        arguments: [1, 2])
    func due(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let paths = ["/v1", "/v1/centers/other"]
        for (place, path) in paths.enumerated() {
            let target = "\(path)/channels/a?style=asap&modes=held&ttl=\(place + 1)"
            #expect(try broker.request("POST", target, "").status == 202)
        }
        func counts() throws -> [Int] {
            try paths.map { try broker.get("\($0)/queue").json["entries"].elements.count }
        }
        #expect(try counts() == [1, 1])
        try broker.advance(by: .milliseconds(1_001))
        #expect(try counts() == [0, 1])
        try broker.advance(by: .milliseconds(1_001))
        #expect(try counts() == [0, 0])
        #expect(broker.shared.totals.queueByteCount.load(ordering: .relaxed) == 0)
    }
}

@Suite("Posts that wait for their observers (rule C13)")
struct WaitingTests {
    private static func observe(_ socket: SocketPeer) throws {
        try socket.result("addObserver", #"{"name":"a","acknowledge":true}"#)
    }

    private static let target = "/v1/channels/a"

    @Test("the receipt comes with the acknowledgement", arguments: [1, 2], [0, 1])
    func acknowledged(loopCount: Int, place: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: place % loopCount)
        try Self.observe(socket)
        let peer = try broker.http(loop: loopCount - 1)
        try peer.send(HTTPPeer.text("POST", Self.target, "") + HTTPPeer.text("GET", "/livez"))
        #expect(try peer.read() == nil)
        let delivery = try #require(try socket.takeMessages().first)
        let id = try #require(delivery["id"].text)
        try socket.send(#"{"jsonrpc":"2.0","id":"\#(id)","result":null}"#)
        let receipt = try #require(try peer.read()?.json)
        #expect(receipt["acknowledged"] == 1)
        #expect(receipt["pending"] == 0)
        #expect(try peer.read()?.text == "ok\n")
    }

    @Test("T48: without one the receipt comes when the time is over", arguments: [1, 2])
    func late(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.idleTimeout = .milliseconds(100) }
        let socket = try broker.webSocket()
        try Self.observe(socket)
        let peer = try broker.http(loop: loopCount - 1)
        try peer.send(HTTPPeer.text("POST", Self.target, "", fields: ["Prefer: wait=1"]))
        try broker.advance(by: .milliseconds(900))
        #expect(try peer.read() == nil)
        #expect(!peer.peer.sawEndOfOutput)
        try broker.advance(by: .milliseconds(200))
        #expect(try peer.read()?.json["pending"] == 1)
    }

    @Test("who posts and observes on one connection acknowledges its own post", arguments: [1, 2])
    func own(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try Self.observe(socket)
        try socket.send(#"{"jsonrpc":"2.0","id":9,"method":"post","params":{"name":"a"}}"#)
        #expect(try socket.takeAnswer(9) == nil)
        let id = try #require(try socket.takeMessages().first?["id"].text)
        try socket.send(#"{"jsonrpc":"2.0","id":"\#(id)","result":null}"#)
        #expect(try socket.takeAnswer(9)?["result"]["acknowledged"] == 1)
    }

    @Test("a poster that is gone is forgotten, and its post completes", arguments: [1, 2])
    func gone(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket()
        try Self.observe(socket)
        let peer = try broker.http(loop: loopCount - 1)
        try peer.send(HTTPPeer.text("POST", Self.target, ""))
        peer.peer.reset()
        try broker.crank()
        #expect(broker.nodes[0].server.host.completions.waiting.count == 1)
        let next = try broker.http(loop: loopCount - 1)
        try broker.advance(by: .seconds(6))
        #expect(broker.nodes[0].server.host.completions.waiting.isEmpty)
        #expect(next.peer.received.isEmpty)
    }

    @Test("a receipt that promises waits for its commit after the acknowledgement")
    func stored() throws {
        let (broker, store) = try Broker.durable()
        let socket = try broker.webSocket()
        try socket.send(socket.call("addObserver", #"{"name":"a","acknowledge":true}"#))
        try store.commit(in: broker)
        _ = try socket.takeMessages()
        let peer = try broker.http()
        try peer.send(HTTPPeer.text("POST", Self.target, ""))
        let id = try #require(try socket.takeMessages().first?["id"].text)
        try socket.send(#"{"jsonrpc":"2.0","id":"\#(id)","result":null}"#)
        #expect(try peer.read() == nil)
        try store.commit(in: broker)
        #expect(try peer.read()?.json["acknowledged"] == 1)
    }
}

@Suite("Clients that do not read (rule D15, law 5)")
struct SlowClientTests {
    private static let content = #"{"k":""# + String(repeating: "x", count: 100_000) + #""}"#

    /// Posts 100 KB so many times, and gives the last receipt.
    private static func post(_ broker: Broker, _ count: Int) throws -> Value {
        var receipt = Value.null
        for _ in 0..<count {
            receipt = try broker.request("POST", "/v1/channels/a", content).json
        }
        return receipt
    }

    @Test("past 1 MiB it is suspended, and gets what it was held when it reads", arguments: [1, 2])
    func suspended(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let slow = try broker.webSocket(loop: loopCount - 1)
        try slow.result(
            "addObserver", #"{"name":"a","suspensionBehavior":"hold","lifetime":"connection"}"#)
        slow.peer.writeCapacity = 0
        #expect(try Self.post(broker, 9)["delivered"] == 1)
        let receipt = try Self.post(broker, 12)
        #expect(receipt["held"] == 1)
        #expect(try broker.get("/v1/clients").json["clients"][0]["state"] == "slow")
        #expect(broker.shared.totals.heldByteCount.load(ordering: .relaxed) > 500_000)
        slow.peer.writeCapacity = .max
        try broker.crank()
        #expect(try slow.takeNames().count == 21)
        #expect(try broker.get("/v1/clients").json["clients"][0]["state"] == "live")
        #expect(broker.shared.totals.heldByteCount.load(ordering: .relaxed) == 0)
        try broker.advance(by: .seconds(24))
        #expect(slow.closeCode == nil)
    }

    @Test("it is slow until no more than 256 KiB wait for it", arguments: [1, 2])
    func lowWater(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let slow = try broker.webSocket(loop: loopCount - 1)
        try slow.result("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#)
        slow.peer.writeCapacity = 0
        #expect(try Self.post(broker, 20)["held"] == 1)
        // About 1,100 KB wait; 400 KB of them are still too many.
        slow.peer.writeCapacity = 700_000
        try broker.crank()
        #expect(try broker.get("/v1/clients").json["clients"][0]["state"] == "slow")
        #expect(try Self.post(broker, 1)["held"] == 1)
        let heldByteCount = broker.shared.totals.heldByteCount.load(ordering: .relaxed)
        #expect(heldByteCount > 900_000)
        slow.peer.writeCapacity = 200_000
        try broker.crank()
        #expect(broker.shared.totals.heldByteCount.load(ordering: .relaxed) < heldByteCount)
        slow.peer.writeCapacity = .max
        try broker.crank()
        #expect(try slow.takeNames().count == 21)
        #expect(try broker.get("/v1/clients").json["clients"][0]["state"] == "live")
    }

    @Test("a step of a flush waits until the socket has room")
    func steps() throws {
        let broker = try Broker()
        let client = try broker.webSocket()
        try client.result("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#)
        try client.result("setSuspended", #"{"suspended":true}"#)
        _ = try Self.post(broker, 10)
        client.peer.writeCapacity = 1_000
        try client.send(client.call("setSuspended", #"{"suspended":false}"#))
        // The first step is 256 KiB, and no more than three posts go into it.
        #expect(broker.nodes[0].server.outbox.loop.unsentByteTotal < 350_000)
        client.peer.writeCapacity = .max
        try broker.crank()
        #expect(try client.takeNames().count == 10)
    }

    @Test("one that stays slow is closed with 4008, and its client is disconnected, not removed")
    func timeout() throws {
        let broker = try Broker { $0.slowTimeout = .seconds(5) }
        let slow = try broker.webSocket()
        let good = try broker.webSocket()
        try slow.result("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#)
        try good.observe("a")
        slow.peer.writeCapacity = 0
        _ = try Self.post(broker, 12)
        #expect(try good.takeNames().count == 12)
        try broker.advance(by: .milliseconds(4_900))
        // Its requests do not make it any faster.
        try slow.send(slow.call("explain", #"{"name":"a"}"#))
        try broker.advance(by: .milliseconds(400))
        slow.peer.writeCapacity = .max
        try broker.crank()
        try slow.read()
        #expect(slow.closeCode == 4008)
        let clients = try broker.get("/v1/clients").json["clients"].elements
        #expect(clients.map { $0["state"] } == ["disconnected", "live"])
        #expect(try broker.get("/metrics").text.contains("belfry_clients_too_slow_total 1\n"))
    }

    @Test("an event stream that does not read is suspended and closed too", arguments: [1, 2])
    func stream(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let stream = try broker.events("/v1/events?name=a", loop: loopCount - 1)
        stream.peer.writeCapacity = 0
        _ = try Self.post(broker, 13)
        #expect(try Self.post(broker, 1)["delivered"] == 0)
        try broker.advance(by: .milliseconds(60_300))
        stream.peer.writeCapacity = .max
        try broker.crank()
        #expect(stream.peer.sawEndOfOutput)
        #expect(try broker.get("/v1/clients").json["clients"] == [])
    }

    @Test("a slow client that never reads again is let go 10 s after it was closed")
    func never() throws {
        let broker = try Broker()
        let slow = try broker.webSocket()
        try slow.observe("a")
        slow.peer.writeCapacity = 0
        _ = try Self.post(broker, 12)
        try broker.advance(by: .milliseconds(60_300))
        #expect(!slow.peer.isClosed)
        try broker.advance(by: .milliseconds(10_300))
        #expect(slow.peer.isClosed)
    }

    @Test("what all centers hold has a limit: the oldest go", arguments: [1, 2])
    func heldLimit(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount) { $0.heldByteLimit = 450_000 }
        let client = try broker.webSocket(loop: loopCount - 1)
        try client.result("addObserver", #"{"name":"a","suspensionBehavior":"hold"}"#)
        try client.result("setSuspended", #"{"suspended":true}"#)
        _ = try Self.post(broker, 4)
        #expect(broker.shared.totals.heldByteCount.load(ordering: .relaxed) > 400_000)
        _ = try Self.post(broker, 3)
        #expect(broker.shared.totals.heldByteCount.load(ordering: .relaxed) <= 450_000)
        try client.send(client.call("setSuspended", #"{"suspended":false}"#))
        let messages = try client.takeMessages()
        let gap = messages.first { $0["method"] == "belfry.gap" }
        #expect(gap?["params"]["reason"] == "overflow")
        #expect(gap?["params"]["lost"] == 3)
        #expect(messages.filter { $0["method"] == "notify" }.count == 4)
    }
}
