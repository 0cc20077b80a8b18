import BelfryHTTP
import BelfryLoop
import BelfrySystem
import Testing

@testable import BelfryServer

@Suite("Isolation (rule C14): what one client can cost the others")
struct IsolationTests {
    @Test(
        "killed, garbage, stopped and half a request: each costs one read and one write a turn",
        .withinOneTurn,
        arguments: [1, 2])
    func badClients(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let loop = loopCount - 1
        let good = try broker.webSocket(loop: loop)
        let killed = try broker.webSocket(loop: loop)
        let garbage = try broker.http(loop: loop)
        let stopped = try broker.webSocket(loop: loop)
        let half = try broker.http(loop: loop)
        for socket in [good, killed, stopped] { try socket.observe("a") }
        stopped.peer.writeCapacity = 100
        let poster = try broker.http()

        killed.peer.reset()
        garbage.peer.send((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) })
        half.peer.send("POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9".utf8)
        poster.peer.send(HTTPPeer.text("POST", "/v1/channels/a", #"{"k":1}"#).utf8)
        // The turn in which all of it arrives; with two loops, the turn in which the frames cross.
        for node in broker.nodes { try node.turn() }
        if loopCount == 2 { try broker.nodes[1].turn() }
        #expect(try good.takeNames() == ["a"])
        try broker.crank()

        for peer in [killed.peer, garbage.peer, stopped.peer, half.peer, good.peer] {
            #expect(peer.busiestTurn.readCount <= 1)
            #expect(peer.busiestTurn.writeCount <= 1)
            #expect(peer.busiestTurn.readByteCount <= ReadingPass.inputByteCount)
            #expect(peer.busiestTurn.writtenByteCount <= 4_096)
        }
        #expect(garbage.peer.sawEndOfOutput)
        #expect(garbage.peer.received.starts(with: "HTTP/1.1 400".utf8))
    }

    @Test(
        "16 publishers and 200 observers: each socket gets at most one write a turn",
        .withinOneTurn,
        arguments: [1, 2])
    func fanOut(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let sockets = try (0..<200).map { try broker.webSocket(loop: $0 % loopCount) }
        for socket in sockets { try socket.observe("a") }
        let posters = try (0..<16).map { try broker.http(loop: $0 % loopCount) }
        let before = sockets.map { $0.peer.total.writeCount }
        for poster in posters {
            poster.peer.send(HTTPPeer.text("POST", "/v1/channels/a", #"{"k":1}"#).utf8)
        }
        try broker.crank()
        for (socket, count) in zip(sockets, before) {
            #expect(socket.peer.busiestTurn.writeCount == 1)
            #expect(socket.peer.total.writeCount - count <= loopCount)
            #expect(try socket.takeNotifications().compactMap { $0["seq"].int } == Array(1...16))
        }
        for poster in posters {
            #expect(poster.peer.busiestTurn.writeCount == 1)
            #expect(try poster.read()?.json["matched"] == 200)
        }
    }

    @Test("observers' frames leave before the poster's receipt", .withinOneTurn)
    func framesFirst() throws {
        let broker = try Broker()
        let poster = try broker.webSocket()
        let http = try broker.http()
        let sockets = try (0..<20).map { _ in try broker.webSocket() }
        for socket in sockets { try socket.observe("a") }
        poster.put(poster.call("post", #"{"name":"a"}"#))
        http.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "").utf8)
        try broker.crank()
        let last = sockets.map { $0.peer.lastWriteSerial }.max() ?? 0
        #expect(last < poster.peer.lastWriteSerial)
        #expect(last < http.peer.lastWriteSerial)
    }

    @Test("what a pipelining client can make the broker write in one turn has a bound")
    func pipelinedAssets() throws {
        let broker = try Broker()
        let greedy = try broker.http()
        greedy.peer.writeCapacity = 0
        let request = HTTPPeer.text("GET", "/openapi.yaml")
        greedy.peer.send(String(repeating: request, count: 400).utf8)
        try broker.crank()
        #expect(broker.nodes[0].server.outbox.loop.unsentByteTotal <= 4 << 20)
        #expect(try broker.get("/livez").status == 200)
    }

    @Test("a client that pipelines more than it reads gets all its answers in the end")
    func pipelinedSlowly() throws {
        let broker = try Broker()
        let peer = try broker.http()
        peer.peer.writeCapacity = 0
        let request = HTTPPeer.text("GET", "/openapi.yaml")
        peer.peer.send(String(repeating: request, count: 30).utf8)
        var count = 0
        for _ in 0..<100 where count < 30 {
            peer.peer.writeCapacity = 200_000
            try broker.advance(by: .milliseconds(5))
            while let response = try peer.read() {
                #expect(response.status == 200)
                count += 1
            }
        }
        #expect(count == 30)
        #expect(!peer.peer.sawEndOfOutput)
    }

    @Test(
        "T44: many sockets register, post and remove at once, and all counts agree",
        arguments: [1, 2])
    func manySockets(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let sockets = try (0..<10).map { try broker.webSocket(loop: $0 % loopCount) }
        let watcher = try broker.webSocket(loop: loopCount - 1)
        try watcher.observe(nil)
        for socket in sockets {
            for number in 0..<10 {
                socket.put(socket.call("addObserver", #"{"name":"n\#(number)","object":"o"}"#))
                socket.put(socket.call("post", #"{"name":"n\#(number)","object":"o"}"#))
            }
        }
        try broker.crank()
        var deliveredByReceipts = 0
        var frameCount = 0
        var tokens: [[String]] = []
        for socket in sockets {
            let messages = try socket.takeMessages()
            deliveredByReceipts += messages.compactMap { $0["result"]["delivered"].int }
                .reduce(0, +)
            frameCount += messages.filter { $0.has("params") }.count
            tokens.append(messages.compactMap { $0["result"]["token"].text })
        }
        #expect(deliveredByReceipts == frameCount + 100)
        let rows = try broker.get("/v1/observers?limit=1000").json["observers"].elements
        #expect(rows.count == 101)
        #expect(rows.compactMap { $0["delivered"].int }.reduce(0, +) == deliveredByReceipts)
        #expect(try watcher.takeNotifications().compactMap { $0["seq"].int } == Array(1...100))

        for (socket, tokens) in zip(sockets, tokens) {
            #expect(tokens.count == 10)
            for (number, token) in tokens.enumerated() {
                socket.put(socket.call("removeObserver", #"{"token":"\#(token)"}"#))
                socket.put(socket.call("post", #"{"name":"n\#(number)","object":"o"}"#))
            }
        }
        try broker.crank()
        for socket in sockets {
            var removedCount = 0
            for message in try socket.takeMessages() {
                if message["result"] == ["removed": 1] { removedCount += 1 }
                guard let name = message["params"]["name"].text else { continue }
                // Names are removed in their order, so a frame of a removed one is too late.
                #expect(Int(name.dropFirst()) ?? -1 >= removedCount)
            }
            #expect(removedCount == 10)
        }
        #expect(try broker.get("/v1/observers").json["observers"].elements.count == 1)
    }
}
