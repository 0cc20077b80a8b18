import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

extension Broker {
    /// Opens a WebSocket that offers compression.
    func deflatingSocket(
        _ path: String = "/v1/ws", offer: String = "permessage-deflate; client_max_window_bits",
        loop: Int = 0
    ) throws -> SocketPeer {
        try SocketPeer(http: http(loop: loop), path: path, deflate: offer)
    }

    /// Posts a whole notification.
    @discardableResult
    func post(whole notification: String) throws -> Response { try post(notification) }

    /// How often a notification was compressed, on all loops.
    var compressionCount: UInt64 { nodes.reduce(0) { $0 + $1.server.outbox.counters.compressions } }
}

/// A userInfo that repeats itself.
private func userInfo(_ byteCount: Int) -> String {
    #"{"text":"\#(String(repeating: "again and ", count: byteCount / 10))"}"#
}

/// A payload as a client compresses it.
private func deflate(_ text: String) throws -> [UInt8] {
    var compressed: [UInt8] = []
    let payload = Array(text.utf8)
    let isAppended = Deflater().append(payload.span, to: &compressed)
    try #require(isAppended)
    return compressed
}

/// A compressed message of many zeros or spaces: 1 KiB for each mebibyte.
private func bomb(_ byte: UInt8, _ byteCount: Int) throws -> [UInt8] {
    let content = [UInt8](repeating: byte, count: byteCount)
    let encoded = GzipEncoder().encode(content.span)
    return Array(try #require(encoded).dropFirst(10).dropLast(8)) + [0]
}

@Suite("permessage-deflate in the broker (RFC 7692)")
struct DeflateBrokerTests {
    @Test("an offer is answered on both paths, and not where compression is off")
    func opening() throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"
        for path in ["/v1/ws", "/debug/ws"] {
            #expect(try broker.deflatingSocket(path).extensions == both)
            let narrow = "permessage-deflate; server_max_window_bits=10"
            #expect(
                try broker.deflatingSocket(path, offer: narrow).extensions
                    == both + "; server_max_window_bits=9")
            let declined = "permessage-deflate; server_max_window_bits=8"
            #expect(try broker.deflatingSocket(path, offer: declined).extensions == nil)
            #expect(try broker.webSocket(path).extensions == nil)
        }
        let off = try Broker { $0.compressesMessages = false }
        #expect(try off.deflatingSocket().extensions == nil)
    }

    @Test(
        "all observers of a notification get the same, compressed or not, and it is compressed once",
        arguments: [1, 2])
    func broadcast(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let offers = [
            "permessage-deflate", "permessage-deflate; server_max_window_bits=15",
            "permessage-deflate; server_max_window_bits=9",
        ]
        var sockets: [SocketPeer] = []
        for loop in 0..<loopCount {
            sockets.append(try broker.webSocket(loop: loop))
            for offer in offers {
                sockets.append(try broker.deflatingSocket(offer: offer, loop: loop))
            }
        }
        for socket in sockets {
            try socket.observe("a")
            _ = try socket.takeCompressedFlags()
        }
        try broker.post(whole: #"{"name":"a","userInfo":\#(userInfo(1_000))}"#)
        // Two windows are in use, one for those without a limit and one for the other.
        #expect(broker.compressionCount == 2)
        var seen: [Value] = []
        for socket in sockets {
            #expect(try socket.takeCompressedFlags() == [socket.extensions != nil])
            seen += try socket.takeNotifications()
        }
        #expect(seen.count == sockets.count)
        #expect(seen.allSatisfy { $0 == seen[0] })
        #expect(seen[0]["userInfo"]["text"].text?.count == 1_000)
    }

    @Test("a notification to 1,000 compressed observers is compressed once")
    func thousand() throws {
        let broker = try Broker(connectionLimit: 1_100)
        let sockets = try (0..<1_000).map { _ in try broker.deflatingSocket() }
        for socket in sockets { try socket.observe("a") }
        try broker.post(whole: #"{"name":"a","userInfo":\#(userInfo(1_024))}"#)
        #expect(broker.compressionCount == 1)
        #expect(broker.nodes[0].server.outbox.counters.deliveries == 1_000)
        #expect(try sockets[999].takeNotifications().count == 1)
    }

    @Test("two selectors are two frames, and each is compressed once")
    func selectors() throws {
        let broker = try Broker()
        let sockets = try (0..<3).map { _ in try broker.deflatingSocket() }
        for socket in sockets {
            try socket.observe("a", selector: "one")
            try socket.observe("a", selector: "two")
        }
        try broker.post(whole: #"{"name":"a","userInfo":\#(userInfo(500))}"#)
        #expect(broker.compressionCount == 2)
        for socket in sockets {
            #expect(try socket.takeMessages().map { $0["method"] } == ["one", "two"])
        }
    }

    @Test("below the threshold nothing is compressed, at it everything is")
    func threshold() throws {
        // The frame of a delivery without userInfo, and one of 40 bytes more.
        let broker = try Broker { $0.compressionThreshold = 200 }
        let socket = try broker.deflatingSocket()
        try socket.observe("a")
        try broker.post(name: "a")
        let short = try socket.takeNotifications()
        #expect(short.count == 1)
        #expect(broker.compressionCount == 0)
        _ = try socket.takeCompressedFlags()
        // The payload of the next frame is exactly as long as the threshold, then one byte less.
        try broker.post(whole: #"{"name":"a","userInfo":{"x":""}}"#)
        _ = try socket.takeMessages()
        let byteCount = socket.received.count - 4
        for (padding, isCompressed) in [(200 - byteCount, true), (199 - byteCount, false)] {
            _ = try socket.takeCompressedFlags()
            let text = String(repeating: "x", count: padding)
            try broker.post(whole: #"{"name":"a","userInfo":{"x":"\#(text)"}}"#)
            #expect(try socket.takeCompressedFlags() == [isCompressed])
        }
        #expect(broker.compressionCount == 1)
    }

    @Test("what does not become smaller goes plain")
    func incompressible() throws {
        let broker = try Broker { $0.compressionThreshold = 1 }
        let socket = try broker.deflatingSocket()
        try socket.observe("a")
        _ = try socket.takeCompressedFlags()
        var state: UInt64 = 1
        let noise = (0..<4_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Character(Unicode.Scalar(0x4E00 + UInt32(state >> 40) % 20_000) ?? "x")
        }
        try broker.post(whole: #"{"name":"a","userInfo":{"x":"\#(String(noise))"}}"#)
        #expect(broker.compressionCount == 1)
        #expect(try socket.takeNotifications().count == 1)
    }

    @Test("answers, and frames for one observer alone, are never compressed")
    func plainFrames() throws {
        let broker = try Broker { $0.compressionThreshold = 1 }
        let socket = try broker.deflatingSocket()
        _ = try socket.takeCompressedFlags()
        try socket.result("addObserver", #"{"name":"a","acknowledge":true}"#)
        try socket.result("observers")
        _ = try broker.request(
            "POST", "/v1/notifications", #"{"name":"a","userInfo":\#(userInfo(1_000))}"#,
            fields: ["Content-Type: application/json", "Prefer: respond-async"])
        #expect(try socket.takeCompressedFlags().allSatisfy { !$0 })
        #expect(broker.compressionCount == 0)
    }

    @Test(
        "a client that goes on gets its frames as the new connection has agreed", arguments: [1, 2])
    func resuming(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let old = try broker.deflatingSocket(loop: loopCount - 1)
        try old.observe("a")
        let plain = try broker.webSocket(loop: loopCount - 1)
        try plain.result("resume", #"{"session":"\#(old.session)"}"#)
        _ = try plain.takeCompressedFlags()
        try broker.post(whole: #"{"name":"a","userInfo":\#(userInfo(1_000))}"#)
        #expect(try plain.takeCompressedFlags() == [false])
        let next = try broker.deflatingSocket()
        try next.result("resume", #"{"session":"\#(old.session)"}"#)
        _ = try next.takeCompressedFlags()
        try broker.post(whole: #"{"name":"a","userInfo":\#(userInfo(1_000))}"#)
        #expect(try next.takeCompressedFlags() == [true])
        // The end of a connection that was taken over ends nothing else.
        #expect(try broker.post(name: "a")["delivered"] == 1)
    }

    @Test("a client whose connection ends is disconnected, compressed or not", arguments: [1, 2])
    func leaving(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.deflatingSocket(loop: loopCount - 1)
        try socket.result("addObserver", #"{"name":"a","lifetime":"connection"}"#)
        try socket.send(.close, [3, 232])
        try socket.read()
        #expect(socket.closeCode == 1000)
        #expect(try broker.get("/v1/clients").json["clients"] == [])
    }

    // MARK: What arrives

    @Test("compressed calls are answered, whole, in fragments and byte by byte", arguments: [1, 2])
    func calls(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.deflatingSocket(loop: loopCount - 1)
        let other = try broker.deflatingSocket(loop: loopCount - 1)
        func call() -> String {
            socket.call("post", #"{"name":"a","userInfo":\#(userInfo(300))}"#)
        }
        socket.put(compressed: try deflate(call()))
        try broker.crank()
        #expect(try socket.takeAnswer(1)?["result"]["seq"] == 1)
        let second = try deflate(call())
        socket.put(compressed: Array(second[..<20]), isFinal: false)
        try broker.crank()
        // Meanwhile the inflater serves another connection.
        let foreign = other.call("post", #"{"name":"b","userInfo":\#(userInfo(200))}"#)
        other.put(compressed: try deflate(foreign))
        try broker.crank()
        #expect(try other.takeAnswer(1)?["result"]["seq"] == 2)
        try socket.send(.continuation, Array(second[20...]))
        #expect(try socket.takeAnswer(2)?["result"]["seq"] == 3)
        let third = try deflate(call())
        for byte in [0xC1, 0x80 | UInt8(third.count), 0, 0, 0, 0] + third {
            socket.peer.send([byte])
            try broker.crank()
        }
        #expect(try socket.takeAnswer(3)?["result"]["seq"] == 4)
        // And a plain one: each message is for itself.
        try socket.send(call())
        #expect(try socket.takeAnswer(4)?["result"]["seq"] == 5)
    }

    @Test("RSV1 without an agreement closes with 1002, bad deflate with 1007")
    func faults() throws {
        let broker = try Broker()
        let plain = try broker.webSocket()
        plain.put(compressed: try deflate(plain.call("post", #"{"name":"aaaaaaaaaaaaaaaaaaa"}"#)))
        try broker.crank()
        try plain.read()
        #expect(plain.closeCode == 1002)
        let socket = try broker.deflatingSocket()
        socket.put(compressed: [0xFF, 0xFF])
        try broker.crank()
        try socket.read()
        #expect(socket.closeCode == 1007)
        let next = try broker.deflatingSocket()
        #expect(try next.observe("a")["name"] == "a")
    }

    @Test("a bomb closes with 1009, also one that never ends, and the limit itself is taken")
    func bombs() throws {
        let broker = try Broker()
        for isFinal in [true, false] {
            let socket = try broker.deflatingSocket()
            socket.put(compressed: try bomb(0x20, 16 << 20), isFinal: isFinal)
            try broker.crank()
            try socket.read()
            #expect(socket.closeCode == 1009)
        }
        let socket = try broker.deflatingSocket()
        socket.put(compressed: try bomb(0x20, 1 << 20))
        try broker.crank()
        #expect(try socket.takeMessages().map { $0["error"]["code"] } == [-32700])
        socket.put(compressed: try bomb(0x20, 1 << 20 + 1))
        try broker.crank()
        try socket.read()
        #expect(socket.closeCode == 1009)
    }

    @Test("a row of large messages is inflated over several turns, and others are answered between")
    func budget() throws {
        let broker = try Broker()
        let socket = try broker.deflatingSocket()
        let message = try bomb(0x20, 1 << 20)
        for _ in 0..<20 { socket.put(compressed: message) }
        let other = try broker.webSocket()
        try socket.read()
        other.put(.ping, Array("hey".utf8))
        for _ in 0..<20 { socket.put(compressed: message) }
        var turns = 0
        var turnOfPong = 0
        while try broker.nodes[0].turn() {
            turns += 1
            try other.read()
            if turnOfPong == 0, other.pongs == ["hey"] { turnOfPong = turns }
        }
        #expect(turnOfPong == 1)
        // The limit of a turn is passed by the fifth mebibyte.
        #expect(turns >= 4)
        try broker.advance(by: .milliseconds(10))
        let answers = try socket.takeMessages()
        #expect(answers.count == 40)
        #expect(answers.allSatisfy { $0["error"]["code"] == -32700 })
    }

    @Test("many connections with large messages take their turns, and all are answered")
    func sharedBudget() throws {
        let broker = try Broker()
        let message = try bomb(0x20, 1 << 20)
        let sockets = try (0..<60).map { _ in try broker.deflatingSocket() }
        for socket in sockets {
            socket.put(compressed: message)
            socket.put(compressed: message)
        }
        var turns = 0
        while try broker.nodes[0].turn() { turns += 1 }
        try broker.advance(by: .milliseconds(10))
        #expect(turns >= 24)
        for socket in sockets {
            #expect(try socket.takeMessages().count == 2)
        }
    }

    @Test("the echo compresses what it sends back")
    func echo() throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let socket = try broker.deflatingSocket("/debug/ws")
        let text = String(repeating: "echo ", count: 1_000)
        socket.put(compressed: try deflate(text))
        socket.put(.binary, Array(text.utf8))
        try socket.send("short")
        let flags = try socket.takeCompressedFlags()
        #expect(flags == [true, true, false])
        #expect(
            try socket.takeEchoes() == [Array(text.utf8), Array(text.utf8), Array("short".utf8)])
    }
}
