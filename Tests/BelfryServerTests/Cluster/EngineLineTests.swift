import BelfryCenter
import BelfryCluster
import BelfryLoop
import BelfrySystem
import BelfryTLS
import TestCertificates
import Testing

@testable import BelfryServer

@Suite("EngineLine: TLS to a server of the engine")
struct EngineLineTests {
    let authority = TestAuthority()

    /// A broker that has connected to a server, which answers by hand.
    private final class Line {
        let broker: Broker
        let journal: NATSJournal
        let server: EmbeddedPeer
        private let engine: EngineLine
        private let session: TLSSession
        private var room = [UInt8](repeating: 0, count: 65_536)

        init(_ server: TLSContext, trusting authority: TestAuthority, wantsTLS: Bool) throws {
            broker = try Broker(lateSeed: nil)
            var settings = NATSSettings(cluster: "prod", node: "n1")
            settings.credentials = .user("u", password: "secret")
            settings.wantsTLS = wantsTLS
            journal = try NATSJournal(settings)
            engine = EngineLine(
                journal, [try #require(EngineServer("127.0.0.1:4222"))],
                try TLSContext(authorities: .pem(authority.certificate), for: .unnamed))
            session = TLSSession(server)
            broker.nodes[0].server.engine = engine
            engine.tick(&broker.nodes[0].server.context)
            self.server = try #require(broker.nodes[0].kernel.takeAttempt())
            self.server.completeAttempt()
            try broker.crank()
        }

        private func crank() throws {
            try broker.crank()
            engine.send(&broker.nodes[0].server.context)
            try broker.crank()
        }

        /// Takes the plaintext of all that the broker has sent.
        func take() throws -> String {
            try crank()
            let bytes = server.takeReceived()
            var (cursor, output, text): (Int, [UInt8], [UInt8]) = (0, [], [])
            defer { server.send(output) }
            while let event = try session.nextEvent(
                in: bytes.span, at: &cursor, into: &room, output: &output)
            {
                if case .received(let count) = event { text += room[..<count] }
            }
            return String(decoding: text, as: UTF8.self)
        }

        func say(_ text: String, sealed: Bool = false) throws {
            var bytes = Array(text.utf8)
            if sealed {
                bytes = []
                try session.send(Array(text.utf8).span, output: &bytes)
            }
            server.send(bytes)
            try crank()
        }

        static func info(_ tls: String) -> String {
            #"INFO {"server_name":"n","version":"2.12.0","headers":true,"#
                + #""max_payload":2097152\#(tls)}"#
                + "\r\n"
        }
    }

    private func context(names: String = "IP:127.0.0.1") throws -> TLSContext {
        let identity = authority.issue(names)
        return try TLSContext(certificateChain: identity.certificate, privateKey: identity.key)
    }

    @Test(
        "where the options or the server want TLS the broker shows who it is behind the handshake",
        arguments: [
            (true, #","tls_available":true"#), (false, #","tls_required":true"#),
        ])
    func encrypted(wantsTLS: Bool, tls: String) throws {
        let line = try Line(context(), trusting: authority, wantsTLS: wantsTLS)
        try line.say(Line.info(tls))
        #expect(!String(decoding: line.server.received, as: UTF8.self).contains("CONNECT"))
        #expect(try line.take().isEmpty)
        let text = try line.take() + line.take()
        #expect(text.hasPrefix("CONNECT {") && text.contains(#""pass":"secret""#))
        #expect(text.contains("SUB belfry.prod.rep 1\r\n"))
        try line.say("PING\r\n", sealed: true)
        #expect(try line.take() == "PONG\r\n")
        #expect(line.journal.progress == .preparing)
    }

    @Test("a server whose certificate is not good is told nothing, and given up")
    func untrusted() throws {
        let others: [(TLSContext, TestAuthority)] = [
            (try context(names: "IP:127.0.0.2,DNS:localhost"), authority),
            (try context(), TestAuthority()),
        ]
        for (context, authority) in others {
            let line = try Line(context, trusting: authority, wantsTLS: true)
            try line.say(Line.info(#","tls_available":true"#))
            #expect(try line.take().isEmpty && line.take().isEmpty)
            #expect(line.journal.progress == .disconnected)
            #expect(line.server.isClosed)
        }
    }

    @Test("a server that has no TLS where it is wanted is told nothing")
    func plain() throws {
        let line = try Line(context(), trusting: authority, wantsTLS: true)
        try line.say(Line.info(""))
        #expect(line.journal.progress == .failed(.withoutTLS))
        #expect(line.server.received.isEmpty)
    }

    @Test("tls:// before a server wants TLS for all of them, as a certificate and authorities do")
    func wanting() {
        var cluster = ClusterConfiguration()
        #expect(!cluster.wantsTLS)
        cluster.servers = ["nats://a", "tls://b:1"].compactMap { EngineServer($0) }
        #expect(
            cluster.servers.map(\.endpoint.host) == ["a", "b"]
                && cluster.servers.map(\.endpoint.port) == [4222, 1])
        #expect(cluster.wantsTLS)
        cluster.servers.removeLast()
        #expect(!cluster.wantsTLS)
        cluster.authoritiesPath = "ca.pem"
        #expect(cluster.wantsTLS)
        cluster.authoritiesPath = nil
        cluster.certificatePath = "c.pem"
        #expect(cluster.wantsTLS)
        (cluster.name, cluster.node) = ("prod", "n1")
        var configuration = ServerConfiguration()
        configuration.cluster = cluster
        configuration.cluster?.servers = []
        configuration.listenAddresses = [.loopback(port: 0)]
        #expect(configuration.fault() == "A cluster needs its engine: say --engine.")
        #expect(
            cluster.fault() == "A certificate needs its key: say --engine-cert and --engine-key.")
        cluster.keyPath = "k.pem"
        #expect(cluster.fault() == nil)
        configuration.cluster = cluster
        #expect(configuration.fault() == nil)
        let name = ArchiveName(Array("Order".utf8), isPrefix: false)
        configuration.centerLimits.archives = [ConfiguredArchive(name, ArchiveTerms())]
        #expect(
            configuration.fault()?.hasPrefix("Brokers of a cluster keep no archives yet") == true)
    }
}
