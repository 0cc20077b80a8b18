import BelfryAccess
import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryTLS
import Testing

@testable import BelfryServer

@Suite("EngineMonitor: whether the engine writes before it answers")
struct EngineMonitorTests {
    private static let always = #"{"config":{"sync_interval":120000000000,"sync_always":true}}"#
    private static let lazily = #"{"config":{"sync_interval":120000000000}}"#

    /// A broker at its start beside an engine of two servers, whose monitoring ports the test has.
    private final class Start {
        let cluster: BrokerCluster
        let broker: Broker

        init(durability: ServerConfiguration.Durability = .power) throws {
            cluster = try BrokerCluster(count: 1) {
                $0.anonymousGrants = Grants([Grant(.all)])
                $0.durability = durability
            }
            try cluster.start(isCut: true)
            broker = cluster[1]
            let servers = try (1...2).map {
                try #require(EngineServer("http://127.0.0.\($0):8222", for: .monitoring))
            }
            broker.nodes[0].server.monitor = EngineMonitor(servers)
            broker.nodes[0].server.engine = EngineLine(
                try NATSJournal(NATSSettings(cluster: "prod", node: "n2")),
                [try #require(EngineServer("127.0.0.1:4222"))],
                try TLSContext(authorities: .system, for: .unnamed))
        }

        /// Lets the next question come, and answers it.
        func answer(_ json: String, status: String = "200 OK") throws {
            try cluster.advance(by: 50)
            var question = ""
            var asked: EmbeddedPeer?
            // The connection to the engine may be asked for, too.
            while question.isEmpty {
                let peer = try #require(broker.nodes[0].kernel.takeAttempt())
                peer.completeAttempt()
                try cluster.crank()
                question = String(decoding: peer.takeReceived(), as: UTF8.self)
                asked = peer
            }
            #expect(question.hasPrefix("GET /jsz?config=1 HTTP/1.1\r\nHost: 127.0.0."))
            let peer = try #require(asked)
            peer.send(
                Array(
                    "HTTP/1.1 \(status)\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)".utf8))
            try cluster.crank()
            #expect(peer.isClosed)
        }

        /// Whether the broker speaks to the engine.
        func connects() throws -> Bool {
            try cluster.advance(by: 100)
            return broker.nodes[0].kernel.takeAttempt() != nil
        }

        func sync() throws -> String? {
            try broker.get("/v1/cluster").json["engine"]["sync"].text
        }
    }

    @Test("a start asks all servers first, and then speaks to the engine")
    func always() throws {
        let start = try Start()
        #expect(try start.sync() == nil)
        try start.answer(Self.always)
        #expect(try start.sync() == nil)
        try start.answer(Self.always)
        #expect(try start.sync() == "always")
        #expect(try start.connects())
        #expect(!start.broker.nodes[0].hasStopped)
    }

    @Test("a start is refused where a server answers before it has written")
    func lazily() throws {
        let refused = try Start()
        try refused.answer(Self.always)
        try refused.answer(Self.lazily)
        try refused.cluster.advance(by: 50)
        #expect(refused.broker.nodes[0].hasStopped)
        guard case .cluster(let sentence)? = refused.broker.nodes[0].server.failure else {
            Issue.record("the broker goes on")
            return
        }
        #expect(sentence.contains("127.0.0.2:8222"))
        #expect(sentence.contains("--durability process"))

        let allowed = try Start(durability: .process)
        try allowed.answer(Self.lazily)
        #expect(try allowed.sync() == "interval")
        try allowed.answer(Self.always)
        #expect(try allowed.sync() == "interval")
        #expect(try allowed.connects())
    }

    @Test("a log with fewer than three copies does not survive the loss of power")
    func copies() {
        var configuration = ServerConfiguration()
        configuration.listenAddresses = [.loopback(port: 0)]
        var cluster = ClusterConfiguration()
        (cluster.name, cluster.node) = ("prod", "n1")
        cluster.servers = ["nats://a"].compactMap { EngineServer($0) }
        for (count, durability, isRefused) in [
            (3, ServerConfiguration.Durability.power, false), (2, .power, true),
            (1, .process, false),
        ] {
            cluster.replicaCount = count
            configuration.cluster = cluster
            configuration.durability = durability
            #expect((configuration.fault()?.contains("--engine-replicas 3") ?? false) == isRefused)
        }
    }

    @Test("a monitoring port is http:// with a host, and with a port of its own")
    func addresses() {
        func address(_ text: String) -> String? {
            EngineServer(text, for: .monitoring).map { "\($0)" }
        }
        #expect(address("http://10.0.0.1") == "10.0.0.1:8222")
        #expect(address("nats-1:1") == "nats-1:1")
        #expect(EngineServer("http://nats-1", for: .monitoring)?.text == "http://nats-1")
        for text in ["nats://nats-1", "https://nats-1", "http://", "http://a:b"] {
            #expect(address(text) == nil)
        }
        #expect(EngineServer("http://nats-1") == nil)
    }

    @Test(
        "a server that does not tell holds nobody up, and is asked again after a minute",
        arguments: ["silent", "404", "other", "large"])
    func unknown(kind: String) throws {
        let start = try Start()
        switch kind {
        case "silent": try start.cluster.advance(by: 1_100)
        case "404": try start.answer("", status: "404 Not Found")
        case "other": try start.answer(#"{"disabled":true}"#)
        default: try start.answer(String(repeating: " ", count: 64 << 10) + "{}")
        }
        if kind == "silent" { _ = start.broker.nodes[0].kernel.takeAttempt() }
        try start.answer(Self.always)
        #expect(try start.sync() == nil)
        #expect(try start.connects())
        try start.cluster.advance(by: 60_000)
        try start.answer(Self.always)
        #expect(try start.sync() == "always")
    }
}
