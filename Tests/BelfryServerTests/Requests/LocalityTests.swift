import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import Testing

@testable import BelfryServer

@Suite("Callers without credentials that are local, and others (decision 112)")
struct LocalityTests {
    private static let other = SocketOwner.user(SocketOwner.ownUser &+ 33)
    private static let localVerbs = Verbs.names.map(\.name).filter {
        $0 != "admin" && $0 != "forever"
    }

    /// The verbs that a request is told to have.
    private static func verbs(
        _ broker: Broker, _ fields: [String] = [], from address: String? = nil,
        owner: SocketOwner = .user(SocketOwner.ownUser)
    ) throws -> [String] {
        let answer = try broker.http(from: address, owner: owner)
            .request("GET", "/v1/me", fields: fields)
        #expect(answer.status == 200)
        return answer.json["grants"][0]["verbs"].elements.compactMap(\.text)
    }

    private static func reload(
        _ broker: Broker, _ change: (inout ServerConfiguration) -> Void
    ) throws {
        for node in broker.nodes {
            var configuration = node.server.outbox.configuration
            change(&configuration)
            _ = broker.shared.mailboxes[node.server.outbox.number].post(.reload(configuration))
        }
        try broker.crank()
    }

    @Test("a process of the broker's own user or of root is local, and where nothing is told any")
    func owners() throws {
        let broker = try Broker()
        #expect(try Self.verbs(broker) == Self.localVerbs)
        #expect(try Self.verbs(broker, owner: .user(0)) == Self.localVerbs)
        #expect(try Self.verbs(broker, owner: .untold) == Self.localVerbs)
        #expect(try Self.verbs(broker, owner: Self.other) == [])
        #expect(try Self.verbs(broker, owner: .nobody) == [])
        #expect(try Self.verbs(broker, from: "192.0.2.1") == [])
        #expect(try Self.verbs(broker, from: "[::1]") == Self.localVerbs)
    }

    @Test(
        "a request with a field that proxies send is not local",
        arguments: [
            "Forwarded: for=127.0.0.1", "forwarded: ", "FORWARDED: for=unknown",
            "X-Forwarded-For: 127.0.0.1", "x-forwarded-proto: http", "X-Forwarded-: a",
            "X-FORWARDED-HOST: localhost", "X-Forwarded: a", "X-Real-IP: ::1", "x-real-ip:",
            "Via: 1.1 a", "via:", "VIA: a", "CF-Connecting-IP: 127.0.0.1", "cf-ray: 1", "Cf-X:",
        ])
    func fields(field: String) throws {
        let broker = try Broker()
        #expect(try Self.verbs(broker, [field]) == [])
        #expect(try Self.verbs(broker, [field], owner: .untold) == [])
        #expect(try Self.verbs(broker, ["Accept: */*", field, "User-Agent: a"]) == [])
        let open = try Broker { $0.anonymousGrants = Grants([Grant(.post)]) }
        #expect(try Self.verbs(open, [field], owner: Self.other) == ["post"])
    }

    @Test(
        "a field of another name tells nothing",
        arguments: [
            "Viaduct: a", "Vi: a", "CF: a", "CFX: a", "X-Forward: a", "X-Forwarder: a",
            "X-Real-IPs: a", "X-Real-I: a", "Forward: a", "Forwarder: a", "X-Via: a",
            "Ac-Forwarded: a",
        ])
    func otherFields(field: String) throws {
        #expect(try Self.verbs(Broker(), [field]) == Self.localVerbs)
    }

    @Test(
        "a listed proxy of the own user is local where it names a loopback address, and else not",
        arguments: [
            ([], true), (["X-Forwarded-For: 127.0.0.1"], true), (["X-Forwarded-For: ::1"], true),
            (["X-Forwarded-For: [::1]:80"], true), (["X-Forwarded-For: ::ffff:127.0.0.1"], true),
            (["X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1"], true),
            (["Forwarded: for=127.0.0.1;proto=http"], true),
            (["Forwarded: for=\"[::1]\"", "X-Forwarded-For: ::1"], true),
            (["X-Forwarded-For: 127.0.0.1, 127.0.0.1"], true),
            (["X-Forwarded-For: 203.0.113.9"], false),
            (["X-Forwarded-For: 127.0.0.1, 203.0.113.9"], false),
            (["X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 203.0.113.9"], false),
            (["X-Forwarded-For: 203.0.113.9, 127.0.0.1"], false),
            (["X-Forwarded-For: unknown"], false), (["X-Forwarded-For: "], false),
            (["X-Forwarded-For: 127.0.0.1,"], false), (["X-Forwarded-For: _a, 127.0.0.1"], false),
            (["X-Forwarded-For: localhost"], false), (["X-Real-IP: 127.0.0.1"], false),
            (["X-Forwarded-Proto: http"], false), (["Via: 1.1 a"], false),
            (["Forwarded: for=unknown"], false), (["Forwarded: for=_hidden"], false),
            (["Forwarded: for=127.0.0.1", "X-Forwarded-For: 203.0.113.9"], false),
            (["Forwarded: for=203.0.113.9", "X-Forwarded-For: 127.0.0.1"], false),
            (["Forwarded: for=_a", "X-Forwarded-For: 127.0.0.1"], false),
            (["Forwarded: by=127.0.0.1"], false),
        ] as [([String], Bool)])
    func proxies(fields: [String], isLocal: Bool) throws {
        let broker = try Broker {
            $0.trustedProxies = ["127.0.0.1"].compactMap { Network($0) }
        }
        #expect(try Self.verbs(broker, fields) == (isLocal ? Self.localVerbs : []))
        // Whose the proxy is decides as well: the list names every program of the machine.
        #expect(try Self.verbs(broker, fields, owner: Self.other) == [])
        // A peer that is not listed names no client.
        let other = try Broker { $0.trustedProxies = ["10.0.0.1"].compactMap { Network($0) } }
        #expect(try Self.verbs(other, fields) == (fields.isEmpty ? Self.localVerbs : []))
    }

    @Test("the host of a request is no proof")
    func host() throws {
        let broker = try Broker()
        let fields = ["Host: 127.0.0.1:8080"]
        #expect(try Self.verbs(broker, fields, owner: Self.other) == [])
        let foreign = try broker.http().request("GET", "/v1/me", fields: ["Host: bells.example"])
        #expect(foreign.status == 421)
    }

    @Test(
        "who is not local is refused wherever a grant is asked for, and told what helps",
        arguments: [
            ("POST", "/v1/channels/a"), ("POST", "/v1/channels/a?style=asap"),
            ("POST", "/v1/centers/c/channels/a"), ("POST", "/v1/notifications"),
            ("POST", "/v1/observers"), ("POST", "/v1/responders/a/b"), ("GET", "/v1/values/a"),
            ("PUT", "/v1/values/a/b"), ("DELETE", "/v1/values/a"), ("GET", "/v1/values"),
            ("GET", "/v1/observers"), ("GET", "/v1/responders"), ("GET", "/v1/asks"),
            ("GET", "/v1/clients"), ("GET", "/v1/channels"), ("GET", "/v1/queue"),
            ("DELETE", "/v1/queue?name=a"), ("POST", "/v1/modes"), ("GET", "/v1/modes"),
            ("GET", "/v1/explain?name=a"), ("GET", "/v1/reports/leaks"),
            ("GET", "/v1/reports/unmatched"), ("GET", "/v1/events?name=a"),
            ("GET", "/metrics"), ("GET", "/v1/overview"), ("POST", "/v1/backup"),
            ("GET", "/v1/centers/default/overview"), ("DELETE", "/v1/centers/default"),
        ])
    func routes(method: String, target: String) throws {
        let broker = try Broker()
        try broker.post(name: "a")
        let body: String? =
            switch (method, target) {
            case ("POST", "/v1/notifications"): #"{"name":"a"}"#
            case ("POST", "/v1/observers"): #"{"name":"a"}"#
            case ("POST", "/v1/modes"): #"{"mode":"m"}"#
            case ("POST", _), ("PUT", _): "{}"
            default: nil
            }
        let fields = ["Content-Type: application/json"]
        for (owner, more) in [
            (Self.other, []), (.nobody, []), (.user(SocketOwner.ownUser), ["Via: 1.1 a"]),
        ] {
            let answer = try broker.http(owner: owner)
                .request(method, target, body, fields: fields + more)
            #expect(answer.status == 401)
            #expect(answer.problem == "credentials-missing")
            #expect(answer.field("www-authenticate") == #"Bearer realm="belfry""#)
            let detail = answer.json["detail"].text ?? ""
            for option in ["--keys", "--trust-proxy", "--anonymous-grants"] {
                #expect(detail.contains(option))
            }
        }
        #expect(try broker.get("/v1/channels").json["channels"].elements.count <= 1)
    }

    @Test("tickets are for credentials, and a WebSocket does not open")
    func openings() throws {
        let broker = try Broker()
        let peer = try broker.http(owner: Self.other)
        #expect(try peer.request("POST", "/v1/tickets").status == 401)
        let opening = SocketPeer.openingFields + ["Sec-WebSocket-Protocol: belfry.v1"]
        #expect(try peer.request("GET", "/v1/ws", fields: opening).status == 401)
        // Files and health are public.
        for target in ["/livez", "/readyz", "/", "/belfry.js", "/try?name=a"] {
            #expect(try peer.request("GET", target).status == 200)
        }
    }

    @Test(
        "a head that another connection has sent decides nothing for this one",
        arguments: [
            "/v1/channels/a", "/v1/channels/a?object=o", "/v1/channels/a?style=asap",
            "/v1/values/a/b",
        ])
    func repeatedHeads(target: String) throws {
        let broker = try Broker()
        let method = target.contains("values") ? "PUT" : "POST"
        let own = try broker.http()
        let strange = try broker.http(owner: Self.other)
        func status(_ peer: HTTPPeer) throws -> Int {
            try peer.request(method, target, "{}").status
        }
        func isGood(_ status: Int) -> Bool { 200..<300 ~= status }
        #expect(try status(strange) == 401)
        for _ in 0..<3 {
            #expect(isGood(try status(own)))
            #expect(try status(strange) == 401)
            #expect(try status(strange) == 401)
            #expect(isGood(try status(own)))
            #expect(isGood(try status(own)))
            #expect(isGood(try status(try broker.http())))
            #expect(try status(try broker.http(owner: .nobody)) == 401)
        }
    }

    @Test("each request of a connection is looked at for itself")
    func eachRequest() throws {
        let broker = try Broker()
        let peer = try broker.http()
        for _ in 0..<2 {
            #expect(try peer.request("POST", "/v1/channels/a", "{}").status == 200)
            let passedOn = try peer.request(
                "POST", "/v1/channels/a", "{}", fields: ["X-Forwarded-For: 192.0.2.1"])
            #expect(passedOn.status == 401)
            #expect(try peer.request("POST", "/v1/channels/a", "{}").status == 200)
        }
    }

    @Test("who shows a key has its grants, wherever they are")
    func keys() throws {
        var file = Keys()
        file.add("a", #"[{"verbs":["post"]}]"#)
        let keyring = try file.keyring()
        let broker = try Broker { $0.keyring = keyring }
        let key = [Keys.field("a"), "X-Forwarded-For: 192.0.2.1"]
        #expect(try Self.verbs(broker, key, owner: Self.other) == ["post"])
        #expect(try Self.verbs(broker) == Self.localVerbs)
        #expect(try Self.verbs(broker, owner: Self.other) == [])
        #expect(try broker.http(owner: Self.other).request("GET", "/v1/values").status == 401)
    }

    @Test("what a local caller asks is no business of one that is not local")
    func asks() throws {
        let broker = try Broker()
        let responder = try broker.webSocket()
        try responder.result("addObserver", #"{"object":"a","implements":["b"]}"#)
        let fields = ["Content-Type: application/json", "Prefer: respond-async"]
        let asked = try broker.request(
            "POST", "/v1/responders/a/b?ttl=60", "{}", fields: fields)
        let id = try #require(asked.json["id"].text)
        #expect(asked.status == 202)
        let strange = try broker.http(owner: Self.other)
        #expect(try strange.request("GET", "/v1/notifications/\(id)").status == 404)
        #expect(try strange.request("DELETE", "/v1/notifications/\(id)").status == 404)
        #expect(try broker.get("/v1/notifications/\(id)").status == 200)
        #expect(try broker.request("DELETE", "/v1/notifications/\(id)").status == 204)
    }

    @Test("a WebSocket keeps what its opening decided, also where the grants change")
    func streams() throws {
        let broker = try Broker()
        let own = try broker.webSocket()
        #expect(try own.result("post", #"{"name":"a"}"#)["seq"] != .null)
        // It was opened where all had these grants, and its owner was not looked up.
        try Self.reload(broker) { $0.anonymousGrants = Grants([Grant([.post, .observe])]) }
        let peer = try broker.http(owner: Self.other)
        let strange = try SocketPeer(http: peer, path: "/v1/ws")
        #expect(try strange.result("post", #"{"name":"a"}"#)["seq"] != .null)
        try Self.reload(broker) { $0.anonymousGrants = nil }
        let refused = try strange.problem("post", #"{"name":"a"}"#)
        #expect(refused["status"] == 401)
        #expect(try own.result("post", #"{"name":"a"}"#)["seq"] != .null)
    }

    @Test("the log tells of one of them a minute, without a word that a client has written")
    func log() throws {
        let lines = LogLines()
        let broker = try Broker(log: lines.log(.warning))
        func told(_ fields: [String] = [], owner: SocketOwner = Self.other) throws -> [String] {
            _ = try broker.http(owner: owner).request("GET", "/v1/values", fields: fields)
            return lines.take().filter { $0.hasPrefix("a caller without credentials") }
        }
        let first = try told()
        #expect(first.count == 1)
        #expect(first[0].contains("user \(SocketOwner.ownUser &+ 33) "))
        for option in ["127.0.0.1:", "--keys", "--trust-proxy", "--anonymous-grants"] {
            #expect(first[0].contains(option))
        }
        #expect(try told().isEmpty)
        try broker.advance(by: .seconds(59))
        #expect(try told().isEmpty)
        try broker.advance(by: .seconds(2))
        let field = try told(["X-Forwarded-Secret: 1"], owner: .user(0))
        #expect(field.count == 1)
        #expect(field[0].contains("X-Forwarded-*") && field[0].contains("untoldBefore=2"))
        #expect(!field[0].contains("Secret"))
    }
}
