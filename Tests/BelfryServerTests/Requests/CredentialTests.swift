import BelfryAccess
import BelfryHTTP
import BelfryLoop
import BelfrySystem
import BelfryWebSocket
import Synchronization
import Testing

@testable import BelfryServer

@Suite("Credentials (RFC 6750, Access.md section 6)")
struct CredentialTests {
    private static let grants = #"[{"verbs":["post","observe","inspect"]}]"#

    private static func base64(_ text: String) -> String {
        String(decoding: Base64.url.encode(Array(text.utf8).span), as: UTF8.self)
    }

    /// A broker with the key `a`, the tokens of a signer, and a clock that tests move.
    private static func broker(
        _ signer: TokenSigner? = nil, verifier: TokenVerifier? = nil, loopCount: Int = 1,
        anonymous: Grants? = Grants.none, _ rules: TokenRules = TokenRules()
    ) async throws -> Broker {
        var keys = Keys()
        keys.add("a", grants)
        keys.add("short", grants, expires: "2026-01-01T00:01:00Z")
        if let signer { keys.add(tokensOf: signer) }
        let keyring = try keys.keyring(rules)
        return try Broker(loopCount: loopCount, verifier: verifier) {
            $0.keyring = keyring
            $0.anonymousGrants = anonymous
        }
    }

    private static func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

    private static func reload(_ broker: Broker, _ keyring: Keyring?) throws {
        for node in broker.nodes {
            var configuration = node.server.outbox.configuration
            configuration.keyring = keyring
            _ = broker.shared.mailboxes[node.server.outbox.number].post(.reload(configuration))
        }
        try broker.crank()
    }

    @Test(
        "credentials come in a field, in any case of its scheme; in no query, and in no other way")
    func field() async throws {
        let broker = try await Self.broker(anonymous: nil)
        let secret = Keys.secret("a")
        func status(_ fields: [String], _ target: String = "/v1/observers") throws -> Int {
            try broker.get(target, fields: fields).status
        }
        for scheme in ["Bearer", "bearer", "BEARER"] {
            #expect(try status(["Authorization: \(scheme) \(secret)"]) == 200)
        }
        let bad = [
            "Bearer", "Bearer ", "Basic YTph", "Token \(secret)", secret, "Bearer \(secret) x",
            "Bearer \(secret)x", "Bearer x\(secret)", "Bearer \(secret.uppercased())",
        ]
        // On loopback anonymous callers may look; a caller with bad credentials is not one of them.
        #expect(try status([]) == 200)
        for value in bad { #expect(try status(["Authorization: \(value)"]) == 401, "\(value)") }
        let field = Self.bearer(secret)
        #expect(try status([field, field]) == 400)
        for name in ["access_token", "token", "ticket", "key"] {
            #expect(try status([], "/v1/observers?\(name)=\(secret)") == 422)
        }
        for target in ["/livez", "/readyz", "/", "/belfry.js", "/openapi.yaml"] {
            #expect(try status(["Authorization: Bearer wrong"], target) == 200)
        }
        #expect(
            try broker.request("OPTIONS", "/v1/observers", fields: ["Authorization: x"]).status
                == 204)
    }

    @Test("a token among the subprotocols is taken, as it is or in base64url, and never echoed")
    func subprotocol() async throws {
        let signer = TokenSigner("k")
        let broker = try await Self.broker(signer)
        let jwt = signer.token("t", endsAfter: 60, grants: Self.grants)
        for token in [Keys.secret("a"), jwt] {
            for text in [token, Self.base64(token)] {
                let http = try broker.http()
                let offer = "belfry.v1, base64url.bearer.belfry.\(text)"
                let peer = try SocketPeer(http: http, path: "/v1/ws", subprotocol: offer)
                #expect(peer.subprotocol == "belfry.v1")
                try peer.observe("Mail")
                let alone = try SocketPeer(
                    http: try broker.http(), path: "/v1/ws",
                    subprotocol: "base64url.bearer.belfry.\(text)")
                #expect(alone.subprotocol == nil)
            }
        }
        func status(_ offer: String, _ fields: [String] = []) throws -> Int {
            try broker.get(
                "/v1/ws",
                fields: SocketPeer.openingFields + ["Sec-WebSocket-Protocol: \(offer)"] + fields
            ).status
        }
        let good = "base64url.bearer.belfry.\(Self.base64(Keys.secret("a")))"
        #expect(try status("belfry.v1, base64url.bearer.belfry.d3Jvbmc") == 401)
        #expect(try status("belfry.v1, base64url.bearer.belfry.!") == 401)
        #expect(try status("belfry.v1, base64url.bearer.belfry.") == 401)
        #expect(try status("belfry.v1, \(good), \(good)") == 400)
        #expect(try status("belfry.v1, \(good)", [Self.bearer(Keys.secret("a"))]) == 400)
        #expect(try status("belfry.v1, \(good)", ["Sec-WebSocket-Protocol: \(good)"]) == 400)
        #expect(try status("belfry.v1") == 401)
    }

    @Test("a ticket opens one stream within 30 s, and nothing else", arguments: [1, 2])
    func ticket(loopCount: Int) async throws {
        let broker = try await Self.broker(loopCount: loopCount)
        let last = loopCount - 1
        let field = [Self.bearer(Keys.secret("a"))]
        func ticket() throws -> String {
            let response = try broker.request("POST", "/v1/tickets", "", fields: field)
            #expect(response.status == 201)
            #expect(response.field("cache-control") == "no-store")
            #expect(response.json.keys == ["ticket", "expiresAt"])
            return response.json["ticket"].text ?? ""
        }
        let first = try ticket()
        let stream = try broker.events("/v1/events?name=Mail&ticket=\(first)", loop: last)
        _ = try broker.request("POST", "/v1/channels/Mail", "", fields: field)
        #expect(try stream.takeNames() == ["Mail"])
        #expect(try broker.get("/v1/events?ticket=\(first)").status == 401)
        let peer = try broker.webSocket("/v1/ws?ticket=\(try ticket())", loop: last)
        try peer.observe("Mail")
        let late = try ticket()
        try broker.advance(by: .seconds(29))
        let fresh = try ticket()
        try broker.advance(by: .seconds(1))
        #expect(try broker.get("/v1/events?ticket=\(late)").status == 401)
        #expect(try broker.get("/v1/observers?ticket=\(fresh)").status == 422)
        #expect(try broker.get("/v1/events?ticket=\(fresh)", fields: field).status == 400)
        #expect(try broker.events("/v1/events?name=a&ticket=\(fresh)").head.status == 200)
        #expect(try broker.request("POST", "/v1/tickets", "").status == 401)
        #expect(try broker.request("POST", "/v1/tickets?x=1", "", fields: field).status == 422)
        let other = try ticket()
        try Self.reload(broker, broker.nodes[0].server.callers.gate.credentials.keyring)
        #expect(try broker.get("/v1/events?ticket=\(other)").status == 401)
    }

    @Test("whatever is wrong with credentials, they are answered alike")
    func shape() async throws {
        let signer = TokenSigner("k")
        let stranger = TokenSigner("other")
        var rules = TokenRules()
        rules.issuers = ["us"]
        let broker = try await Self.broker(signer, rules)
        let us = #","iss":"us""#
        let good = signer.token("t", endsAfter: 60, more: us)
        let bad = [
            "wrong", "", "belfry_" + String(repeating: "A", count: 43), "a.b.c",
            String(repeating: "x", count: 8_000), good + "A",
            String(good.dropLast()) + (good.hasSuffix("A") ? "B" : "A"),
            stranger.token("t", endsAfter: 60, more: us),
            signer.token("t", endsAfter: 60), signer.token("t", endsAfter: 0, more: us),
            signer.token("t", endsAfter: -60, more: us),
            signer.token("t", endsAfter: 60, more: us + #","nbf":\#(Keys.start + 3)"#),
            signer.token("t", endsAfter: 60, more: us + #","aud":"them""#),
            "eyJhbGciOiJub25lIn0." + good.split(separator: ".")[1] + ".",
        ]
        var bodies: Set<String> = []
        for token in bad {
            let response = try broker.request(
                "POST", "/v1/channels/Mail", "", fields: [Self.bearer(token)])
            #expect(response.status == 401, "\(token)")
            bodies.insert(response.text + (response.field("www-authenticate") ?? ""))
        }
        #expect(bodies.count == 1)
        let response = try broker.request(
            "POST", "/v1/channels/Mail", "", fields: [Self.bearer(good)])
        #expect(response.status == 200)
    }

    @Test(
        "a request waits for its verdict, and so does what follows on its connection",
        arguments: [1, 2])
    func waiting(loopCount: Int) async throws {
        let signer = TokenSigner("k")
        let verifier = TokenVerifier()
        let broker = try await Self.broker(signer, verifier: verifier, loopCount: loopCount)
        let jwt = signer.token("t", endsAfter: 60, grants: Self.grants)
        let field = Self.bearer(jwt)
        let last = loopCount - 1
        let observer = try broker.webSocket(fields: [Keys.field("a")])
        try observer.observe("Mail")
        let peer = try broker.http(loop: last)
        let post = HTTPPeer.text("POST", "/v1/channels/Mail", #"{"n":1}"#, fields: [field])
        // Whole, byte by byte, and with what follows already there.
        for byte in post.utf8 { try peer.send(String(decoding: [byte], as: UTF8.self)) }
        try peer.send(HTTPPeer.text("GET", "/livez"))
        try peer.send(HTTPPeer.text("POST", "/v1/channels/Mail", #"{"n":2}"#, fields: [field]))
        let second = try broker.http(loop: last)
        try second.send(post)
        #expect(try peer.read() == nil)
        #expect(try second.read() == nil)
        #expect(try observer.takeNames() == [])
        #expect(verifier.verifyWaiting(broker.shared.mailboxes) == 1)
        try broker.crank()
        #expect(try peer.read()?.status == 200)
        #expect(try peer.read()?.text == "ok\n")
        #expect(try peer.read()?.status == 200)
        #expect(try second.read()?.status == 200)
        #expect(try observer.takeNames() == ["Mail", "Mail", "Mail"])
        #expect(verifier.verifyWaiting(broker.shared.mailboxes) == 0)
        // A stream that waited for its verdict is one like any other.
        let other = signer.token("u", endsAfter: 60, grants: Self.grants)
        let opening = try broker.http(loop: last)
        try opening.send(
            HTTPPeer.text("GET", "/v1/ws", fields: SocketPeer.openingFields + [Self.bearer(other)]))
        #expect(try opening.read() == nil)
        #expect(verifier.verifyWaiting(broker.shared.mailboxes) == 1)
        try broker.crank()
        #expect(try opening.readHead()?.status == 101)
        // One that goes away meanwhile, and one that has nothing more to say.
        let third = signer.token("v", endsAfter: 60, grants: Self.grants)
        let gone = try broker.http(loop: last)
        try gone.send(HTTPPeer.text("GET", "/v1/observers", fields: [Self.bearer(third)]))
        gone.peer.close()
        let half = try broker.http(loop: last)
        try half.send(HTTPPeer.text("GET", "/v1/observers", fields: [Self.bearer(third)]))
        half.peer.halfClose()
        try broker.crank()
        #expect(verifier.verifyWaiting(broker.shared.mailboxes) == 1)
        try broker.crank()
        #expect(try half.read()?.status == 200)
        #expect(half.peer.sawEndOfOutput)
        #expect(broker.nodes[last].server.callers.gate.credentials.waiting.isEmpty)
    }

    @Test("as many tokens as may wait do; one more is 503")
    func verifierLimit() async throws {
        let signer = TokenSigner("k")
        let verifier = TokenVerifier()
        let broker = try await Self.broker(signer, verifier: verifier)
        let token = try broker.nodes[0].server.callers.gate.credentials.keyring.token(
            Array(signer.token("t", endsAfter: 60).utf8))
        let job = TokenVerifier.Job(token: token, digest: TokenDigest(of: [1]), loop: 0)
        for _ in 1..<TokenVerifier.jobLimit { #expect(verifier.submit(job)) }
        let first = try broker.http()
        try first.send(
            HTTPPeer.text(
                "GET", "/v1/observers",
                fields: [Self.bearer(signer.token("x", endsAfter: 60, grants: Self.grants))]))
        #expect(try first.read() == nil)
        let second = try broker.get(
            "/v1/observers", fields: [Self.bearer(signer.token("b", endsAfter: 60))])
        #expect(second.status == 503)
        #expect(verifier.verifyWaiting(broker.shared.mailboxes) == TokenVerifier.jobLimit)
        try broker.crank()
        #expect(try first.read()?.status == 200)
    }

    @Test("a verdict is kept until the token expires")
    func expiry() async throws {
        let signer = TokenSigner("k")
        let broker = try await Self.broker(signer)
        let field = [Self.bearer(signer.token("t", endsAfter: 60))]
        func status() throws -> Int {
            try broker.request("POST", "/v1/channels/a", "", fields: field).status
        }
        #expect(try status() == 200)
        #expect(broker.nodes[0].server.callers.gate.credentials.verdicts.count == 1)
        try broker.advance(by: .milliseconds(59_999))
        #expect(try status() == 200)
        try broker.advance(by: .milliseconds(1))
        #expect(try status() == 401)
    }

    @Test("streams end with the credentials that opened them, and not before", arguments: [1, 2])
    func streamExpiry(loopCount: Int) async throws {
        let signer = TokenSigner("k")
        let broker = try await Self.broker(signer, loopCount: loopCount)
        let last = loopCount - 1
        let jwt = signer.token("t", endsAfter: 60, grants: Self.grants)
        for field in [Keys.field("short"), Self.bearer(jwt)] {
            _ = try broker.get("/v1/observers", fields: [field])
        }
        let keyed = try broker.webSocket(loop: last, fields: [Keys.field("short")])
        let signed = try broker.webSocket(loop: last, fields: [Self.bearer(jwt)])
        let forever = try broker.webSocket(loop: last, fields: [Keys.field("a")])
        let events = try broker.events(
            "/v1/events?name=Mail", loop: last, fields: [Self.bearer(jwt)])
        let registration = try broker.request(
            "POST", "/v1/observers", #"{"name":"Mail"}"#, fields: [Self.bearer(jwt)]
        ).json
        let poll = try broker.http(loop: last)
        try poll.send(
            HTTPPeer.text(
                "GET", "/v1/observers/\(registration["token"].text ?? "")/notifications",
                fields: [Self.bearer(jwt), "Prefer: wait=60"]))
        for _ in 0..<5 {
            try broker.advance(by: .milliseconds(11_900))
            // A client that answers pings stays.
            for peer in [keyed, signed, forever] { try peer.send(.pong, []) }
            #expect(keyed.closeCode == nil)
        }
        #expect(!events.peer.sawEndOfOutput)
        #expect(try poll.read() == nil)
        try broker.advance(by: .milliseconds(750))
        for peer in [keyed, signed] {
            try peer.read()
            #expect(peer.closeCode == 4003)
        }
        try forever.read()
        #expect(forever.closeCode == nil)
        #expect(events.peer.sawEndOfOutput)
        let answer = try poll.read()
        #expect(answer?.status == 200)
        #expect(answer?.json["notifications"] == [])
    }

    @Test("a reload closes the streams of keys that are gone or changed, and keeps the others")
    func reload() async throws {
        let old = TokenSigner("2025")
        let new = TokenSigner("2026")
        let broker = try await Self.broker(old)
        let jwt = Self.bearer(old.token("t", endsAfter: 600, grants: Self.grants))
        let keyed = try broker.webSocket(fields: [Keys.field("a")])
        let short = try broker.webSocket(fields: [Keys.field("short")])
        let signed = try broker.webSocket(fields: [jwt])
        let events = try broker.events("/v1/events?name=Mail", fields: [jwt])
        // A file that cannot be read leaves the keys as they are.
        try Self.reload(broker, nil)
        #expect(try broker.get("/v1/observers", fields: [jwt]).status == 200)
        var keys = Keys()
        keys.add("a", Self.grants)
        keys.add("short", #"[{"verbs":["post"]}]"#, expires: "2026-01-01T00:01:00Z")
        keys.add(tokensOf: new)
        try Self.reload(broker, try keys.keyring())
        for peer in [keyed, short, signed] { try peer.read() }
        #expect(keyed.closeCode == nil)
        #expect(short.closeCode == 4003)
        #expect(signed.closeCode == 4003)
        #expect(events.peer.sawEndOfOutput)
        try keyed.observe("Mail")
        #expect(try broker.get("/v1/observers", fields: [jwt]).status == 401)
        let fresh = Self.bearer(new.token("t", endsAfter: 600, grants: Self.grants))
        #expect(try broker.get("/v1/observers", fields: [fresh]).status == 200)
    }

    @Test("a verdict of a key that went away meanwhile is none")
    func verdictAfterReload() async throws {
        let signer = TokenSigner("k")
        let verifier = TokenVerifier()
        let broker = try await Self.broker(signer, verifier: verifier)
        let peer = try broker.http()
        let field = Self.bearer(signer.token("t", endsAfter: 60))
        try peer.send(HTTPPeer.text("POST", "/v1/channels/a", "", fields: [field]))
        try Self.reload(broker, Keyring())
        #expect(verifier.verifyWaiting(broker.shared.mailboxes) == 1)
        try broker.crank()
        #expect(try peer.read()?.status == 401)
    }

    @Test("where anonymous callers may do nothing any host name is answered, unless some are named")
    func hosts() async throws {
        let open = try await Self.broker()
        let field = Keys.field("a")
        func status(_ broker: Broker) throws -> Int {
            try broker.get("/v1/observers", fields: ["Host: bells.example", field]).status
        }
        #expect(try status(open) == 200)
        let mixed = try await Self.broker(anonymous: Grants([Grant([.post])]))
        #expect(try status(mixed) == 421)
    }

    @Test("another address than loopback takes keys, or the word of the operator")
    func addresses() throws {
        var configuration = ServerConfiguration()
        configuration.listenAddresses = [try #require(.init("0.0.0.0:8080"))]
        #expect(configuration.fault()?.contains("--keys") == true)
        configuration.access.keysPath = "keys.json"
        #expect(configuration.fault() == nil)
        #expect(!configuration.favorsLocalCallers)
        configuration.access.keysPath = nil
        configuration.access.keySetPath = "jwks.json"
        #expect(configuration.fault() == nil)
    }

    @Test("files of keys are read, and their faults name the file and the place")
    func files() throws {
        let path = "/tmp/belfry-keys-\(UInt64.random(in: 0 ... .max)).json"
        var access = AccessConfiguration()
        #expect(try AccessFiles.read(access, log: .silent).isEmpty)
        access.keysPath = path
        do throws(AccessFileFault) {
            _ = try AccessFiles.read(access, log: .silent)
            Issue.record("there is no such file")
        } catch {
            #expect(error.sentence.hasPrefix("the file of --keys cannot be read: "))
        }
    }
}
