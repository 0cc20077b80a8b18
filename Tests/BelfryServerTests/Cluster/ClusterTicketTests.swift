import BelfryAccess
import BelfryCenter
import BelfryCluster
import BelfryLoop
import SimulatedLog
import Testing

@testable import BelfryServer

@Suite("Tickets of brokers that share a log")
struct ClusterTicketTests {
    private static let grants = #"[{"verbs":["post","observe","inspect"]}]"#

    /// Brokers with the key `a` and the tokens of a signer.
    private static func cluster(
        count: Int = 2, level: UInt64? = nil, _ signer: TokenSigner = TokenSigner("k"),
        _ adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> BrokerCluster {
        var keys = Keys()
        keys.add("a", grants)
        keys.add("b", grants)
        keys.add(tokensOf: signer)
        let keyring = try keys.keyring()
        return try BrokerCluster(count: count, level: level) {
            $0.keyring = keyring
            $0.anonymousGrants = Grants.none
            adjust(&$0)
        }
    }

    private static func ticket(
        of broker: Broker, _ field: String = Keys.field("a")
    ) throws -> String {
        let response = try broker.request("POST", "/v1/tickets", "", fields: [field])
        #expect(response.status == 201)
        #expect(response.field("cache-control") == "no-store")
        #expect(response.json.keys == ["ticket", "expiresAt"])
        return response.json["ticket"].text ?? ""
    }

    /// The status of a request that shows a ticket, and asks for a stream that there cannot be.
    private static func status(_ ticket: String, at broker: Broker) throws -> Int {
        try broker.get("/v1/events?ticket=\(ticket)&name=a&x=1").status
    }

    @Test("a ticket of one broker opens a stream at another, once, for a key and for a token")
    func crossing() throws {
        let signer = TokenSigner("k")
        let cluster = try Self.cluster(count: 3, signer)
        let token = signer.token("t", endsAfter: 60, grants: Self.grants)
        for field in [Keys.field("a"), "Authorization: Bearer \(token)"] {
            let ticket = try Self.ticket(of: cluster[0], field)
            let stream = try cluster[1].events("/v1/events?name=Mail&ticket=\(ticket)")
            _ = try cluster[2].request("POST", "/v1/channels/Mail", "", fields: [field])
            #expect(try stream.takeNames() == ["Mail"])
            for broker in cluster.brokers { #expect(try Self.status(ticket, at: broker) == 401) }
        }
        let peer = try cluster[2].webSocket(
            "/v1/ws?ticket=\(try Self.ticket(of: cluster[1]))")
        _ = try peer.observe("Mail")
        let listed = try cluster[0].get("/v1/clients", fields: [Keys.field("a")]).json
        #expect(Set(listed["clients"].elements.map { $0["principal"].text }) == ["a", "t"])
    }

    @Test("a ticket is good for 30 s, at the broker that made it and at others")
    func lifetime() throws {
        let cluster = try Self.cluster()
        let tickets = try (0..<3).map { _ in try Self.ticket(of: cluster[0]) }
        try cluster.advance(by: 29_000)
        #expect(try Self.status(tickets[0], at: cluster[1]) == 422)
        try cluster.advance(by: 1_100)
        #expect(try Self.status(tickets[1], at: cluster[0]) == 401)
        #expect(try Self.status(tickets[2], at: cluster[1]) == 401)
    }

    @Test("a broker that is behind finds the ticket, and does not refuse it")
    func behind() throws {
        let cluster = try Self.cluster()
        cluster.journals[1].isCut = true
        let ticket = try Self.ticket(of: cluster[0])
        cluster.journals[1].isCut = false
        #expect(try Self.status(ticket, at: cluster[1]) == 422)
    }

    @Test("of two that show one ticket at the same time one is let in", arguments: [1, 2])
    func race(brokerCount: Int) throws {
        let cluster = try Self.cluster()
        for _ in 0..<4 {
            let ticket = try Self.ticket(of: cluster[0])
            let peers = try (0..<2).map { try cluster[brokerCount == 2 ? $0 : 1].http() }
            // The content comes later, so that both heads were read before either request is whole.
            let request = HTTPPeer.text("GET", "/v1/events?ticket=\(ticket)&x=1", "{}")
            for peer in peers { try peer.send(String(request.dropLast(2))) }
            for peer in peers { peer.peer.send(Array("{}".utf8)) }
            try cluster.crank()
            let statuses = try peers.map { try $0.read()?.status ?? 0 }
            #expect(statuses.sorted() == [401, 422])
        }
    }

    @Test("tickets that nobody has made cost the log an empty entry at a time")
    func unknown() throws {
        let cluster = try Self.cluster()
        let peers = try (0..<50).map { _ in try cluster[0].http() }
        let before = cluster[0].nodes[0].server.host.centers.logIndex ?? 0
        for (number, peer) in peers.enumerated() {
            peer.peer.send(
                Array(HTTPPeer.text("GET", "/v1/events?ticket=unknown\(number)", "").utf8))
        }
        try cluster.crank()
        for peer in peers { #expect(try peer.read()?.status == 401) }
        let after = cluster[0].nodes[0].server.host.centers.logIndex ?? 0
        #expect(after - before <= 3)
    }

    @Test("of what a principal may have its oldest ticket goes, and others keep theirs")
    func share() throws {
        let cluster = try Self.cluster { $0.principalShare = 1 }
        let other = try Self.ticket(of: cluster[1], Keys.field("b"))
        let peers = try cluster.brokers.map { try $0.http() }
        let tickets = try (0..<101).map { number in
            let response = try peers[number % 2].request(
                "POST", "/v1/tickets", "", fields: [Keys.field("a")])
            return response.json["ticket"].text ?? ""
        }
        #expect(try Self.status(tickets[0], at: cluster[0]) == 401)
        #expect(try Self.status(tickets[1], at: cluster[0]) == 422)
        #expect(try Self.status(other, at: cluster[0]) == 422)
    }

    @Test("a broker whose keys do not know the holder any more refuses the ticket")
    func reload() throws {
        let cluster = try Self.cluster()
        let ticket = try Self.ticket(of: cluster[0])
        var keys = Keys()
        keys.add("b", Self.grants)
        var configuration = cluster[1].nodes[0].server.outbox.configuration
        configuration.keyring = try keys.keyring()
        _ = cluster[1].shared.mailboxes[0].post(.reload(configuration))
        try cluster.crank()
        #expect(try Self.status(ticket, at: cluster[1]) == 401)
    }

    @Test("while the log has level 1, a ticket is good at the broker that made it")
    func levelOne() throws {
        let cluster = try Self.cluster(level: 1)
        let tickets = try (0..<2).map { _ in try Self.ticket(of: cluster[0]) }
        #expect(try Self.status(tickets[0], at: cluster[1]) == 401)
        #expect(try Self.status(tickets[0], at: cluster[0]) == 422)
        #expect(try Self.status(tickets[0], at: cluster[0]) == 401)
    }

    @Test("a broker that cannot reach the log says so, and not that a ticket is bad")
    func cutOff() throws {
        let cluster = try Self.cluster()
        let tickets = try (0..<2).map { _ in try Self.ticket(of: cluster[0]) }
        let (known, unknown, maker) = (
            try cluster[1].http(), try cluster[1].http(), try cluster[1].http()
        )
        cluster.journals[1].isCut = true
        try known.send(HTTPPeer.text("GET", "/v1/events?ticket=\(tickets[0])", ""))
        try unknown.send(HTTPPeer.text("GET", "/v1/events?ticket=x", ""))
        try maker.send(HTTPPeer.text("POST", "/v1/tickets", "", fields: [Keys.field("a")]))
        try cluster.advance(by: 2_500)
        let used = try #require(try known.read())
        #expect(used.status == 504)
        #expect(used.problem == "outcome-unknown")
        #expect(used.json["detail"].text?.contains("another ticket") == true)
        #expect(try unknown.read()?.status == 503)
        #expect(try maker.read()?.status == 503)
        // The log was handed the use of the first.
        let late = try cluster[1].get("/v1/events?ticket=\(tickets[1])")
        #expect(late.status == 503)
        #expect(late.json["reason"].text == "fenced")
        cluster.journals[1].isCut = false
        try cluster.advance(by: 2_500)
        #expect(try Self.status(tickets[1], at: cluster[1]) == 422)
    }
}
