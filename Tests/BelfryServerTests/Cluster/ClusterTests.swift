import BelfryAccess
import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfryWire
import SimulatedLog
import Testing

@testable import BelfryServer

@Suite("Brokers that share a log")
struct ClusterTests {
    @Test("what is posted at one broker comes to observers at all of them")
    func crossing() throws {
        let cluster = try BrokerCluster(count: 3)
        let sockets = try (0..<3).map { try cluster[$0].webSocket() }
        for socket in sockets { _ = try socket.observe("a") }
        let receipt = try cluster[1].post(name: "a")
        #expect(receipt["matched"].int == 3)
        #expect(receipt["delivered"].int == 3)
        for socket in sockets { #expect(try socket.takeNames() == ["a"]) }
        // An asap post leaves with its entry, and a center is the same everywhere.
        let asap = try cluster[2].post(
            #"{"name":"a","style":"asap"}"#, target: "/v1/centers/b/notifications")
        #expect(asap.status == 202)
        let response = try cluster[0].get("/v1/centers/b/queue")
        #expect(response.status == 200)
    }

    @Test("the largest batch of the smallest items fits into an entry that the engine takes")
    func largestBatch() throws {
        let cluster = try BrokerCluster(count: 1) { $0.bodyByteLimit = 16 << 10 }
        let batch =
            "[" + Array(repeating: #"{"name":"a"}"#, count: 1_000).joined(separator: ",") + "]"
        #expect(try cluster[0].post(batch).status == 200)
        var configuration = ServerConfiguration()
        configuration.bodyByteLimit = 16 << 10
        configuration.messageByteLimit = 16 << 10
        let largest = cluster.engine.entries.map(\.count).max() ?? 0
        #expect(largest > 16 << 10)
        #expect(largest <= configuration.entryByteLimit)
    }

    @Test(
        "what would need a larger entry than the engine takes is refused, and nothing of it is done"
    )
    func tooLarge() throws {
        let names = (100..<400).map { "\"\($0)\(String(repeating: "x", count: 250))*\"" }
        var keys = Keys()
        keys.add("many", #"[{"verbs":["post"],"names":[\#(names.joined(separator: ","))]}]"#)
        let keyring = try keys.keyring()
        let cluster = try BrokerCluster(count: 1) {
            $0.keyring = keyring
            $0.anonymousGrants = Grants([Grant([.post, .observe, .inspect, .wildcard])])
            ($0.bodyByteLimit, $0.messageByteLimit) = (1 << 10, 1 << 10)
            $0.wireLimits.batchItemLimit = 10
        }
        // The rights of its poster go along with a post that touches entries of others.
        let name = "100" + String(repeating: "x", count: 250)
        let response = try cluster[0].request(
            "POST", "/v1/channels/\(name)?style=asap", "{}", fields: [Keys.field("many")])
        #expect(response.status == 413)
        #expect(response.problem == "content-too-large")
        #expect(try cluster[0].post(name: "a")["seq"].int == 1)
    }

    @Test("before it has read the log a broker takes nothing, and is not ready")
    func catchingUp() throws {
        let cluster = try BrokerCluster(count: 1)
        cluster.journals[0].isCut = true
        try cluster.start(isCut: true)
        for target in ["/readyz", "/v1/observers"] {
            let response = try cluster[1].get(target)
            #expect(response.status == 503)
            #expect(response.problem == "store-unavailable")
            #expect(response.json["reason"].text == "catching-up")
        }
        cluster.journals[0].isCut = false
        cluster.journals[1].isCut = false
        try cluster.advance(by: 3_000)
        #expect(try cluster[1].get("/readyz").status == 200)
        #expect(try cluster[1].post(name: "a")["seq"].int == 1)
    }

    @Test("what waits for the socket of a client is told by its own broker alone")
    func unsentBytes() throws {
        let cluster = try BrokerCluster(count: 2)
        let sockets = try (0..<2).map { try cluster[$0].webSocket() }
        for number in 0..<2 {
            let rows = try cluster[number].get("/v1/clients").json["clients"].elements
            let told = rows.filter { $0["unsentBytes"] == 0 }.map { $0["id"].text }
            #expect(rows.count == 2)
            #expect(told == [sockets[number].client])
        }
    }

    @Test("a client goes on at another broker, and has what it missed")
    func resuming() throws {
        let cluster = try BrokerCluster(count: 3)
        let socket = try cluster[0].webSocket()
        _ = try socket.observe("a")
        socket.peer.close()
        try cluster.crank()
        try cluster[1].post(name: "a")
        let other = try cluster[2].webSocket()
        let answer = try other.result("resume", #"{"session":"\#(socket.session)"}"#)
        #expect(answer["client"].text == socket.client)
        #expect(try other.takeNames() == ["a"])
    }

    @Test("a broker whose limits are others does not take part, unless its revision is higher")
    func otherLimits() throws {
        var revision = 1
        let cluster = try BrokerCluster(count: 2) { configuration in
            guard ["n3", "n4"].contains(configuration.cluster?.node) else { return }
            configuration.centerLimits.queueEntryLimit = 7
            configuration.cluster?.revision = revision
        }
        try cluster.start()
        try cluster.advance(by: 1_000)
        #expect(cluster[2].nodes[0].hasStopped)
        guard case .cluster(let sentence)? = cluster[2].nodes[0].server.failure else {
            Issue.record("the broker takes part")
            return
        }
        #expect(sentence.contains("--cluster-revision 2"))
        #expect(try MetricsPage(cluster[0])["belfry_cluster_config_differs"] == 0)

        revision = 2
        try cluster.start()
        try cluster.advance(by: 1_000)
        #expect(try cluster[3].get("/readyz").status == 200)
        #expect(try MetricsPage(cluster[0])["belfry_cluster_config_differs"] == 1)
    }

    /// Every caller may administer.
    private static let allGrants: @Sendable (inout ServerConfiguration) -> Void = {
        $0.anonymousGrants = Grants([Grant(.all)])
    }

    @Test("new rules hold when all that take part know them, and an older program does not come up")
    func upgrade() throws {
        let cluster = try BrokerCluster(count: 1, level: 1, Self.allGrants)
        try cluster.start(level: 2)
        let early = try cluster[1].request("POST", "/v1/cluster/upgrade", "")
        #expect(early.status == 503)
        #expect(early.problem == "store-unavailable")
        #expect(early.json["reason"].text == "too-old")
        #expect(try cluster[1].get("/v1/cluster").json["level"].int == 1)

        try cluster[0].signal(15)
        try cluster.advance(by: 2_000)
        #expect(cluster[0].nodes[0].hasStopped)
        let answer = try cluster[1].request("POST", "/v1/cluster/upgrade", "")
        #expect(answer.status == 200)
        #expect(answer.json["level"].int == 2)
        // Once more changes nothing.
        #expect(try cluster[1].request("POST", "/v1/cluster/upgrade", "").status == 200)

        try cluster.start(level: 1)
        try cluster.advance(by: 1_000)
        #expect(try cluster[2].get("/readyz").json["reason"].text == "too-old")
        try cluster.start(level: 2)
        try cluster.advance(by: 1_000)
        #expect(try cluster[3].get("/readyz").status == 200)
    }

    @Test("a broker lets all have its limits")
    func configuration() throws {
        let cluster = try BrokerCluster(count: 2, Self.allGrants)
        var configuration = cluster[0].nodes[0].server.outbox.configuration
        configuration.centerLimits.queueEntryLimit = 1
        _ = cluster[0].shared.mailboxes[0].post(.reload(configuration))
        try cluster.crank()
        let answer = try cluster[0].request("POST", "/v1/cluster/apply-config", "")
        #expect(answer.status == 200)
        #expect(answer.json["revision"].int == 2)
        let idle = #"{"name":"a","style":"idle","modes":["m"]}"#
        #expect(try cluster[1].post(idle).status == 202)
        #expect(try cluster[1].post(idle.replacing("\"a\"", with: "\"b\"")).problem == "queue-full")
    }

    @Test("the engine has lost entries: one broker's state goes on, and observers are told a gap")
    func recovery() throws {
        let cluster = try BrokerCluster(count: 2, Self.allGrants)
        let mailbox = try cluster[0].post(#"{"name":"a"}"#, target: "/v1/observers")
        let token = try #require(mailbox.json["token"].text)
        let socket = try cluster[0].webSocket()
        _ = try socket.observe("a")
        try cluster[0].post(name: "a")
        try cluster.advance(by: 1_000)
        let kept = cluster.engine.lastIndex
        #expect(try cluster[1].post(name: "a")["seq"].int == 2)
        try cluster.advance(by: 1_000)
        let epoch = socket.welcome["epoch"].text
        // Nothing is lost yet: there is nothing to recover.
        #expect(try cluster[0].request("POST", "/v1/cluster/recover", "").status == 200)

        cluster.engine.rewind(to: kept)
        try cluster.advance(by: 5_000)
        for number in 0..<2 {
            let refused = try cluster[number].request("POST", "/v1/channels/a", "")
            #expect(refused.status == 503)
            #expect(refused.json["reason"].text == "lost-entries")
        }
        try socket.read()
        #expect(socket.closeCode == 1012)

        #expect(try cluster[0].request("POST", "/v1/cluster/recover", "").status == 200)
        try cluster.advance(by: 5_000)
        #expect(try cluster[0].get("/readyz").status == 200)
        let seq = try #require(try cluster[0].post(name: "a")["seq"].int)
        #expect(seq > 1 << 24)
        let back = try cluster[0].webSocket()
        #expect(back.welcome["epoch"].text != epoch)
        _ = try back.result(
            "resume", #"{"session":"\#(socket.session)"}"#)
        let messages = try back.takeMessages()
        #expect(messages.contains { $0["params"]["reason"].text == "unknown" })
        let read = try cluster[0].get("/v1/observers/\(token)/notifications")
        #expect(read.text.contains(#""reason":"unknown""#))

        // The other one stays as it is until it begins anew, and then has the same state.
        #expect(try cluster[1].get("/readyz").status == 503)
        try cluster.start()
        try cluster.advance(by: 2_000)
        #expect(try cluster[2].get("/readyz").status == 200)
        try cluster.advance(by: 2_000)
        #expect(
            try cluster[0].get("/v1/cluster").json["digest"].text
                == cluster[2].get("/v1/cluster").json["digest"].text)
    }

    @Test("observers that stay are told that the last broker leaves, and that one is back")
    func startAndEnd() throws {
        let cluster = try BrokerCluster(count: 2, Self.allGrants)
        let tokens = try ["willTerminate", "didStart"].map { name in
            let observer = #"{"name":"belfry.center.\#(name)"}"#
            let answer = try cluster[0].post(observer, target: "/v1/observers")
            return try #require(answer.json["token"].text)
        }
        func reports(at broker: Broker) throws -> [String] {
            try tokens.flatMap { token in
                let page = try broker.get("/v1/observers/\(token)/notifications").json
                return page["notifications"].elements.map {
                    "\($0["name"].text ?? "")\($0["userInfo"]["unclean"] == .boolean(false) ? ", clean" : "")"
                }
            }
        }
        try cluster[1].signal(15)
        try cluster.advance(by: 2_000)
        #expect(try reports(at: cluster[0]) == [])
        try cluster[0].signal(15)
        try cluster.advance(by: 2_000)
        #expect(cluster[0].nodes[0].hasStopped)
        for _ in 0..<2 {
            try cluster.start()
            try cluster.advance(by: 2_000)
        }
        #expect(
            try reports(at: cluster[3])
                == ["belfry.center.willTerminate", "belfry.center.didStart, clean"])
    }

    @Test("a broker that stops leaves: its clients are told first, and the others go on")
    func stopping() throws {
        let cluster = try BrokerCluster(count: 2)
        let socket = try cluster[0].webSocket()
        _ = try socket.observe("a")
        try cluster[0].signal(15)
        try cluster.advance(by: 1_000)
        try socket.read()
        #expect(socket.closeCode == 1012)
        socket.peer.close()
        try cluster.advance(by: 1_000)
        #expect(cluster[0].nodes[0].hasStopped)
        // Notifications that came meanwhile are held, without a gap.
        try cluster[1].post(name: "a")
        let other = try cluster[1].webSocket()
        _ = try other.result("resume", #"{"session":"\#(socket.session)"}"#)
        #expect(try other.takeMessages().map { $0["method"].text } == ["notify"])
    }
}
