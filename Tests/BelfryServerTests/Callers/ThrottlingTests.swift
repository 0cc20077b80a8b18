import BelfryHTTP
import BelfryWebSocket
import Testing

@testable import BelfryLoop
@testable import BelfryServer

@Suite("What one connection may cost")
struct ThrottlingTests {
    @Test(
        "a file is whole, whether it is read at once or byte by byte",
        arguments: [1 << 20, 1_000, 7])
    func pieces(capacity: Int) throws {
        let broker = try Broker()
        let whole = try broker.get("/openapi.yaml")
        #expect(whole.body.count > 3 * 16_384)
        let peer = try broker.http()
        peer.peer.writeCapacity = capacity
        try peer.send(HTTPPeer.text("GET", "/openapi.yaml"))
        try peer.send(HTTPPeer.text("GET", "/livez"))
        var slow: Response?
        var steps = 0
        while slow == nil, steps < 40_000 {
            slow = try peer.read()
            peer.peer.writeCapacity = capacity == 7 ? 4_099 : capacity
            try broker.advance(by: .milliseconds(5))
            steps += 1
        }
        #expect(slow?.body == whole.body)
        #expect(slow?.head.contentLength == whole.body.count)
        peer.peer.writeCapacity = 1 << 20
        try broker.advance(by: .milliseconds(5))
        #expect(try peer.read()?.text == "ok\n")
    }

    @Test("a file is whole when it is the last answer of its connection")
    func lastAnswer() throws {
        let broker = try Broker()
        let whole = try broker.get("/openapi.yaml").body
        let closing = try broker.http()
        try closing.send(HTTPPeer.text("GET", "/openapi.yaml", fields: ["Connection: close"]))
        #expect(try closing.read()?.body == whole)
        #expect(closing.peer.sawEndOfOutput)
        let half = try broker.http()
        half.peer.writeCapacity = 1_000
        try half.send(HTTPPeer.text("GET", "/openapi.yaml"))
        half.peer.halfClose()
        try broker.crank()
        half.peer.writeCapacity = 1 << 20
        for _ in 0..<20 { try broker.advance(by: .milliseconds(5)) }
        #expect(try half.read()?.body == whole)
        #expect(half.peer.sawEndOfOutput)
        #expect(
            try broker.request("HEAD", "/openapi.yaml").field("content-length") == "\(whole.count)")
    }

    @Test("requests that wait are answered after their client has shut down its half")
    func halfClosed() throws {
        let broker = try Broker()
        let peer = try broker.http()
        peer.peer.writeCapacity = 1_000
        let request = HTTPPeer.text("GET", "/openapi.yaml")
        peer.peer.send((request + request + HTTPPeer.text("GET", "/livez")).utf8)
        peer.peer.halfClose()
        try broker.crank()
        #expect(!peer.peer.sawEndOfOutput)
        peer.peer.writeCapacity = 1 << 30
        for _ in 0..<40 { try broker.advance(by: .milliseconds(5)) }
        let first = try #require(try peer.read())
        #expect(try peer.read()?.body == first.body)
        #expect(try peer.read()?.text == "ok\n")
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test("who does not read costs a piece of the file, and gets no second answer")
    func memory() throws {
        let broker = try Broker()
        let peer = try broker.http()
        peer.peer.writeCapacity = 0
        let request = HTTPPeer.text("GET", "/openapi.yaml")
        try peer.send([String](repeating: request, count: 500).joined())
        let connection = try #require(broker.nodes[0].server.callers.connections[0])
        #expect(broker.nodes[0].server.outbox.loop.unsentByteCount(of: connection.id) < 32 << 10)
        // Its other requests are not even read but for the first buffer.
        #expect(peer.peer.total.readByteCount <= 4 << 10)
        try broker.advance(by: .seconds(31))
        #expect(peer.peer.isClosed)
    }

    @Test("unfinished input has a limit for all: at it all stay, past it the largest goes")
    func unfinished() throws {
        let broker = try Broker { $0.unfinishedByteLimit = 100_000 }
        func begin(_ byteCount: Int) throws -> HTTPPeer {
            let peer = try broker.http()
            let head =
                "POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n"
            try peer.send(head + "{" + String(repeating: " ", count: byteCount - 1))
            return peer
        }
        let small = try begin(10_000)
        let large = try begin(60_000)
        let middle = try begin(29_000)
        #expect(try [small, large, middle].allSatisfy { try $0.read() == nil })
        let total = broker.nodes[0].server.callers.connections.unfinishedTotal.count
        #expect(total > 99_000 && total < 100_000)
        try small.send(String(repeating: " ", count: 100_001 - total))
        let refused = try #require(try large.read())
        #expect(refused.status == 503)
        #expect(refused.problem == "overloaded")
        #expect(large.peer.sawEndOfOutput)
        #expect(try small.read() == nil)
        #expect(try middle.read() == nil)
        small.peer.reset()
        middle.peer.reset()
        try broker.advance(by: .seconds(3))
        #expect(broker.nodes[0].server.callers.connections.unfinishedTotal.count == 0)
    }

    @Test("past the limit of unfinished input an eighth of it goes at once")
    func unfinishedOfMany() throws {
        let broker = try Broker { $0.unfinishedByteLimit = 100_000 }
        let head = "POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n"
        var peers: [HTTPPeer] = []
        while broker.nodes[0].server.outbox.counters.inputsRefused == 0 {
            try #require(peers.count < 100)
            let peer = try broker.http()
            try peer.send(head + "{" + String(repeating: " ", count: 3_999))
            peers.append(peer)
        }
        let total = broker.nodes[0].server.callers.connections.unfinishedTotal.count
        #expect(total <= 87_500 && total > 80_000)
        let refusedCount = try peers.count { try $0.read()?.status == 503 }
        #expect(refusedCount > 1)
        #expect(broker.nodes[0].server.outbox.counters.inputsRefused == UInt64(refusedCount))
    }

    @Test("a message that is never finished counts as well, and is closed with 1013")
    func unfinishedMessage() throws {
        let broker = try Broker { $0.unfinishedByteLimit = 100_000 }
        let socket = try broker.webSocket()
        socket.put(.text, [UInt8](repeating: 97, count: 9_000), isFinal: false)
        for _ in 0..<10 {
            socket.put(.continuation, [UInt8](repeating: 97, count: 9_000), isFinal: false)
        }
        try broker.crank()
        #expect(socket.closeCode == nil)
        socket.put(.continuation, [UInt8](repeating: 97, count: 2_000), isFinal: false)
        try broker.crank()
        _ = try socket.takeMessages()
        #expect(socket.closeCode == 1013)
    }
}
