import BelfryHTTP
import BelfryLoop
import BelfryWebSocket
import Testing

@testable import BelfryServer

/// Parsers, readers and inflaters serve all connections of a loop in turn: what one connection has
/// sent by halves must go with it, and leave nothing for the next one.
@Suite("Connections of one loop, interleaved")
struct InterleavingTests {
    @Test("one cut at each byte, with something whole of another between", arguments: Talk.all)
    func cut(talk: Talk) throws {
        let alone = try Self.alone(talk)
        for other in Talk.whole {
            let otherAlone = try Self.alone(other)
            let broker = try Self.broker()
            for cut in 0...talk.bytes.count {
                let (a, b) = (try talk.open(broker), try other.open(broker))
                a.send(talk.bytes[..<cut])
                // Every other time both arrive in one turn.
                if cut % 2 == 0 { try broker.crank() }
                b.send(other.bytes)
                try broker.crank()
                a.send(talk.bytes[cut...])
                try broker.crank()
                #expect(Heard(a) == alone, "\(talk) cut at \(cut), with \(other)")
                #expect(Heard(b) == otherAlone, "\(other), with \(talk) cut at \(cut)")
                try Self.end([a, b], broker)
            }
        }
    }

    @Test("both are cut, and take turns", arguments: Talk.all)
    func bothCut(talk: Talk) throws {
        let alone = try Self.alone(talk)
        for other in Talk.all {
            let otherAlone = try Self.alone(other)
            let broker = try Self.broker()
            for cut in stride(from: 1, to: talk.bytes.count, by: 7) {
                let otherCut = 13 * cut % other.bytes.count
                let (a, b) = (try talk.open(broker), try other.open(broker))
                a.send(talk.bytes[..<cut])
                b.send(other.bytes[..<otherCut])
                try broker.crank()
                a.send(talk.bytes[cut...])
                b.send(other.bytes[otherCut...])
                try broker.crank()
                #expect(Heard(a) == alone, "\(talk) cut at \(cut), with \(other)")
                #expect(Heard(b) == otherAlone, "\(other) cut at \(otherCut), with \(talk)")
                try Self.end([a, b], broker)
            }
        }
    }

    @Test("what is left of one connection's request or message is not kept for another")
    func leftovers() throws {
        let broker = try Self.broker()
        let total = broker.nodes[0].server.callers.connections.unfinishedTotal
        let large = String(repeating: "x", count: 200_000)
        let (poster, halfPoster) = (try broker.http(), try broker.http())
        let post = HTTPPeer.text("POST", "/debug/echo", large)
        try poster.send(String(post.prefix(100_000)))
        try poster.send(String(post.dropFirst(100_000)))
        #expect(try poster.read()?.body.count == 200_000)
        for half in ["\r\n", "\r\nGET /li", "vez HTTP/1.1\r\nHost: localhost\r\n"] {
            try halfPoster.send(half)
            #expect((0..<200).contains(total.count))
        }

        let (socket, halfSocket) = (try broker.webSocket(), try broker.webSocket())
        let call = #"{"jsonrpc":"2.0","id":1,"method":"observers","params":{"name":"\#(large)"}}"#
        try socket.send(call)
        #expect(try socket.takeMessages().count == 1)
        // The first byte of a frame, then a Ping by halves.
        for half: [UInt8] in [[0x81], [0x89, 0x85], [0, 0, 0, 0, 1]] {
            let before = total.count
            let other = half.count == 1 ? try broker.webSocket() : halfSocket
            other.peer.send(half)
            try broker.crank()
            #expect((0..<200).contains(total.count - before))
        }
    }

    @Test("a compressed message that is unfinished counts among unfinished input")
    func compressedIsCounted() throws {
        let broker = try Self.broker()
        let total = broker.nodes[0].server.callers.connections.unfinishedTotal
        let socket = try Talk.deflated.open(broker)
        // A message of 9,000 compressed bytes, of which 5,000 come.
        socket.send([0xC1, 0xFE, 0x23, 0x28, 0, 0, 0, 0] + Talk.stored(4_990))
        try broker.crank()
        #expect((4_990...5_100).contains(total.count))
        try Self.end([socket], broker)
        #expect(total.count == 0)
    }

    @Test(
        "empty lines have the head's time, and are not answered at its end",
        arguments: [1, 2], [0, 9])
    func emptyLines(loopCount: Int, requestCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let peer = try broker.http(loop: loopCount - 1)
        for _ in 0..<requestCount { _ = try peer.request("GET", "/livez") }
        if requestCount > 0 { try broker.advance(by: .seconds(20)) }
        // The first one begins the time, on a new connection its opening does.
        for _ in 0..<3 {
            try peer.send("\r\n")
            #expect(!peer.peer.sawEndOfOutput)
            try broker.advance(by: .seconds(3))
        }
        #expect(!peer.peer.sawEndOfOutput)
        try peer.send("\r")
        try broker.advance(by: .milliseconds(1_300))
        #expect(peer.peer.sawEndOfOutput)
        #expect(try peer.read() == nil)
    }

    @Test("a request after empty lines is answered, and the idle time follows")
    func requestAfterEmptyLines() throws {
        let broker = try Broker()
        let peer = try broker.http()
        try peer.send("\r\n\r\n")
        try broker.advance(by: .seconds(9))
        #expect(try peer.request("GET", "/livez").status == 200)
        try broker.advance(by: .seconds(60))
        #expect(!peer.peer.sawEndOfOutput)
        #expect(try peer.request("GET", "/livez").status == 200)
    }

    // MARK: Helpers

    /// The bytes for a peer, and whether that was the end.
    private struct Heard: Equatable, CustomStringConvertible {
        let bytes: [UInt8]
        let isOver: Bool

        init(_ peer: EmbeddedPeer) {
            bytes = peer.received
            isOver = peer.sawEndOfOutput
        }

        var description: String { "\(String(decoding: bytes, as: UTF8.self)) over: \(isOver)" }
    }

    private static func broker() throws -> Broker { try Broker { $0.hasDebugEndpoints = true } }

    /// The output of the broker when the peer is alone.
    private static func alone(_ talk: Talk) throws -> Heard {
        let broker = try broker()
        let peer = try talk.open(broker)
        peer.send(talk.bytes)
        try broker.crank()
        return Heard(peer)
    }

    private static func end(_ peers: [EmbeddedPeer], _ broker: Broker) throws {
        for peer in peers { peer.reset() }
        try broker.crank()
    }
}

/// The requests on a connection; the answers are the same each time.
struct Talk: CustomTestStringConvertible, CustomStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    /// The requests that are answered before.
    private let opening: String

    var testDescription: String { name }
    var description: String { name }

    private init(_ name: String, _ text: String) {
        self.init(name, Array(text.utf8))
    }

    private init(_ name: String, _ bytes: [UInt8], after opening: String = "") {
        self.name = name
        self.bytes = bytes
        self.opening = opening
    }

    /// Connects, and has what comes before said and answered.
    func open(_ broker: Broker) throws -> EmbeddedPeer {
        let peer = broker.nodes[0].kernel.connect()
        peer.send(opening.utf8)
        try broker.crank()
        if !opening.isEmpty {
            try #require(peer.takeReceived().starts(with: "HTTP/1.1 101".utf8))
        }
        return peer
    }

    /// Those that are cut.
    static let all = [
        withLength, chunked, emptyLines, expecting, pipelined, refused, malformed, upgrade,
        fragmented, deflated, deflatedFragments, calls, wrongFrame,
    ]
    /// Those that come whole in between.
    static let whole = [emptyLines, chunked, refused, malformed, upgrade, deflated, calls]

    private static let host = "Host: localhost\r\n"
    private static let get = "GET /livez HTTP/1.1\r\n\(host)\r\n"

    static let withLength = Talk(
        "a length", "POST /debug/echo HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello")
    static let chunked = Talk(
        "chunks and trailers",
        """
        POST /debug/echo HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n\
        5;a="b"\r\nhello\r\n3\r\nyou\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n
        """)
    static let emptyLines = Talk(
        "eight empty lines", String(repeating: "\r\n", count: 8) + get)
    static let expecting = Talk(
        "Expect",
        """
        POST /debug/echo HTTP/1.1\r\n\(host)Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}
        """)
    static let pipelined = Talk(
        "three in a row",
        """
        \(get)\r\nPOST /debug/echo HTTP/1.1\r\n\(host)Content-Length: 2\r\n\r\nab\
        GET /v1/explain?name=a HTTP/1.1\r\n\(host)\r\n
        """)
    static let refused = Talk(
        "refused by its head, with content",
        "DELETE /livez HTTP/1.1\r\n\(host)Content-Length: 3\r\n\r\nabc\(get)")
    static let malformed = Talk("one empty line too many", String(repeating: "\r\n", count: 9))

    // MARK: WebSockets

    private static func opening(_ path: String, _ fields: String = "") -> String {
        """
        GET \(path) HTTP/1.1\r\n\(host)Upgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(fields)\r\n
        """
    }

    private static let deflateField = "Sec-WebSocket-Extensions: permessage-deflate\r\n"

    /// A masked frame; the mask is not of zeros.
    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        let length: [UInt8] =
            payload.count < 126
            ? [0x80 | UInt8(payload.count)]
            : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        return [first] + length + mask + payload.indices.map { payload[$0] ^ mask[$0 % 4] }
    }

    private static func frame(_ first: UInt8, _ text: String) -> [UInt8] {
        frame(first, Array(text.utf8))
    }

    /// "Hello" compressed (RFC 7692 §7.2.3.1).
    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    /// The begin of a stored block of 8,000 bytes, of which some are there.
    static func stored(_ count: Int) -> [UInt8] {
        [0x00, 0x40, 0x1F, 0xBF, 0xE0] + [UInt8](repeating: 0x61, count: count)
    }

    static let upgrade = Talk(
        "an opening, and frames behind it",
        Array(opening("/debug/ws").utf8) + frame(0x81, "one") + frame(0x89, "ping"))
    static let fragmented = Talk(
        "fragments with a ping between them",
        frame(0x01, "fräg") + frame(0x89, "ping") + frame(0x00, "ment") + frame(0x80, "s")
            + frame(0x82, [UInt8](repeating: 7, count: 130)) + frame(0x88, [0x03, 0xE8]),
        after: opening("/debug/ws"))
    static let deflated = Talk(
        "compressed messages and plain ones",
        frame(0xC1, hello) + frame(0x81, "plain") + frame(0xC2, hello),
        after: opening("/debug/ws", deflateField))
    static let deflatedFragments = Talk(
        "a compressed message in fragments, with a ping between them",
        frame(0x41, Array(hello[..<3])) + frame(0x89, "ping") + frame(0x00, [])
            + frame(0x80, Array(hello[3...])) + frame(0xC1, hello),
        after: opening("/debug/ws", deflateField))
    static let calls = Talk(
        "calls",
        frame(0x81, #"{"jsonrpc":"2.0","id":1,"method":"explain","params":{"name":"a"}}"#)
            + frame(0x01, #"{"jsonrpc":"2.0","id":2,"#) + frame(0x8A, "pong")
            + frame(0x80, #""method":"observers"}"#),
        after: opening("/v1/ws", "Sec-WebSocket-Protocol: belfry.v1\r\n"))
    static let wrongFrame = Talk(
        "a frame with a reserved bit, after half a message",
        frame(0x01, "half") + frame(0xA0, "bad"), after: opening("/debug/ws"))
}
