import BelfryAccess
import BelfryHTTP
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("What the head decides (RFC 9110 §10.1.1, RFC 9112 §9.6)")
struct HeadAnswerTests {
    private static let page = "https://app.example"

    private static func head(_ line: String, _ fields: [String]) -> String {
        ([line + " HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    private static func broker(bodyByteLimit: Int = 1_000) throws -> Broker {
        var keys = Keys()
        keys.add("a", #"[{"verbs":["post"]}]"#)
        let keyring = try keys.keyring()
        return try Broker {
            $0.keyring = keyring
            $0.bodyByteLimit = bodyByteLimit
            $0.allowedOrigins = [page]
        }
    }

    @Test(
        "a refusal does not wait for the content, with Expect and without",
        arguments: [
            ("POST /v1/channels/a", ["Authorization: Bearer x"], "5", 401),
            ("POST /v1/channels/a", [Keys.field("a")], "1001", 413),
            ("POST /v1/channels/a", [Keys.field("a")], "1000000000000", 413),
            ("PUT /v1/channels/a", [Keys.field("a")], "5", 405),
            ("POST /nothing", [], "5", 404),
            ("POST /v1/channels/a", [Keys.field("a"), "Content-Encoding: gzip"], "5", 415),
            ("POST /v1/channels/a", [Keys.field("a"), "Expect: the-best"], "5", 417),
            ("POST /v1/centers/%2e%2E/channels/a", [Keys.field("a")], "5", 400),
        ] as [(String, [String], String, Int)], [false, true])
    func refused(
        row: (line: String, fields: [String], length: String, status: Int), expects: Bool
    ) throws {
        let broker = try Self.broker()
        let peer = try broker.http()
        let isExpecting = expects && !row.fields.contains { $0.hasPrefix("Expect") }
        let fields =
            row.fields + ["Content-Length: \(row.length)"]
            + (isExpecting ? ["Expect: 100-continue"] : [])
        try peer.send(Self.head(row.line, fields))
        let answer = try #require(try peer.read())
        #expect(answer.status == row.status)
        let closes = expects && isExpecting || row.status == 413
        #expect((answer.field("connection") == "close") == closes || row.status == 417)
        #expect(try peer.read() == nil)
    }

    @Test("behind a small content that nobody wants the connection goes on", arguments: [1, 3])
    func goesOn(pieceCount: Int) throws {
        let broker = try Self.broker()
        let peer = try broker.http()
        try peer.send(Self.head("PUT /v1/channels/a", ["Content-Length: 6"]))
        #expect(try peer.read()?.status == 405)
        for _ in 0..<pieceCount { try peer.send(String(repeating: "x", count: 6 / pieceCount)) }
        #expect(try peer.request("GET", "/livez").status == 200)
        // All of it at once, and in chunks.
        try peer.send(Self.head("PUT /v1/channels/a", ["Content-Length: 6"]) + "xxxxxx")
        #expect(try peer.read()?.status == 405)
        try peer.send(Self.head("PUT /v1/channels/a", ["Transfer-Encoding: chunked"]))
        #expect(try peer.read()?.status == 405)
        try peer.send("3\r\nabc\r\n0\r\n\r\n")
        #expect(try peer.request("GET", "/livez").status == 200)
    }

    @Test("a refused content is read up to 64 KiB, and no byte more")
    func dropLimit() throws {
        let limit = Exchange.dropByteLimit
        let broker = try Self.broker(bodyByteLimit: 2 * limit)
        for (byteCount, isOver) in [(limit, false), (limit + 1, true)] {
            let peer = try broker.http()
            try peer.send(Self.head("PUT /v1/channels/a", ["Content-Length: \(byteCount)"]))
            #expect((try peer.read()?.field("connection") == "close") == isOver)
            #expect(peer.peer.sawEndOfOutput == isOver)
            let chunked = try broker.http()
            try chunked.send(Self.head("PUT /v1/channels/a", ["Transfer-Encoding: chunked"]))
            #expect(try chunked.read()?.status == 405)
            var left = byteCount
            while left > 0 {
                let size = min(left, 4_096)
                let hexadecimal = String(size, radix: 16)
                try chunked.send("\(hexadecimal)\r\n\(String(repeating: "x", count: size))\r\n")
                left -= size
            }
            #expect(chunked.peer.sawEndOfOutput == isOver)
        }
    }

    @Test("a request that was refused ahead gets no second answer, whatever its content does")
    func once() throws {
        let broker = try Self.broker()
        let slow = try broker.http()
        try slow.send(Self.head("PUT /v1/channels/a", ["Content-Length: 6"]))
        #expect(try slow.read()?.status == 405)
        try broker.advance(by: .seconds(31))
        #expect(try slow.read() == nil)
        #expect(slow.peer.sawEndOfOutput)
        let broken = try broker.http()
        try broken.send(Self.head("PUT /v1/channels/a", ["Transfer-Encoding: chunked"]))
        #expect(try broken.read()?.status == 405)
        try broken.send("zz\r\n")
        #expect(try broken.read() == nil)
        #expect(broken.peer.sawEndOfOutput)
    }

    @Test(
        "each answer that ends a connection lets a page of an allowed origin read it",
        arguments: [
            ("POST /v1/channels/a", ["Content-Length: 1001"], "", 413),
            ("POST /v1/channels/a", ["Transfer-Encoding: chunked"], "zz\r\n", 400),
            ("POST /v1/channels/a", ["Expect: the-best"], "", 417),
            ("POST /v1/channels/a", ["Transfer-Encoding: gzip, chunked"], "", 501),
            ("GET /livez", ["X: " + String(repeating: "x", count: 9_000)], "", 431),
            ("GET /v1/%zz", [], "", 400),
            ("GET /" + String(repeating: "x", count: 9_000), [], "", 414),
            ("GET /v1/%2E/x", [], "", 400),
        ] as [(String, [String], String, Int)])
    func crossOrigin(line: String, fields: [String], content: String, status: Int) throws {
        let broker = try Self.broker()
        for (origin, isAllowed) in [(Self.page, true), ("https://evil.example", false)] {
            let peer = try broker.http()
            let text = Self.head(line, ["Origin: \(origin)", Keys.field("a")] + fields) + content
            try peer.send(text)
            let answer = try #require(try peer.read())
            // A page of another origin may be refused for that before.
            #expect(answer.status == status || !isAllowed && answer.status == 403)
            #expect(answer.field("access-control-allow-origin") == (isAllowed ? origin : nil))
        }
    }

    @Test("a request that comes too late is answered so that its page can read it")
    func late() throws {
        let broker = try Self.broker()
        let fields = ["Origin: \(Self.page)", Keys.field("a"), "Content-Length: 5"]
        let content = try broker.http()
        try content.send(Self.head("POST /v1/channels/a", fields))
        let head = try broker.http()
        try head.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nOrigin: \(Self.page)\r\nX: ")
        try broker.advance(by: .seconds(31))
        for peer in [content, head] {
            let answer = try #require(try peer.read())
            #expect(answer.status == 408)
            #expect(answer.field("access-control-allow-origin") == Self.page)
        }
    }

    @Test("content that is encoded is 415, and says what is taken")
    func encoded() throws {
        let broker = try Broker()
        for coding in ["gzip", "br", "identity, gzip", "x"] {
            let answer = try broker.request(
                "POST", "/v1/channels/a", "{}", fields: ["Content-Encoding: \(coding)"])
            #expect(answer.problem == "unsupported-media-type")
            #expect(answer.field("accept-encoding") == "identity")
        }
        for coding in ["identity", "IDENTITY"] {
            let answer = try broker.request(
                "POST", "/v1/channels/a", "{}", fields: ["Content-Encoding: \(coding)"])
            #expect(answer.status == 200)
        }
    }

    @Test(
        "a path with dot segments asks for nothing, however they are written",
        arguments: [
            "/v1/centers/../channels/a", "/v1/centers/%2E%2E/channels/a", "/v1/channels/.",
            "/v1/channels/..", "/v1/channels/%2e%2E", "/v1/channels/.%2e", "/v1/values/../a",
            "/v1/values/o/%2E", "/v1/responders/a/..", "/..", "/./livez", "/v1/queue/..",
        ])
    func dotSegments(path: String) throws {
        let broker = try Broker()
        for method in ["POST", "GET", "PUT", "DELETE"] {
            let answer = try broker.request(method, path, method == "POST" ? "{}" : nil)
            #expect(answer.problem == "malformed-request", "\(method)")
        }
        #expect(try broker.get("/v1/centers").json["centers"].elements.count == 1)
        #expect(try broker.request("POST", "/v1/channels/...", "{}").status == 200)
        #expect(try broker.request("POST", "/v1/channels/a?object=..", "{}").status == 200)
        #expect(try broker.post(#"{"name":".."}"#).status == 200)
    }
}
