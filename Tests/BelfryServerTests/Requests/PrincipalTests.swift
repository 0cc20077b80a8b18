import BelfryAccess
import BelfryLoop
import Testing

@testable import BelfryServer

@Suite("Principals: what one may take from others, and whom nobody can claim to be")
struct PrincipalTests {
    private static let grants = #"[{"verbs":["post","observe","inspect"]}]"#

    private static func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

    private static func broker(
        _ signer: TokenSigner? = nil,
        _ adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> Broker {
        var keys = Keys()
        keys.add("a", grants)
        keys.add("b", grants)
        keys.add("till-1", principal: "till", grants)
        keys.add("none", "[]")
        if let signer { keys.add(tokensOf: signer) }
        let keyring = try keys.keyring()
        return try Broker {
            $0.keyring = keyring
            $0.anonymousGrants = Grants.none
            adjust(&$0)
        }
    }

    // MARK: Tickets

    @Test("at its share a principal has all its tickets, past it the oldest goes")
    func tickets() async throws {
        // A hundredth of 10,000.
        let broker = try await Self.broker { $0.principalShare = 1 }
        func tickets(_ count: Int, _ key: String) throws -> [String] {
            let peer = try broker.http()
            return try (0..<count).map { _ in
                let response = try peer.request(
                    "POST", "/v1/tickets", "", fields: [Keys.field(key)])
                return response.json["ticket"].text ?? ""
            }
        }
        func isGood(_ ticket: String) throws -> Bool {
            try broker.get("/v1/events?ticket=\(ticket)&name=a&x=1").status == 422
        }
        let other = try tickets(1, "b")[0]
        let share = try tickets(100, "a")
        #expect(try isGood(share[0]))
        // One was used, so the first of two more finds room.
        let more = try tickets(2, "a")
        let isGoodNow = try [share[1], share[2], more[0], more[1]].map { try isGood($0) }
        #expect(isGoodNow == [false, true, true, true])
        #expect(try isGood(other))
    }

    @Test("one without any grant that asks for very many takes them from nobody")
    func manyTickets() async throws {
        let broker = try await Self.broker()
        let greedy = try broker.http()
        for _ in 0..<20 {
            let request = HTTPPeer.text("POST", "/v1/tickets", "", fields: [Keys.field("none")])
            try greedy.send(String(repeating: request, count: 600))
            while let response = try greedy.read() { #expect(response.status == 201) }
        }
        for _ in 0..<100 {
            let response = try broker.request(
                "POST", "/v1/tickets", "", fields: [Keys.field("a")])
            #expect(response.status == 201)
        }
    }

    @Test("a ticket counts for the rate of its principal")
    func ticketRate() async throws {
        let broker = try await Self.broker { $0.principalRate = RateLimit(rate: 1, burst: 2) }
        func status(_ key: String) throws -> Int {
            try broker.request("POST", "/v1/tickets", "", fields: [Keys.field(key)]).status
        }
        #expect(try [status("a"), status("a"), status("a"), status("b")] == [201, 201, 429, 201])
        try broker.advance(by: .seconds(1))
        #expect(try status("a") == 201)
    }

    // MARK: Sessions

    @Test("the session of another principal registers nothing", arguments: ["socket", "mailbox"])
    func session(kind: String) async throws {
        let broker = try await Self.broker()
        func register(_ members: String, _ key: String) throws -> Response {
            try broker.request(
                "POST", "/v1/observers", "{\(members)}",
                fields: ["Content-Type: application/json", Keys.field(key)])
        }
        let session: String
        if kind == "socket" {
            session = try broker.webSocket(fields: [Keys.field("a")]).session
        } else {
            session = try register(#""name":"x""#, "a").json["session"].text ?? ""
        }
        let members = #""name":"y","session":"\#(session)""#
        let refused = try register(members, "b")
        #expect(refused.status == 403)
        #expect(refused.problem == "forbidden")
        #expect(try register(members, "a").status == 201)
        #expect(
            try broker.get("/v1/observers?name=y", fields: [Keys.field("a")])
                .json["observers"].elements.count == 1)
    }

    // MARK: Names

    @Test("a token cannot have the name of a key, of a client, or of what the broker names itself")
    func subjects() async throws {
        let signer = TokenSigner("k")
        let broker = try await Self.broker(signer)
        func status(_ subject: String) throws -> Int {
            let token = signer.token(subject, endsAfter: 60, grants: Self.grants)
            return try broker.get("/v1/observers", fields: [Self.bearer(token)]).status
        }
        for subject in ["a", "till-1", "till", "c1", "c18446744073709551616", "jwt:k", "broker"] {
            #expect(try status(subject) == 401, "\(subject)")
        }
        for subject in ["c", "c1x", "C1", "o1", "ab", "tills", "jwt"] {
            #expect(try status(subject) == 200, "\(subject)")
        }
    }

    @Test("a token whose name a key gets at a reload is good no longer, and its streams end")
    func laterKey() async throws {
        let signer = TokenSigner("k")
        let broker = try await Self.broker(signer)
        let token = signer.token("later", endsAfter: 60, grants: Self.grants)
        let socket = try broker.webSocket(fields: [Self.bearer(token)])
        var keys = Keys()
        keys.add("later", Self.grants)
        keys.add(tokensOf: signer)
        var configuration = broker.nodes[0].server.outbox.configuration
        configuration.keyring = try keys.keyring()
        _ = broker.shared.mailboxes[0].post(.reload(configuration))
        try broker.crank()
        try socket.read()
        #expect(socket.closeCode == 4003)
        #expect(try broker.get("/v1/observers", fields: [Self.bearer(token)]).status == 401)
    }

    // MARK: Lifetimes

    @Test("who is away has no connection that an observer could end with", arguments: [1, 2])
    func away(loopCount: Int) throws {
        let broker = try Broker(loopCount: loopCount)
        let socket = try broker.webSocket(loop: loopCount - 1)
        try #require(try socket.result("addObserver", #"{"name":"keep","lease":60}"#).has("token"))
        func register(_ more: String) throws -> Response {
            try broker.post(
                #"{"name":"n","session":"\#(socket.session)"\#(more)}"#, target: "/v1/observers")
        }
        #expect(try register(#","lifetime":"connection""#).status == 201)
        socket.peer.close()
        try broker.crank()
        for lease in ["", #","lease":null"#, #","lease":60"#] {
            let refused = try register(#","lifetime":"connection"\#(lease)"#)
            #expect(refused.status == 422)
            #expect(refused.place == "#/lifetime")
        }
        #expect(try register(#","lifetime":"token","lease":60"#).status == 201)
        let rows = try broker.get("/v1/observers").json["observers"].elements
        #expect(rows.compactMap { $0["name"].text }.sorted() == ["keep", "n"])
    }
}
