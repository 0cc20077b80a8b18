import Testing

@testable import BelfryClient

@Suite("BrokerURL")
struct BrokerURLTests {
    @Test(
        "a URL has a host, a port and perhaps a center",
        arguments: [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", nil),
            ("http://localhost:9000/", "http://127.0.0.1:9000", nil),
            ("http://127.0.0.1", "http://127.0.0.1:80", nil),
            ("https://127.0.0.1", "https://127.0.0.1:443", nil),
            ("wss://localhost:8443/", "https://localhost:8443", nil),
            ("ws://localhost", "http://127.0.0.1:80", nil),
            ("http://belfry.example:8080", "http://belfry.example:8080", nil),
            ("http://127.0.0.1:1/bell", "http://127.0.0.1:1/bell", nil),
            ("http://127.0.0.1:1/a b/c/", "http://127.0.0.1:1/a%20b/c", nil),
            (
                "http://127.0.0.1:1/bell/v1/centers/v1/", "http://127.0.0.1:1/bell/v1/centers/v1",
                "v1"
            ),
            ("wss://broker-1/v1/centers/a", "https://broker-1:443/v1/centers/a", "a"),
            ("http://[::1]:8080/v1/centers/shop", "http://[::1]:8080/v1/centers/shop", "shop"),
            (
                "http://127.0.0.1:1/v1/centers/a%2Fb/", "http://127.0.0.1:1/v1/centers/a%2Fb",
                "a%2Fb"
            ),
        ] as [(String, String, String?)])
    func good(text: String, normal: String, center: String?) throws {
        let url = try BrokerURL(text)
        #expect(url.description == normal)
        #expect(url.center == center)
    }

    @Test(
        "what is no URL of a broker says why",
        arguments: [
            ("", BrokerURL.Fault.schemeIsNotHTTP), ("127.0.0.1:8080", .schemeIsNotHTTP),
            ("ftp://127.0.0.1", .schemeIsNotHTTP), ("http://", .schemeIsNotHTTP),
            ("https://", .schemeIsNotHTTP), ("HTTP://127.0.0.1", .schemeIsNotHTTP),
            ("http://belfry_example", .invalidHost), ("http://a:b:1", .invalidHost),
            ("http://127.0.0.1:99999", .invalidHost), ("http:///v1", .invalidHost),
            ("http://127.0.0.1/..", .pathIsNoCenter), ("http://127.0.0.1/a/%2e/b", .pathIsNoCenter),
            ("http://127.0.0.1/v1", .pathIsNoCenter),
            ("http://127.0.0.1/bell/v1/", .pathIsNoCenter),
            ("http://127.0.0.1/v1/observers", .pathIsNoCenter),
            ("http://127.0.0.1/v1/centers/..", .pathIsNoCenter),
            ("http://127.0.0.1/v1/centers/%2E%2e", .pathIsNoCenter),
            ("http://127.0.0.1/bell?x", .pathIsNoCenter),
            ("http://127.0.0.1//bell", .pathIsNoCenter),
            ("http://127.0.0.1/v1/centers/", .pathIsNoCenter),
            ("http://127.0.0.1/v1/centers/a/b", .pathIsNoCenter),
            ("http://127.0.0.1/v1/centers/a?b", .pathIsNoCenter),
            ("http://127.0.0.1/v1/centers/%zz", .pathIsNoCenter),
        ])
    func bad(text: String, fault: BrokerURL.Fault) {
        #expect(throws: ClientError.invalidURL(fault)) { try BrokerURL(text) }
    }

    @Test("a token is shown by the requests of a URL, and is in no text of it")
    func token() throws {
        let url = try BrokerURL("http://127.0.0.1:8080")
        let known = try url.authenticated(by: "belfry_s3cret")
        #expect(known.description == url.description)
        func request(_ url: BrokerURL) -> String {
            var bytes: [UInt8] = []
            HTTPRequest.get("observers").append(url, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(request(known).contains("\r\nAuthorization: Bearer belfry_s3cret\r\n"))
        #expect(!request(url).contains("Authorization"))
        for bad in ["", "a b", "a\r\nX: y", "\u{E9}", String(repeating: "x", count: 8_193)] {
            #expect(throws: ClientError.invalidToken) { try url.authenticated(by: bad) }
        }
        #expect(throws: Never.self) {
            try url.authenticated(by: String(repeating: "x", count: 8_192))
        }
    }

    @Test("a path is below the center unless it is absolute, and a query is encoded")
    func target() throws {
        let url = try BrokerURL("http://127.0.0.1:8080/v1/centers/shop")
        let query = [(name: "name", value: "a b&c"), (name: "limit", value: "3")]
        #expect(
            String(decoding: url.target("explain", query: query), as: UTF8.self)
                == "/v1/centers/shop/explain?name=a%20b%26c&limit=3")
        #expect(String(decoding: url.target("/readyz"), as: UTF8.self) == "/readyz")
        let behind = try BrokerURL("http://127.0.0.1:8080/bell/v1/centers/shop")
        #expect(
            String(decoding: behind.target("explain"), as: UTF8.self)
                == "/bell/v1/centers/shop/explain")
        #expect(String(decoding: behind.target("/readyz"), as: UTF8.self) == "/bell/readyz")
        let plain = try BrokerURL("http://127.0.0.1:8080")
        #expect(String(decoding: plain.target("ws"), as: UTF8.self) == "/v1/ws")
    }
}

@Suite("UserInfo")
struct UserInfoTests {
    @Test("a JSON object keeps its bytes", arguments: ["{}", #"{"a":1e999,"a":[ ]}"#])
    func good(json: String) throws {
        #expect(try UserInfo(json: json).text == json)
    }

    @Test("anything else is refused", arguments: ["", "[]", "7", "{", "{} {}", #"{"a":}"#])
    func bad(json: String) {
        #expect(throws: ClientError.invalidUserInfo) { try UserInfo(json: json) }
    }

    @Test("nesting is limited to what a broker takes")
    func depth() throws {
        func nested(_ count: Int) -> String {
            String(repeating: #"{"a":"#, count: count) + "1" + String(repeating: "}", count: count)
        }
        _ = try UserInfo(json: nested(64))
        #expect(throws: ClientError.invalidUserInfo) { try UserInfo(json: nested(65)) }
    }
}

@Suite("Posts that enter the queue later")
struct LaterOptionTests {
    @Test("their options go out in the words of the broker, and the receipt has the time")
    func words() throws {
        let broker = try ScriptedBroker.opened()
        var wish = PostWish(name: "A")
        wish.options.after = .seconds(2)
        wish.options.replaces = true
        wish.options.onDisconnect = true
        _ = try broker.submit { .post(wish, $0) }
        wish.options = PostOptions()
        wish.options.at = "2026-11-22T06:00:00Z"
        wish.options.every = .milliseconds(1_500)
        wish.options.lease = .forever
        _ = try broker.submit { .post(wish, $0) }
        #expect(
            try broker.heard() == [
                #"{"jsonrpc":"2.0","id":1,"method":"post","params":{"name":"A","after":2,"#
                    + #""replaces":true,"onDisconnect":true}}"#,
                #"{"jsonrpc":"2.0","id":2,"method":"post","params":{"name":"A","#
                    + #""at":"2026-11-22T06:00:00Z","every":1.5,"lease":null}}"#,
            ])
        let text = #"{"id":"a","outcome":"queued","dueAt":"2026-11-22T06:00:00.000Z","dequeued":1}"#
        let receipt = try PostReceipt(json: Array(text.utf8))
        #expect(receipt.outcome == .queued && receipt.dequeued == 1)
        #expect(receipt.dueAt == "2026-11-22T06:00:00.000Z")
    }
}
