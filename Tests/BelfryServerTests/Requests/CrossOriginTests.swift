import BelfryAccess
import BelfryHTTP
import BelfryServer
import Testing

@Suite("Pages of other origins (Fetch standard), and proxies in between")
struct CrossOriginTests {
    private static let page = "https://app.example"

    private func broker() throws -> Broker {
        try Broker {
            $0.anonymousGrants = .loopbackDefault
            $0.allowedOrigins = [Self.page]
            $0.allowedHosts = ["bell.example"]
            $0.trustedProxies = ["127.0.0.0/8"].compactMap { Network($0) }
        }
    }

    /// Whether one of the `Vary` fields names the origin.
    private static func varies(_ response: Response) -> Bool {
        response.head.values(of: "vary").contains { line in
            let value = response.head.value(in: line)
            return value.indices.map { value[$0] }.elementsEqual("Origin".utf8)
        }
    }

    @Test(
        "an answer that depends on the origin says so, whoever asks",
        arguments: [
            ("GET", "/v1/modes", nil, true, nil), ("GET", "/livez", nil, true, nil),
            ("GET", "/v1/modes", page, true, page), ("GET", "/openapi.yaml", page, true, page),
            ("GET", "/v1/modes", "https://evil.example", true, nil),
            ("GET", "/nothing", page, true, page), ("GET", "/v1/queue/x", page, true, page),
            ("POST", "/v1/channels/a", page, true, page),
            ("POST", "/v1/channels/a", nil, false, nil),
            ("POST", "/v1/channels/a", "https://evil.example", true, nil),
            ("PUT", "/v1/channels/a", page, true, page), ("OPTIONS", "/v1/modes", nil, true, nil),
        ] as [(String, String, String?, Bool, String?)])
    func vary(
        method: String, target: String, origin: String?, varies: Bool, allowed: String?
    ) throws {
        let fields = origin.map { ["Origin: \($0)"] } ?? []
        let body = method == "POST" ? "{}" : nil
        let response = try broker().request(method, target, body, fields: fields)
        #expect(Self.varies(response) == varies)
        #expect(response.field("access-control-allow-origin") == allowed)
        #expect(response.field("access-control-allow-credentials") == nil)
        if allowed != nil {
            let exposed = response.field("access-control-expose-headers") ?? ""
            for name in ["Location", "Retry-After", "RateLimit", "Idempotency-Replayed"] {
                #expect(exposed.contains(name))
            }
        }
    }

    @Test("a preflight of a private network is told that the broker knows it is one")
    func privateNetwork() throws {
        let asks = ["Access-Control-Request-Method: POST", "Origin: \(Self.page)"]
        let network = "Access-Control-Request-Private-Network: true"
        let answer = try broker().request("OPTIONS", "/v1/channels/a", fields: asks + [network])
        #expect(answer.field("access-control-allow-private-network") == "true")
        #expect(answer.field("access-control-max-age") == "600")
        let plain = try broker().request("OPTIONS", "/v1/channels/a", fields: asks)
        #expect(plain.field("access-control-allow-private-network") == nil)
        let foreign = try broker().request(
            "OPTIONS", "/v1/channels/a",
            fields: [
                "Access-Control-Request-Method: POST", "Origin: https://evil.example", network,
            ])
        #expect(foreign.field("access-control-allow-private-network") == nil)
        #expect(Self.varies(foreign))
    }

    @Test(
        "the own origin is the one that the client asked a listed proxy for",
        arguments: [
            (
                "127.0.0.1", "https://bell.example", "for=192.0.2.1;proto=https;host=bell.example",
                200
            ),
            (
                "127.0.0.1", "http://bell.example", "for=192.0.2.1;proto=https;host=bell.example",
                403
            ),
            ("127.0.0.1", "https://bell.example", "for=192.0.2.1;host=bell.example", 403),
            (
                "127.0.0.1", "https://bell.example", "for=192.0.2.1;proto=https;host=evil.example",
                421
            ),
            (
                "127.0.0.1", "https://bell.example:8443",
                "for=192.0.2.1;proto=https;host=\"bell.example:8443\"", 200
            ),
            (
                "192.0.2.9", "https://bell.example", "for=192.0.2.1;proto=https;host=bell.example",
                403
            ),
            (
                "192.0.2.9", "https://evil.example", "for=192.0.2.1;proto=https;host=evil.example",
                403
            ),
        ])
    func proxies(peer: String, origin: String, forwarded: String, status: Int) throws {
        let response = try broker().http(from: peer).request(
            "POST", "/v1/channels/a", "{}",
            fields: ["Origin: \(origin)", "Forwarded: \(forwarded)"])
        #expect(response.status == status)
        #expect(Self.varies(response))
    }
}
