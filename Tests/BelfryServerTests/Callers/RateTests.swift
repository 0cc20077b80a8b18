import BelfryLoop
import Testing

@testable import BelfryAccess
@testable import BelfryServer

@Suite("Rates, and connections of an address (decision 38)")
struct RateTests {
    private func limited(
        address: RateLimit? = nil, principal: RateLimit? = nil, loopCount: Int = 1,
        proxies: [String] = []
    ) throws -> Broker {
        try Broker(loopCount: loopCount) {
            $0.addressRate = address
            $0.principalRate = principal
            $0.anonymousGrants = .loopbackDefault
            $0.trustedProxies = proxies.compactMap { Network($0) }
        }
    }

    @Test("at the limit a request is answered, one past it is 429, and time makes room again")
    func address() throws {
        let broker = try limited(address: RateLimit(rate: 2, burst: 3))
        let peer = try broker.http(from: "192.0.2.1")
        for _ in 0..<3 {
            #expect(try peer.request("POST", "/v1/channels/a", "{}").status == 200)
        }
        let refused = try peer.request("POST", "/v1/channels/a", "{}")
        #expect(refused.status == 429)
        #expect(refused.problem == "rate-limited")
        #expect(refused.field("retry-after") == "1")
        #expect(refused.field("ratelimit") == #""address";r=0;t=1"#)
        #expect(refused.field("ratelimit-policy") == #""address";q=3;w=2"#)
        #expect(refused.json["policy"] == "address")
        #expect(refused.json["retryAfter"] == 1)
        try broker.advance(by: .milliseconds(500))
        #expect(try peer.request("POST", "/v1/channels/a", "{}").status == 200)
        #expect(try peer.request("POST", "/v1/channels/a", "{}").status == 429)
    }

    @Test("an address is counted over all its connections and loops; others are not")
    func connections() throws {
        let broker = try limited(address: RateLimit(rate: 1, burst: 2), loopCount: 2)
        #expect(try broker.http(loop: 0, from: "192.0.2.1").request("GET", "/").status == 200)
        #expect(try broker.http(loop: 1, from: "192.0.2.1").request("GET", "/").status == 200)
        #expect(try broker.http(loop: 1, from: "192.0.2.1").request("GET", "/").status == 429)
        #expect(try broker.http(loop: 0, from: "192.0.2.2").request("GET", "/").status == 200)
        for host in ["[2001:db8::1]", "[2001:db8::2]"] {
            #expect(try broker.http(from: host).request("GET", "/").status == 200)
        }
        #expect(try broker.http(from: "[2001:db8::3]").request("GET", "/").status == 429)
        #expect(try broker.http(from: "[2001:db8:0:1::1]").request("GET", "/").status == 200)
    }

    @Test("probes of its health are always answered")
    func probes() throws {
        let broker = try limited(address: RateLimit(rate: 1, burst: 1))
        let peer = try broker.http(from: "192.0.2.1")
        #expect(try peer.request("GET", "/").status == 200)
        for path in ["/livez", "/readyz", "/healthz"] {
            #expect(try peer.request("GET", path).status == 200)
        }
        #expect(try peer.request("GET", "/metrics").status == 429)
    }

    @Test("the items of a batch count, and what they owe is waited for")
    func batch() throws {
        let broker = try limited(address: RateLimit(rate: 1, burst: 5))
        let peer = try broker.http(from: "192.0.2.1")
        let items = [String](repeating: #"{"name":"a"}"#, count: 7).joined(separator: ",")
        let fields = ["Content-Type: application/json"]
        #expect(
            try peer.request("POST", "/v1/notifications", "[\(items)]", fields: fields).status
                == 200)
        let refused = try peer.request("POST", "/v1/notifications", "[]", fields: fields)
        #expect(refused.status == 429)
        // Seven of five: two are owed, and one more must be there.
        #expect(refused.field("retry-after") == "3")
        try broker.advance(by: .seconds(3))
        #expect(try peer.request("POST", "/v1/channels/a", "{}").status == 200)
    }

    @Test("callers without credentials are told apart by address, also where principals count")
    func principal() throws {
        let broker = try limited(principal: RateLimit(rate: 1, burst: 1))
        #expect(try broker.http(from: "192.0.2.1").request("GET", "/v1/modes").status == 200)
        let refused = try broker.http(from: "192.0.2.1").request("GET", "/v1/modes")
        #expect(refused.status == 429)
        #expect(refused.field("ratelimit-policy") == #""principal";q=1;w=1"#)
        #expect(try broker.http(from: "192.0.2.2").request("GET", "/v1/modes").status == 200)
        // Service paths have no caller.
        #expect(try broker.http(from: "192.0.2.1").request("GET", "/").status == 200)
    }

    private func caller(_ name: String) throws -> Caller {
        let digest = try #require(TokenDigest([UInt8](repeating: 1, count: 32)))
        return Caller(principal: Array(name.utf8), grants: .none, origin: .key(digest))
    }

    @Test("principals do not share a bucket, and their address is another matter")
    func tables() throws {
        let tables = RateTables()
        var configuration = ServerConfiguration()
        configuration.addressRate = RateLimit(rate: 1, burst: 100)
        configuration.principalRate = RateLimit(rate: 1, burst: 1)
        tables.adopt(configuration)
        let address = NetworkAddress(ipv4: 0xC000_0201)
        let (ann, bob) = (try caller("ann"), try caller("bob"))
        try tables.take(1, of: ann, at: address, 0)
        try tables.take(1, of: bob, at: address, 0)
        #expect(throws: RateTables.Refusal.self) { try tables.take(1, of: ann, at: address, 0) }
        try tables.take(1, of: .anonymous(.none), at: address, 0)
        // A new limit holds at once, and what was asked for still counts.
        configuration.principalRate = RateLimit(rate: 10, burst: 2)
        tables.adopt(configuration)
        #expect(throws: RateTables.Refusal.self) { try tables.take(1, of: ann, at: address, 0) }
        try tables.take(1, of: ann, at: address, 1_000_000_000)
        configuration.principalRate = nil
        tables.adopt(configuration)
        for _ in 0..<10 { try tables.take(1, of: ann, at: address, 0) }
    }

    @Test("calls over a WebSocket count; the problem is in the error's data")
    func calls() throws {
        let broker = try limited(address: RateLimit(rate: 1, burst: 3))
        let http = try broker.http(from: "192.0.2.1")
        let socket = try SocketPeer(http: http, path: "/v1/ws")
        try socket.result("post", #"{"name":"a"}"#)
        try socket.result("post", #"{"name":"a"}"#)
        let problem = try socket.problem("post", #"{"name":"a"}"#)
        #expect(problem["status"] == 429)
        #expect(problem["retryAfter"] == 1)
        #expect(problem["type"].text?.hasSuffix("/rate-limited") == true)
        try broker.advance(by: .seconds(1))
        try socket.result("post", #"{"name":"a"}"#)
    }

    @Test("behind a listed proxy the client counts, and not what it claims")
    func proxy() throws {
        let broker = try limited(
            address: RateLimit(rate: 1, burst: 1), proxies: ["10.0.0.0/8"])
        func status(_ peer: String, _ field: String) throws -> Int {
            try broker.http(from: peer).request("GET", "/", fields: [field]).status
        }
        #expect(try status("10.0.0.1", "Forwarded: for=192.0.2.1") == 200)
        #expect(try status("10.0.0.2", "X-Forwarded-For: 192.0.2.1") == 429)
        #expect(try status("10.0.0.1", "X-Forwarded-For: 203.0.113.5, 192.0.2.1") == 429)
        #expect(try status("10.0.0.1", "Forwarded: for=192.0.2.2") == 200)
        #expect(try status("192.0.2.3", "Forwarded: for=192.0.2.4") == 200)
        #expect(try status("192.0.2.3", "Forwarded: for=192.0.2.5") == 429)
    }

    @Test("an address has so many connections and no more; a closed one makes room")
    func connectionLimit() throws {
        let broker = try Broker {
            $0.addressConnectionLimit = 2
            $0.trustedProxies = ["10.0.0.1"].compactMap { Network($0) }
        }
        let first = try broker.http(from: "192.0.2.1")
        let second = try broker.http(from: "192.0.2.1")
        #expect(try second.request("GET", "/livez").status == 200)
        let third = try broker.http(from: "192.0.2.1")
        let refused = try #require(try third.read())
        #expect(refused.status == 429)
        #expect(refused.problem == "too-many-connections")
        #expect(refused.field("retry-after") != nil)
        #expect(third.peer.sawEndOfOutput)
        #expect(try broker.http(from: "192.0.2.2").request("GET", "/livez").status == 200)
        first.peer.close()
        try broker.crank()
        #expect(try broker.http(from: "192.0.2.1").request("GET", "/livez").status == 200)
        #expect(try broker.http(from: "192.0.2.1").read()?.status == 429)
        for _ in 0..<5 {
            #expect(try broker.http(from: "10.0.0.1").request("GET", "/livez").status == 200)
        }
    }
}
