import BelfryAccess
import BelfryCenter
import BelfryCluster
import BelfryLoop
import SimulatedLog
import Testing

@testable import BelfryServer

@Suite("Farewells where brokers share a log (rule L10, decision 109)")
struct ClusterFarewellTests {
    /// How a client is parted from its first broker.
    enum Parting: CaseIterable {
        case brokerStops, brokerIsCutOff, clientGoes
    }

    private static func sayFarewell(_ peer: SocketPeer, after: Int) throws {
        let post =
            #"{"name":"bye","object":"\#(peer.client)","onDisconnect":true,"after":\#(after)}"#
        #expect(try peer.result("post", post)["outcome"] == "queued")
    }

    private static func part(
        _ peer: SocketPeer, _ parting: Parting, _ cluster: BrokerCluster
    ) throws {
        switch parting {
        case .brokerStops: try cluster[0].signal(15)
        case .brokerIsCutOff: cluster.journals[0].isCut = true
        case .clientGoes: try peer.cut()
        }
    }

    @Test(
        "a client whose broker stops or is cut off has 30 s to come back; one that goes has its delay",
        arguments: Parting.allCases, [Shard.levelTwo, Shard.levelThree])
    func partings(parting: Parting, level: UInt64) throws {
        let cluster = try BrokerCluster(count: 2, level: level)
        let listener = try cluster[1].webSocket()
        _ = try listener.observe("bye")
        let (other, peer) = (try cluster[0].webSocket(), try cluster[0].webSocket())
        for peer in [other, peer] { try Self.sayFarewell(peer, after: 1) }
        let (otherGoes, goes) = ("bye/\(other.client)", "bye/\(peer.client)")
        try Self.part(peer, parting, cluster)
        try cluster.advance(by: 5_000)
        let farewells = try listener.takeNames()
        if parting == .clientGoes { return #expect(farewells == [goes]) }
        if level < Shard.levelThree { return #expect(farewells == [otherGoes, goes]) }
        #expect(farewells == [])
        // One comes back, and its farewell waits for the next time.
        let back = try cluster[1].webSocket()
        _ = try back.result("resume", #"{"session":"\#(peer.session)"}"#)
        try cluster.advance(by: 40_000)
        #expect(try listener.takeNames() == [otherGoes])
        try back.cut()
        try cluster.advance(by: 2_000)
        #expect(try listener.takeNames() == [goes])
    }

    @Test(
        "a farewell whose key is gone by then is not posted, whether it goes at once or later",
        arguments: [0, 1, 10])
    func rights(delay: Int) throws {
        var keys = Keys()
        let grants = #"[{"verbs":["post"],"names":["bye"]}]"#
        keys.add("goes", grants)
        keys.add("stays", grants)
        let keyring = try keys.keyring()
        let cluster = try BrokerCluster(count: 2) {
            $0.keyring = keyring
            $0.anonymousGrants = Grants([Grant([.observe, .inspect, .wildcard])])
        }
        let listener = try cluster[1].webSocket()
        _ = try listener.observe("bye")
        let peers = try ["goes", "stays"].map {
            try cluster[0].webSocket(fields: [Keys.field($0)])
        }
        for peer in peers { try Self.sayFarewell(peer, after: delay) }
        var left = Keys()
        left.add("stays", grants)
        let leftKeyring = try left.keyring()
        func reload() throws {
            for broker in cluster.brokers {
                var configuration = broker.nodes[0].server.outbox.configuration
                configuration.keyring = leftKeyring
                _ = broker.shared.mailboxes[0].post(.reload(configuration))
            }
            try cluster.crank()
        }
        // A key that is taken away closes its connections: those of the longest delay go before.
        if delay < 10 { try reload() }
        for peer in peers { try peer.cut() }
        try cluster.advance(by: 2_000)
        if delay == 10 { try reload() }
        try cluster.advance(by: 12_000)
        #expect(try listener.takeNames() == ["bye/\(peers[1].client)"])
        #expect(try cluster[1].get("/v1/queue").json["entries"].elements.isEmpty)
    }
}
