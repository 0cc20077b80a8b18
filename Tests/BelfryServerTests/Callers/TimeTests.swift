import BelfryHTTP
import BelfryLoop
import BelfryWire
import Testing

@testable import BelfryServer

/// Deadlines are swept every 250 ms, so that each may come so much late, and never early.
@Suite("Timeouts (Protocol.md section 11)")
struct TimeoutTests {
    @Test("a connection that says nothing is closed after the head's time", arguments: [1, 2])
    func silent(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        try broker.advance(by: .milliseconds(9_900))
        #expect(!peer.peer.sawEndOfOutput)
        try broker.advance(by: .milliseconds(400))
        #expect(peer.peer.sawEndOfOutput)
        #expect(peer.peer.received.isEmpty)
    }

    @Test("a head that does not end is 408 after 10 s from its first byte, however it trickles")
    func head() throws {
        let broker = try Broker()
        let peer = try broker.http()
        _ = try peer.request("GET", "/livez")
        try broker.advance(by: .seconds(30))
        try peer.send("GET /livez HTTP/1.1\r\nX: ")
        for _ in 0..<9 {
            try broker.advance(by: .seconds(1))
            try peer.send("x")
        }
        #expect(try peer.read() == nil)
        try broker.advance(by: .milliseconds(1_300))
        let response = try #require(try peer.read())
        #expect(response.problem == "timeout")
        #expect(response.status == 408)
        #expect(peer.peer.sawEndOfOutput)
    }

    @Test(
        "a body that does not end is 408 after 30 s from the end of the head",
        arguments: [["HEAD", "BODY"], ["HEADBODY"], ["first", "HEAD"]], [1, 2])
    func body(pieces: [String], loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        let head = "POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
        for piece in pieces {
            switch piece {
            case "HEAD": try peer.send(head)
            case "BODY": try peer.send("{")
            case "HEADBODY": try peer.send(head + "{")
            default: _ = try peer.request("POST", "/v1/channels/a", "{}")
            }
        }
        try broker.advance(by: .milliseconds(29_900))
        #expect(try peer.read() == nil)
        #expect(!peer.peer.sawEndOfOutput)
        try broker.advance(by: .milliseconds(400))
        #expect(try peer.read()?.status == 408)
    }

    @Test("a connection that is kept is closed after 75 s without a request", arguments: [1, 2])
    func idle(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        for (method, body) in [("GET", nil), ("POST", "{}")] as [(String, String?)] {
            let target = method == "GET" ? "/v1/observers" : "/v1/channels/a"
            let peer = try broker.http(loop: loopCount - 1)
            for _ in 0..<3 {
                #expect(try peer.request(method, target, body).status == 200)
                try broker.advance(by: .milliseconds(74_900))
                #expect(!peer.peer.sawEndOfOutput)
                #expect(try peer.read() == nil)
            }
            _ = try peer.request(method, target, body)
            try broker.advance(by: .milliseconds(75_300))
            #expect(peer.peer.sawEndOfOutput)
            #expect(peer.peer.received.isEmpty)
        }
    }

    @Test("the second of two pipelined heads has its own time")
    func pipelinedHead() throws {
        let broker = try Broker()
        let peer = try broker.http()
        let request = HTTPPeer.text("GET", "/livez")
        let half = String(request.prefix(20))
        try peer.send(half)
        for _ in 0..<5 {
            try broker.advance(by: .seconds(4))
            try peer.send(String(request.dropFirst(20)) + half)
            #expect(try peer.read()?.status == 200)
        }
    }

    @Test("the times are those of the configuration")
    func configured() throws {
        let broker = try Broker {
            $0.headTimeout = .seconds(1)
            $0.bodyTimeout = .seconds(2)
            $0.idleTimeout = .seconds(3)
            $0.pingInterval = .seconds(4)
            $0.pongTimeout = .seconds(5)
            $0.commentInterval = .seconds(6)
        }
        let (silent, idle) = (try broker.http(), try broker.http())
        let (socket, stream) = (try broker.webSocket(), try broker.events())
        _ = try idle.request("GET", "/livez")
        var closings: [Int] = []
        for _ in 1...9 {
            try broker.advance(by: .milliseconds(1_050))
            let ends = [silent.peer, idle.peer, socket.peer].filter(\.sawEndOfOutput).count
            closings.append(ends + (socket.peer.isClosed && !socket.peer.sawEndOfOutput ? 1 : 0))
        }
        #expect(closings == [1, 1, 2, 2, 2, 2, 2, 2, 3])
        _ = try stream.takeEvents()
        #expect(stream.comments.count == 2)
    }
}

@Suite("Limits of connections (Protocol.md section 11)")
struct ConnectionLimitTests {
    @Test("a connection over the limit is told 503 with Retry-After, and closed")
    func limit() throws {
        let broker = try Broker(connectionLimit: 2)
        let (first, second) = (try broker.http(), try broker.http())
        let third = try broker.http()
        let response = try #require(try third.read())
        #expect(response.problem == "overloaded")
        #expect(response.field("retry-after") != nil)
        #expect(third.peer.sawEndOfOutput)
        #expect(try first.request("GET", "/livez").status == 200)
        second.peer.close()
        third.peer.close()
        try broker.crank()
        #expect(try broker.get("/livez").status == 200)
    }
}
