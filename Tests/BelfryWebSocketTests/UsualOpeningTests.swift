import BelfryWebSocket
import Testing

@Suite("UsualOpening and OpeningAnswer (RFC 6455 §4.2)")
struct UsualOpeningTests {
    typealias Field = (name: String, value: String)

    /// The sample request of RFC 6455 §1.3, as it is sent.
    static let sample: [Field] = [
        ("Host", "server.example.com"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"),
    ]
    static let own = Array("belfry.v1".utf8)

    static func answer(_ fields: [Field]) -> (acceptKey: [UInt8], hasSubprotocol: Bool)? {
        var opening = UsualOpening()
        for field in fields {
            let (name, value) = (Array(field.name.utf8), Array(field.value.utf8))
            opening.read(name.span, value.span, subprotocol: own.span)
        }
        return opening.answer
    }

    /// The decision by the reader of all openings.
    static func decision(_ fields: [Field]) -> OpeningDecision {
        func lines(_ name: String) -> [[UInt8]] {
            fields.filter { $0.name.lowercased() == name }.map { Array($0.value.utf8) }
        }
        var request = OpeningRequest()
        request.upgrade = lines("upgrade")
        request.connection = lines("connection")
        request.key = lines("sec-websocket-key")
        request.version = lines("sec-websocket-version")
        request.subprotocols = lines("sec-websocket-protocol")
        request.extensions = lines("sec-websocket-extensions")
        return request.decide(subprotocols: [own], unknown: .refused, allowsDeflate: true)
    }

    @Test(
        "what nearly every client sends is answered",
        arguments: [
            [], [("Sec-WebSocket-Protocol", "belfry.v1")], [("Origin", "http://localhost")],
            [("User-Agent", "Mozilla"), ("Sec-WebSocket-Keys", "none")],
        ] as [[Field]])
    func usual(more: [Field]) {
        let fields = Self.sample + more
        let hasSubprotocol = fields.contains { $0.name == "Sec-WebSocket-Protocol" }
        let answer = Self.answer(fields)
        #expect(answer?.acceptKey == Array("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".utf8))
        #expect(answer?.hasSubprotocol == hasSubprotocol)
    }

    @Test(
        "letters of names and tokens may be of either case",
        arguments: ["upgrade", "UPGRADE", "keep-alive, Upgrade", "Keep-Alive, upgrade"])
    func cases(connection: String) {
        let fields = Self.sample.map { field in
            let name = field.name.uppercased()
            switch field.name {
            case "Connection": return (name, connection)
            case "Upgrade": return (name, "WebSocket")
            default: return (name, field.value)
            }
        }
        #expect(Self.answer(fields) != nil)
        #expect(Self.isSame(fields))
    }

    @Test("an opening without one of its fields is not usual", arguments: 1..<5)
    func missing(place: Int) {
        var fields = Self.sample
        fields.remove(at: place)
        #expect(Self.answer(fields) == nil)
    }

    @Test("a field that comes twice is not usual", arguments: 1..<5)
    func repeated(place: Int) {
        #expect(Self.answer(Self.sample + [Self.sample[place]]) == nil)
    }

    @Test(
        "whatever needs a decision is left to it",
        arguments: [
            ("Sec-WebSocket-Protocol", "belfry.v1, other"), ("Sec-WebSocket-Protocol", "Belfry.v1"),
            ("Sec-WebSocket-Protocol", ""), ("Sec-WebSocket-Extensions", "permessage-deflate"),
            ("Sec-WebSocket-Extensions", ""), ("Upgrade", "h2c"), ("Connection", "close"),
        ] as [Field])
    func unusual(field: Field) {
        #expect(Self.answer(Self.sample + [field]) == nil)
    }

    @Test(
        "a value that is not exactly the usual one is left to the decision",
        arguments: [
            ("Upgrade", "websocket2"), ("Upgrade", "websocke"), ("Connection", "Upgrade, foo"),
            ("Sec-WebSocket-Version", "8"), ("Sec-WebSocket-Version", "013"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZR=="),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ="),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=A"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j!Q=="), ("Sec-WebSocket-Key", ""),
        ] as [Field])
    func changed(field: Field) {
        let fields = Self.sample.map { $0.name == field.name ? field : $0 }
        #expect(Self.answer(fields) == nil)
    }

    @Test("whatever the lines are, both decide alike")
    func twins() {
        var generator = SplitMix(state: 7)
        let lines: [Field] =
            Self.sample + Self.sample + [
                ("Sec-WebSocket-Protocol", "belfry.v1"), ("Sec-WebSocket-Protocol", "foo"),
                ("Connection", "keep-alive, Upgrade"), ("Sec-WebSocket-Version", "14"),
                ("Sec-WebSocket-Extensions", "permessage-deflate"), ("Upgrade", "WebSocket"),
                ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), ("Host", "another"),
            ]
        var usualCount = 0
        for _ in 0..<20_000 {
            var fields = Self.sample
            for _ in 0..<Int.random(in: 0..<3, using: &generator) {
                fields.remove(at: Int.random(in: fields.indices, using: &generator))
            }
            for _ in 0..<Int.random(in: 0..<3, using: &generator) {
                fields.append(lines[Int.random(in: lines.indices, using: &generator)])
            }
            if Self.answer(fields) != nil { usualCount += 1 }
            #expect(Self.isSame(fields))
        }
        #expect(usualCount > 500)
    }

    /// Whether an opening that is usual is decided in the same way.
    static func isSame(_ fields: [Field]) -> Bool {
        guard let answer = answer(fields) else { return true }
        return decision(fields)
            == .accept(
                acceptKey: answer.acceptKey, subprotocol: answer.hasSubprotocol ? own : nil,
                deflate: nil)
    }

    @Test("the response has the fields that were agreed on, and no other")
    func response() {
        let start = "HTTP/1.1 101 Switching Protocols\r\nDate: now\r\nSec-WebSocket-Accept: key\r\n"
        let end = "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
        let subprotocol = "Sec-WebSocket-Protocol: belfry.v1\r\n"
        let extensions = "Sec-WebSocket-Extensions: x\r\n"
        #expect(Self.response(subprotocol: nil, extensions: nil) == start + end)
        #expect(
            Self.response(subprotocol: "belfry.v1", extensions: nil) == start + subprotocol + end)
        #expect(
            Self.response(subprotocol: "belfry.v1", extensions: "x")
                == start + subprotocol + extensions + end)
    }

    private static func response(subprotocol: String?, extensions: String?) -> String {
        var output: [UInt8] = []
        OpeningAnswer.append(
            acceptKey: Array("key".utf8), subprotocol: subprotocol.map { Array($0.utf8) },
            extensions: extensions.map { Array($0.utf8) }, date: Array("now".utf8), to: &output)
        return String(decoding: output, as: UTF8.self)
    }
}
