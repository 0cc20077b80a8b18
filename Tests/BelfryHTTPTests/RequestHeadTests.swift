import BelfryHTTP
import Testing

@Suite("RequestHead (RFC 9110 §7, §9, §10; RFC 9112 §3.2, §9.3)")
struct RequestHeadTests {
    private func get(_ fields: String, version: String = "1.1") throws -> RequestHead {
        try head(of: "GET / HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n\r\n")
    }

    private func first(_ name: String, of head: RequestHead) -> String? {
        guard let value = head.field(name) else { return nil }
        return text(value)
    }

    static let targets:
        [(line: String, form: TargetForm, path: String, query: String?, host: String)] = [
            ("GET /", .origin, "/", nil, "a"),
            ("GET /a/b%20c?d=e?f", .origin, "/a/b%20c", "d=e?f", "a"),
            ("GET /?", .origin, "/", "", "a"),
            ("GET //x", .origin, "//x", nil, "a"),
            ("GET /../../etc/passwd", .origin, "/../../etc/passwd", nil, "a"),
            ("GET /a;b=c:d@e!$&'()*+,", .origin, "/a;b=c:d@e!$&'()*+,", nil, "a"),
            ("GET http://b.example:80/x?y", .absolute, "/x", "y", "b.example:80"),
            ("GET HTTPS://b/x", .absolute, "/x", nil, "b"),
            ("GET http://b", .absolute, "/", nil, "b"),
            ("GET http://b?x/y", .absolute, "/", "x/y", "b"),
            ("GET http://[::1]:1/x", .absolute, "/x", nil, "[::1]:1"),
            ("OPTIONS *", .asterisk, "", nil, "a"),
            ("OPTIONS http://b", .asterisk, "", nil, "b"),
            ("OPTIONS http://b/", .absolute, "/", nil, "b"),
            ("CONNECT b:443", .authority, "", nil, "b:443"),
            ("CONNECT [::1]:443", .authority, "", nil, "[::1]:443"),
        ]

    @Test(
        "a target is taken apart by its form, and its authority wins over Host", arguments: targets)
    func target(line: String, form: TargetForm, path: String, query: String?, host: String) throws {
        let head = try head(of: "\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(head.targetForm == form)
        #expect(text(head.path) == path)
        #expect((head.hasQuery ? text(head.query) : nil) == query)
        #expect(text(head.authority) == host)
    }

    static let hosts: [(field: String, host: String, port: Int?)] = [
        ("a", "a", nil), ("LocalHost:8080", "localhost", 8080), ("a:", "a", nil),
        ("[::1]:80", "[::1]", 80), ("[::1]", "[::1]", nil), ("127.0.0.1:65535", "127.0.0.1", 65535),
        ("[2001:DB8::1.2.3.4]", "[2001:db8::1.2.3.4]", nil),
        ("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]", nil),
        ("[::]", "[::]", nil), ("[1::]", "[1::]", nil), ("[v1.a:b]", "[v1.a:b]", nil),
        ("a_b-c.d~e", "a_b-c.d~e", nil), ("a%2Db", "a%2db", nil), ("a,b", "a,b", nil),
    ]

    @Test("a host is lower-cased, with or without its port", arguments: hosts)
    func host(field: String, host: String, port: Int?) throws {
        let head = try head(of: "GET / HTTP/1.1\r\nHost: \(field)\r\n\r\n")
        #expect(head.host.map { text($0.host) } == host)
        #expect(head.host?.port == port)
        #expect(text(head.authority) == field)
        #expect(text(head.hostName).lowercased() == host)
    }

    @Test("HTTP/1.0 may have no host")
    func noHost() throws {
        let head = try head(of: "GET / HTTP/1.0\r\n\r\n")
        #expect(head.host == nil)
        #expect(head.authority.isEmpty && head.hostName.isEmpty)
    }

    static let connections: [(version: String, fields: String, keepsAlive: Bool)] = [
        ("1.1", "X: y", true), ("1.0", "X: y", false), ("1.1", "Connection: close", false),
        ("1.1", "connection: CLOSE", false), ("1.1", "Connection: close\t", false),
        ("1.1", "Connection: foo, Close ,bar", false), ("1.1", "Connection: closed", true),
        ("1.1", "Connection: foo\r\nConnection: close", false),
        ("1.0", "Connection: keep-alive", true), ("1.0", "Connection: Keep-Alive, close", false),
        ("1.1", "Connection: keep-alive", true), ("1.1", "Connection: ,,", true),
    ]

    @Test("keep-alive depends on the version and the Connection options", arguments: connections)
    func connection(version: String, fields: String, keepsAlive: Bool) throws {
        let head = try get(fields, version: version)
        #expect(head.keepsAlive == keepsAlive)
        #expect(
            head.responseContext
                == ResponseContext(
                    minorVersion: version == "1.1" ? 1 : 0, keepsAlive: keepsAlive, isHead: false))
    }

    static let expectations: [(version: String, fields: String, expectation: RequestExpectation)] =
        [
            ("1.1", "X: y", .none), ("1.1", "Expect: 100-continue", .continue),
            ("1.1", "expect: 100-Continue", .continue), ("1.1", "Expect: nonsense", .unknown),
            ("1.1", "Expect: 100-continue\r\nExpect: x", .unknown), ("1.1", "Expect:", .unknown),
            ("1.0", "Expect: 100-continue", .none),
        ]

    @Test("only 100-continue is a known expectation", arguments: expectations)
    func expect(version: String, fields: String, expectation: RequestExpectation) throws {
        #expect(try get(fields, version: version).expectation == expectation)
    }

    static let methods: [(String, HTTPMethod)] = [
        ("GET", .get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("DELETE", .delete),
        ("PATCH", .patch), ("OPTIONS", .options), ("TRACE", .trace), ("get", .other),
        ("GETS", .other), ("BREW", .other), ("M-SEARCH", .other), ("X", .other),
    ]

    @Test("methods are case-sensitive", arguments: methods)
    func method(name: String, method: HTTPMethod) throws {
        let head = try head(of: "\(name) / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(head.method == method)
        #expect(method.name == nil || method.name == name)
    }

    @Test("fields are found in any case, the first one first")
    func fields() throws {
        let head = try get(
            "X-One: 1\r\nx-ONE: 2\r\nX-Two:\r\nConTent-tyPe: a/b\r\nContent-Length: 3")
        #expect(first("x-one", of: head) == "1")
        #expect(first("x-two", of: head) == "")
        #expect(first("x-three", of: head) == nil)
        #expect(head.values(of: "x-one").map { text(head.value(in: $0)) } == ["1", "2"])
        #expect(head.hasContentType && text(head.contentType) == "a/b")
        #expect(head.contentLength == 3 && head.hasContent && !head.isChunked)
        #expect(head.hasToken("2", in: "x-one") && !head.hasToken("3", in: "x-one"))
    }

    @Test(
        "names that differ little from the known ones are others",
        arguments: [
            "Hos", "Hosts", "H_st", "Content-Typ", "Content_Type", "Content-Lengthy",
            "ContentXLength",
            "Transfer_Encoding", "TransferXEncoding", "Connectiox", "Xonnection", "Expecx",
            "Upgradf",
        ])
    func nearNames(name: String) throws {
        let head = try get("\(name): close, upgrade")
        #expect(!head.hasContentType && head.contentLength == nil && !head.isChunked)
        #expect(head.keepsAlive && head.expectation == .none)
        #expect(first(name.lowercased(), of: head) == "close, upgrade")
    }

    @Test("the usual names are known in any case, and only with their colon at once")
    func usualNames() throws {
        let head = try head(
            of: "PUT / HTTP/1.1\r\nHOST: a\r\ncONTENT-tYPE: b\r\nCONTENT-LENGTH: 7\r\n\r\n")
        #expect(head.method == .put && text(head.authority) == "a")
        #expect(text(head.contentType) == "b" && head.contentLength == 7)
        #expect(text(head.name(at: 1)) == "cONTENT-tYPE")
        for name in ["Content\rType: b", "Host\u{1A} b", "Content-Type\u{1A} b"] {
            #expect(error(in: Array("GET / HTTP/1.1\r\n\(name)\r\n\r\n".utf8)) == .invalidFieldName)
        }
    }

    static let uncommon: [(fields: String, expected: UncommonFields)] = [
        ("ORIGIN: null", .origin), ("Prefer: wait=1", .prefer),
        ("idempotency-Key: \"a\"", .idempotencyKey),
        ("AUTHorization: Bearer a", .authorization), ("Proxy-Authorization: a", []),
        ("Authorizatiom: a\r\nAuthorisation: b\r\nAuthorization2: c", []),
        ("Origin: a\r\nPrefer: b\r\nIdempotency-Key: c", [.origin, .prefer, .idempotencyKey]),
        ("Origim: a\r\nPrefex: b\r\nIdempotencyXKey: c\r\nOrigins: d", []),
    ]

    @Test(
        "uncommon fields are found with the head, in one piece and byte by byte",
        arguments: uncommon)
    func uncommonFields(fields: String, expected: UncommonFields) throws {
        #expect(try get(fields).uncommonFields == expected)
        var parser = RequestParser(limits: HTTPLimits())
        for byte in "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n".utf8 {
            var cursor = 0
            _ = try parser.nextEvent(in: [byte].span, at: &cursor)
        }
        #expect(parser.head.uncommonFields == expected)
    }
}
