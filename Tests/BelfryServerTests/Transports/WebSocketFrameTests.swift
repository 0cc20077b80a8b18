import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

@Suite("WebSocket: frames and the close (RFC 6455 §5 to §7)")
struct WebSocketFrameTests {
    @Test("a binary message closes with 1003")
    func binary() throws {
        let socket = try Broker().webSocket()
        try socket.send(.binary, [1, 2, 3])
        try socket.read()
        #expect(socket.closeCode == 1003)
        #expect(socket.peer.sawEndOfOutput)
    }

    @Test("text that is not UTF-8 closes with 1007, an unmasked frame with 1002")
    func protocolErrors() throws {
        let broker = try Broker()
        let first = try broker.webSocket()
        try first.send(.text, [0xFF])
        try first.read()
        #expect(first.closeCode == 1007)
        let second = try broker.webSocket()
        second.peer.send([0x81, 0x00])
        try broker.crank()
        try second.read()
        #expect(second.closeCode == 1002)
        #expect(try broker.webSocket().observe("a")["name"] == "a")
    }

    @Test("a message has at most its limit, else it closes with 1009")
    func messageLimit() throws {
        let broker = try Broker { $0.messageByteLimit = 100 }
        let socket = try broker.webSocket()
        let call = socket.call("post", #"{"name":"a"}"#)
        let padding = String(repeating: " ", count: 100 - call.utf8.count)
        try socket.send(call + padding)
        #expect(try socket.takeAnswer(1)?["result"]["seq"] == 1)
        try socket.send(call + padding + " ")
        try socket.read()
        #expect(socket.closeCode == 1009)
    }

    @Test("fragments are one message, with control frames between them")
    func fragments() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        let other = try broker.webSocket()
        let call = Array(socket.call("post", #"{"name":"a"}"#).utf8)
        socket.put(.text, Array(call[..<10]), isFinal: false)
        try socket.send(.ping, Array("hey".utf8))
        #expect(try other.result("post", #"{"name":"b"}"#)["seq"] == 1)
        try socket.send(.continuation, Array(call[10...]))
        #expect(try socket.takeAnswer(1)?["result"]["seq"] == 2)
        #expect(socket.pongs == ["hey"])
    }

    @Test("a call that comes one byte at a time is answered", arguments: [1, 2])
    func byteByByte(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        var bytes: [UInt8] = []
        let call = Array(socket.call("post", #"{"name":"a"}"#).utf8)
        FrameWriter.append(
            .text, payload: call.span, maskingKey: MaskingKey([9, 8, 7, 6]), to: &bytes)
        for byte in bytes {
            #expect(try socket.takeMessages().isEmpty)
            socket.peer.send([byte])
            try broker.crank()
        }
        #expect(try socket.takeAnswer(1)?["result"]["seq"] == 1)
    }

    @Test(
        "a close is answered with its code, and the client is gone",
        arguments: [
            (1000 as UInt16?, 1000 as UInt16), (1001, 1001), (nil, 1005), (4242, 4242),
        ])
    func close(code: UInt16?, answer: UInt16) throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.result("addObserver", #"{"name":"a","lifetime":"connection"}"#)
        let payload = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
        try socket.send(.close, payload)
        try socket.read()
        #expect(socket.closeCode == answer)
        #expect(socket.peer.sawEndOfOutput)
        #expect(try broker.get("/v1/clients").json["clients"] == [])
        #expect(try broker.post(name: "a")["matched"] == 0)
    }

    @Test("after a Close frame nothing is sent and nothing is heard", arguments: [1, 2])
    func silenceAfterClose(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.observe("a")
        socket.put(.close, [3, 232])
        socket.put(socket.call("post", #"{"name":"a"}"#))
        let poster = try broker.http()
        poster.peer.send(HTTPPeer.text("POST", "/v1/channels/a", "").utf8)
        try broker.crank()
        #expect(try socket.takeMessages().isEmpty)
        #expect(try broker.webSocket().welcome["seq"] == 1)
    }

    @Test("a silent client is asked after 25 s, and closed 30 s later", arguments: [1, 2])
    func pings(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try socket.result("addObserver", #"{"name":"a","lifetime":"connection"}"#)
        try broker.advance(by: .milliseconds(24_900))
        try socket.read()
        #expect(socket.pingCount == 0)
        try broker.advance(by: .milliseconds(400))
        try socket.read()
        #expect(socket.pingCount == 1)
        try socket.send(.pong, [])
        try broker.advance(by: .milliseconds(24_900))
        try broker.advance(by: .milliseconds(400))
        try socket.read()
        #expect(socket.pingCount == 2)
        try broker.advance(by: .milliseconds(29_500))
        #expect(!socket.peer.isClosed)
        try broker.advance(by: .milliseconds(900))
        #expect(socket.peer.isClosed)
        #expect(try broker.post(name: "a")["matched"] == 0)
    }

    @Test("the echo answers what it gets: text, binary, fragments, 16 MiB")
    func echo() throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let socket = try broker.webSocket("/debug/ws")
        try socket.send("hello")
        try socket.send(.binary, [1, 2, 3])
        socket.put(.text, Array("a".utf8), isFinal: false)
        socket.put(.continuation, Array("b".utf8), isFinal: false)
        try socket.send(.continuation, Array("c".utf8))
        #expect(try socket.takeEchoes() == [Array("hello".utf8), [1, 2, 3], Array("abc".utf8)])
    }

    @Test("a large echo leaves piece by piece when its reader takes it piece by piece")
    func largeEcho() throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let socket = try broker.webSocket("/debug/ws")
        let payload = [UInt8](repeating: 7, count: 1_200_000)
        socket.peer.writeCapacity = 100_000
        try socket.send(.binary, payload)
        for _ in 0..<4 {
            socket.peer.writeCapacity = 1 << 20
            try broker.crank()
        }
        #expect(try socket.takeEchoes() == [payload])
        #expect(socket.closeCode == nil)
    }
}
