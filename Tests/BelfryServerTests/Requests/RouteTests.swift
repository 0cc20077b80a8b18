import BelfryAccess
import BelfryHTTP
import BelfryLoop
import Synchronization
import Testing

@testable import BelfryServer

@Suite("Route: every path and method (Protocol.md section 4)")
struct RouteTests {
    /// Each path with the methods that it answers to, besides OPTIONS.
    static let paths: [(path: String, methods: String)] = [
        ("/v1/channels/a", "POST"), ("/v1/notifications", "GET, HEAD, POST, DELETE"),
        ("/v1/archives", "GET, HEAD"), ("/v1/archives/a", "GET, HEAD, PUT, DELETE"),
        ("/v1/notifications/01JAAAAAAAAAAAAAAAAAAAAAAA", "GET, HEAD, DELETE"),
        ("/v1/notifications/01JAAAAAAAAAAAAAAAAAAAAAAA/answer", "PUT"),
        ("/v1/responders", "GET, HEAD"), ("/v1/responders/a", "GET, HEAD"),
        ("/v1/responders/a/b", "POST"), ("/v1/asks", "GET, HEAD"),
        ("/v1/values", "GET, HEAD"), ("/v1/values/a", "GET, HEAD, PUT, DELETE, PATCH"),
        ("/v1/values/a/b", "GET, HEAD, PUT, DELETE, PATCH"),
        ("/v1/observers", "GET, HEAD, POST"), ("/v1/observers/o1", "GET, HEAD, DELETE"),
        ("/v1/observers/o1/notifications", "GET"),
        ("/v1/clients", "GET, HEAD"), ("/v1/clients/c1", "DELETE, PATCH"),
        ("/v1/queue", "GET, HEAD, DELETE"), ("/v1/modes", "GET, HEAD, POST"),
        ("/v1/queue/01JAAAAAAAAAAAAAAAAAAAAAAA", "GET, HEAD, DELETE"), ("/v1/modes/m1", "DELETE"),
        ("/v1/channels", "GET, HEAD"), ("/v1/explain", "GET, HEAD, POST"),
        ("/v1/reports/leaks", "GET, HEAD"), ("/v1/reports/unmatched", "GET, HEAD"),
        ("/v1/ws", "GET"), ("/v1/events", "GET"),
    ]
    static let servicePaths: [(path: String, methods: String)] = [
        ("/livez", "GET, HEAD"), ("/readyz", "GET, HEAD"), ("/healthz", "GET, HEAD"),
        ("/metrics", "GET, HEAD"), ("/openapi.yaml", "GET, HEAD"), ("/asyncapi.yaml", "GET, HEAD"),
        ("/openapi.json", "GET, HEAD"),
        ("/belfry.js", "GET, HEAD"), ("/belfry.debug.js", "GET, HEAD"), ("/", "GET, HEAD"),
        ("/desk", "GET, HEAD"), ("/desk-worker.js", "GET, HEAD"), ("/desk/main.js", "GET, HEAD"),
        ("/v1/centers", "GET, HEAD"),
        ("/v1/overview", "GET, HEAD"), ("/v1/centers/team/overview", "GET, HEAD"),
        ("/v1/cluster", "GET, HEAD"), ("/v1/cluster/upgrade", "POST"),
        ("/v1/cluster/apply-config", "POST"), ("/v1/cluster/recover", "POST"),
        ("/v1/me", "GET, HEAD"), ("/v1/centers/team/me", "GET, HEAD"),
        ("/debug/echo", "POST"), ("/debug/ws", "GET"),
    ]
    static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"]

    static var everything: [(path: String, methods: String)] {
        paths + servicePaths
            + paths.map { ("/v1/centers/team" + $0.path.dropFirst(3), $0.methods) }
    }

    @Test(
        "a method that a path does not know is 405 with Allow; one that it knows is not",
        arguments: everything)
    func methods(path: String, methods: String) throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        _ = try broker.request("POST", "/v1/centers/team/channels/a", "")
        let allowed = methods.split(separator: ", ").map(String.init)
        for method in Self.methods {
            let body = method == "GET" || method == "HEAD" ? nil : ""
            let isStream = method == "GET" && path.hasSuffix("/events")
            guard !isStream else { continue }
            let response = try broker.request(method, path, body)
            if allowed.contains(method) {
                #expect(response.status != 405, "\(method) \(path)")
            } else {
                #expect(response.status == 405, "\(method) \(path)")
                #expect(response.field("allow") == methods + ", OPTIONS")
            }
        }
        let options = try broker.request("OPTIONS", path)
        #expect(options.status == 204)
        #expect(options.field("allow") == methods + ", OPTIONS")
    }

    @Test("OPTIONS * asks about the server as a whole")
    func optionsServer() throws {
        let response = try Broker().request("OPTIONS", "*")
        #expect(response.status == 204)
        #expect(response.field("allow")?.contains("POST") == true)
    }

    @Test(
        "HEAD answers as GET does, without content",
        arguments: [
            "/livez", "/", "/metrics", "/v1/observers", "/v1/explain?name=a", "/v1/centers",
        ])
    func head(target: String) throws {
        let peer = try Broker().http()
        let get = try peer.request("GET", target)
        let head = try peer.request("HEAD", target)
        #expect(get.status == 200)
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        #expect(head.field("content-type") == get.field("content-type"))
        if target != "/metrics" {
            #expect(head.field("content-length") == get.field("content-length"))
        }
    }

    @Test("a method that nobody knows is one that the path does not allow")
    func unknownMethod() throws {
        let response = try Broker().request("BREW", "/v1/observers")
        #expect(response.problem == "method-not-allowed")
    }

    @Test(
        "what is at no path is 404",
        arguments: [
            "/v2/observers", "/v1", "/v1/", "/v1/nothing", "/v1/channels/", "/v1/channels/a/b",
            "/v1/observers/x1", "/v1/observers/o", "/v1/observers/o01", "/v1/observers/o1.",
            "/v1/notifications/nonsense", "/v1/centers/team/centers",
            "/v1/centers//observers", "/v1/centers/a/b/c/d", "/v1/reports", "/v1/reports/other",
            "/livez/", "/LIVEZ", "/debug/echo", "/debug/ws", "/v1/queue/", "/v1/modes/",
            "/v1/queue/nonsense", "/v1/observers/o1/other", "/v1/observers//notifications",
            "/v1/observers/x1/notifications", "//v1/observers", "/v1//observers",
        ])
    func notFound(path: String) throws {
        let broker = try Broker()
        #expect(try broker.get(path).problem == "not-found")
    }

    @Test(
        "a parameter that a path does not know is 422, except on service paths",
        arguments: [
            "/v1/observers", "/v1/clients", "/v1/channels", "/v1/explain?name=a", "/v1/centers",
            "/v1/reports/leaks", "/v1/reports/unmatched", "/v1/events", "/v1/observers/o1",
            "/v1/notifications/01JAAAAAAAAAAAAAAAAAAAAAAA", "/v1/queue", "/v1/modes",
            "/v1/queue/01JAAAAAAAAAAAAAAAAAAAAAAA", "/v1/observers/o1/notifications",
            "/v1/events?token=o1.AAAA",
        ])
    func unknownParameter(path: String) throws {
        let broker = try Broker()
        let separator = path.contains("?") ? "&" : "?"
        let response = try broker.get("\(path)\(separator)nme=x")
        #expect(response.problem == "invalid-fields")
        #expect(response.json["errors"][0]["parameter"] == "nme")
        #expect(try broker.get("/livez?nme=x").status == 200)
        #expect(try broker.get("/?theme=dark").status == 200)
    }

    @Test("a parameter that may stand once is 422 when it stands twice")
    func repeatedParameter() throws {
        let broker = try Broker()
        #expect(try broker.get("/v1/explain?name=a&name=b").place == "name")
        #expect(
            try broker.request("POST", "/v1/channels/a?object=x&object=y", "").place == "object")
    }

    @Test(
        "percent-encoding that is broken is 400",
        arguments: ["/v1/channels/%zz", "/v1/channels/%4", "/v1/channels/a?object=%g0"])
    func brokenEncoding(target: String) throws {
        #expect(try Broker().request("POST", target, "").problem == "malformed-request")
    }

    @Test("names in paths are split first and decoded then; + is itself")
    func decoding() throws {
        let broker = try Broker()
        let socket = try broker.webSocket()
        try socket.observe(nil)
        for (target, name, object) in [
            ("/v1/channels/a%2Fb", "a/b", nil), ("/v1/channels/a+b?object=c+d", "a+b", "c+d"),
            ("/v1/channels/caf%C3%A9?object=%26", "caf\u{E9}", "&"),
            ("/v1/centers/default/channels/x%20y", "x y", nil),
        ] as [(String, String, String?)] {
            #expect(try broker.request("POST", target, "").status == 200)
            let notification = try #require(try socket.takeNotifications().first)
            #expect(notification["name"].text == name)
            #expect(notification["object"].text == object)
        }
        #expect(try broker.request("POST", "/v1/channels/%FF", "").problem == "malformed-request")
    }

    @Test("answers keep the prefix of the center")
    func prefix() throws {
        let broker = try Broker()
        let socket = try broker.webSocket("/v1/centers/te%20am/ws")
        #expect(socket.welcome["center"] == "te am")
        let body = #"{"name":"a","session":"\#(socket.session)"}"#
        let response = try broker.post(body, target: "/v1/centers/te%20am/observers")
        let location = try #require(response.field("location"))
        #expect(location.hasPrefix("/v1/centers/te%20am/observers/o"))
        #expect(try broker.get(location).status == 200)
        #expect(try broker.request("DELETE", location).status == 204)
        let default1 = try broker.webSocket("/v1/centers/default/ws")
        let other = #"{"name":"a","session":"\#(default1.session)"}"#
        let second = try broker.post(other, target: "/v1/centers/default/observers")
        #expect(second.field("location")?.hasPrefix("/v1/centers/default/observers/") == true)
    }

    @Test(
        "the name of a center follows the rules of names",
        arguments: ["%00", "%7F", String(repeating: "x", count: 256)])
    func centerName(name: String) throws {
        let response = try Broker().get("/v1/centers/\(name)/observers")
        #expect(response.problem == "invalid-fields")
        #expect(response.place == "center")
    }

    @Test(
        "the files of the broker have their types",
        arguments: [
            ("/", "text/html; charset=utf-8"), ("/belfry.js", "text/javascript; charset=utf-8"),
            ("/desk", "text/html; charset=utf-8"),
            ("/desk-worker.js", "text/javascript; charset=utf-8"),
            ("/openapi.yaml", "application/yaml"), ("/asyncapi.yaml", "application/yaml"),
            ("/openapi.json", "application/json"),
        ])
    func assets(path: String, type: String) throws {
        let response = try Broker().get(path)
        #expect(response.status == 200)
        #expect(response.field("content-type") == type)
        #expect(!response.body.isEmpty)
    }

    @Test("the debug echo answers its body, when it exists")
    func echo() throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let response = try broker.request("POST", "/debug/echo?x=1", "hello")
        #expect(response.text == "hello")
        let chunked = try broker.http()
        try chunked.send(
            "POST /debug/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")
        #expect(try chunked.read()?.text == "hello")
    }
}

@Suite("Origin and Host (decision 59)")
struct OriginAndHostTests {
    static let changing = [
        ("POST", "/v1/channels/a"), ("POST", "/v1/notifications"), ("POST", "/v1/observers"),
        ("DELETE", "/v1/observers/o1.x"), ("DELETE", "/v1/clients/c1"), ("GET", "/v1/ws"),
        ("GET", "/v1/events"), ("GET", "/v1/centers/team/ws"), ("GET", "/v1/centers/team/events"),
        ("POST", "/debug/echo"), ("GET", "/debug/ws"),
    ]

    @Test(
        "a foreign page may change nothing and observe nothing", arguments: changing,
        ["https://evil.example", "null", "http://localhost.evil", "nonsense"])
    func foreign(request: (method: String, path: String), origin: String) throws {
        let broker = try Broker { $0.hasDebugEndpoints = true }
        let body = request.method == "POST" ? "{}" : nil
        let fields = request.path.hasSuffix("ws") ? SocketPeer.openingFields : []
        let response = try broker.request(
            request.method, request.path, body, fields: fields + ["Origin: \(origin)"])
        #expect(response.problem == "foreign-origin")
        #expect(response.status == 403)
        #expect(response.field("access-control-allow-origin") == nil)
    }

    static let reading = [
        "/v1/observers", "/v1/channels", "/v1/clients", "/v1/centers", "/v1/queue", "/v1/modes",
        "/v1/explain?name=a", "/v1/reports/leaks", "/v1/centers/new/events?name=a",
        "/v1/observers/o1.x/notifications", "/metrics",
    ]

    /// The fields of a browser's request: its origin, for answers to scripts, and its distance.
    static let foreignPages = [
        ["Origin: https://evil.example"], ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-site"], ["sec-fetch-site: cross-site", "Sec-Fetch-Mode: navigate"],
        ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"],
        ["Origin: null", "Sec-Fetch-Site: same-origin"],
    ]

    @Test("a foreign page reads nothing, and makes no center", arguments: reading, foreignPages)
    func foreignReading(path: String, page: [String]) throws {
        let broker = try Broker()
        for method in ["GET", "HEAD"] {
            let response = try broker.request(method, path, fields: page)
            if method == "HEAD", response.status == 405 { continue }
            #expect(response.status == 403)
            if method == "GET" { #expect(response.problem == "foreign-origin") }
            #expect(response.field("access-control-allow-origin") == nil)
        }
        #expect(broker.shared.totals.centerCount.load(ordering: .relaxed) == 1)
    }

    @Test("a foreign page posts nothing, whatever its browser tells of it", arguments: foreignPages)
    func foreignPosting(page: [String]) throws {
        let broker = try Broker()
        #expect(try broker.request("POST", "/v1/channels/a", "{}", fields: page).status == 403)
        #expect(try broker.get("/v1/channels").json["channels"].elements.isEmpty)
    }

    @Test("health and files are for every page", arguments: foreignPages)
    func openToPages(page: [String]) throws {
        let broker = try Broker()
        for path in ["/", "/belfry.js", "/console/main.js", "/openapi.yaml", "/livez", "/readyz"] {
            #expect(try broker.get(path, fields: page).status == 200)
        }
        #expect(try broker.request("OPTIONS", "/v1/observers", fields: page).status == 204)
    }

    @Test(
        "pages of the list, and what is typed or the broker's own, may read and post",
        arguments: [
            (
                ["Origin: https://app.example", "Sec-Fetch-Site: cross-site"],
                ["https://app.example"]
            ),
            (["Origin: http://localhost:3000", "Sec-Fetch-Site: same-site"], []),
            (["Sec-Fetch-Site: same-origin"], []), (["Sec-Fetch-Site: none"], []),
            (["Origin: http://localhost", "Sec-Fetch-Site: same-origin"], []),
            (["Sec-Fetch-Site: cross-site"], ["*"]),
        ])
    func knownPages(page: [String], list: [String]) throws {
        let broker = try Broker { $0.allowedOrigins = list }
        #expect(try broker.get("/v1/observers", fields: page).status == 200)
        #expect(try broker.events("/v1/events?name=a", fields: page).head.status == 200)
        #expect(try broker.request("POST", "/v1/channels/a", "{}", fields: page).status == 200)
    }

    @Test(
        "pages of the own origin, of this machine and of the list may post",
        arguments: [
            ("http://localhost:8080", "localhost:8080", true),
            ("http://127.0.0.1:3000", "localhost", true),
            ("https://app.example", "localhost", true),
            ("https://x.team.example", "localhost", true),
            ("http://app.example", "localhost", false),
            ("https://team.example", "localhost", false),
        ])
    func allowed(origin: String, host: String, isAllowed: Bool) throws {
        let broker = try Broker {
            $0.allowedOrigins = ["https://app.example", "https://*.team.example"]
        }
        let response = try broker.request(
            "POST", "/v1/channels/a", "{}", fields: ["Host: \(host)", "Origin: \(origin)"])
        #expect(response.status == (isAllowed ? 200 : 403))
        #expect(response.field("access-control-allow-origin") == (isAllowed ? origin : nil))
        if isAllowed { #expect(response.field("vary")?.contains("Origin") == true) }
    }

    @Test("a preflight is told methods and headers, a foreign one nothing")
    func preflight() throws {
        let broker = try Broker { $0.allowedOrigins = ["https://app.example"] }
        let asks = ["Access-Control-Request-Method: POST"]
        let allowed = try broker.request(
            "OPTIONS", "/v1/channels/a", fields: asks + ["Origin: https://app.example"])
        #expect(allowed.status == 204)
        #expect(allowed.field("access-control-allow-origin") == "https://app.example")
        #expect(allowed.field("access-control-allow-methods")?.contains("POST") == true)
        let headers = allowed.field("access-control-allow-headers") ?? ""
        for name in ["Content-Type", "Prefer", "Belfry-Token", "Belfry-Session", "Last-Event-ID"] {
            #expect(headers.contains(name))
        }
        let foreign = try broker.request(
            "OPTIONS", "/v1/channels/a", fields: asks + ["Origin: https://evil.example"])
        #expect(foreign.field("access-control-allow-origin") == nil)
        #expect(foreign.field("access-control-allow-methods") == nil)
    }

    @Test("an allowed page may read a stream's answer")
    func streamForPage() throws {
        let stream = try Broker().events(
            "/v1/events?name=a", fields: ["Origin: http://localhost:3000"])
        #expect(stream.head.values(of: "access-control-allow-origin").count == 1)
    }

    @Test(
        "a host name that is not listed is 421; the port is not compared",
        arguments: [
            ("localhost", true), ("localhost:9999", true), ("127.0.0.1:1", true),
            ("[::1]:8080", true),
            ("bell.example", true), ("BELL.example:81", true), ("evil.example", false),
            ("bell.example.evil", false), ("localhost.evil:8080", false),
        ])
    func host(host: String, isAllowed: Bool) throws {
        let broker = try Broker { $0.allowedHosts = ["bell.example"] }
        for path in ["/livez", "/v1/observers", "/"] {
            let response = try broker.get(path, fields: ["Host: \(host)"])
            #expect(response.status == (isAllowed ? 200 : 421))
            if !isAllowed { #expect(response.problem == "unknown-host") }
        }
    }

    @Test("the host of an absolute target is the one that counts")
    func absoluteTarget() throws {
        let broker = try Broker()
        #expect(try broker.get("http://evil.example/livez").status == 421)
        #expect(try broker.get("http://localhost/livez").status == 200)
    }
}
