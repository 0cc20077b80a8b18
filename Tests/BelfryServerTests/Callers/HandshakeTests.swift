import BelfryLoop
import BelfryTLS
import Foundation
import TestCertificates
import Testing

@testable import BelfryServer
@testable import BelfrySystem

@Suite("TLS handshakes: their share of a turn, and of memory")
struct HandshakeTests {
    private let context: TLSContext
    private let client: TLSContext

    init() throws { (context, client) = try Self.contexts() }

    private static func contexts(
        _ key: TestAuthority.KeyKind = .p256
    ) throws -> (TLSContext, TLSContext) {
        let authority = TestAuthority()
        let identity = authority.issue(key: key)
        return (
            try TLSContext(certificateChain: identity.certificate, privateKey: identity.key),
            try TLSContext(authorities: .pem(authority.certificate))
        )
    }

    /// Peers whose hellos are on their way.
    private func greet(_ broker: Broker, _ count: Int) throws -> [SecurePeer] {
        let peers = try (0..<count).map { _ in
            try SecurePeer(broker, client, shakesHands: false)
        }
        for peer in peers { peer.peer.send(peer.hello()) }
        return peers
    }

    // MARK: Time

    @Test("a turn that has had its time goes on with one handshake; who is plain does not wait")
    func share() throws {
        // No time at all: each turn has had it.
        let broker = try Broker(certificate: context) { $0.turnWorkLimit = .zero }
        let plain = try broker.http()
        let peers = try greet(broker, 10)
        plain.peer.send(HTTPPeer.text("GET", "/livez").utf8)
        func answeredCount() -> Int { peers.count { !$0.peer.received.isEmpty } }
        try broker.nodes[0].turn()
        #expect(try plain.read()?.status == 200)
        for turn in 1...10 {
            #expect(answeredCount() == turn)
            // The newest and the oldest by turns.
            if turn == 2 {
                #expect(!peers[0].peer.received.isEmpty && !peers[9].peer.received.isEmpty)
            }
            try broker.nodes[0].turn()
        }
        // The second part of a handshake waits like the first.
        for peer in peers { try peer.shakeHands() }
        for peer in peers {
            #expect(try peer.exchange(HTTPPeer.text("GET", "/livez")).hasSuffix("ok\n"))
        }
        #expect(broker.nodes[0].server.outbox.counters.tlsHandshakes == 10)
        #expect(broker.nodes[0].server.callers.connections.unfinishedTotal.count == 0)
    }

    @Test("with time, all handshakes of a turn are answered in it")
    func oneTurn() throws {
        let broker = try Broker(certificate: context)
        let peers = try greet(broker, 10)
        try broker.nodes[0].turn()
        #expect(peers.allSatisfy { !$0.peer.received.isEmpty })
    }

    @Test("a handshake that is not done within the head's time is counted as failed")
    func late() throws {
        let broker = try Broker(certificate: context)
        let silent = try SecurePeer(broker, client, shakesHands: false)
        let half = try SecurePeer(broker, client, shakesHands: false)
        half.peer.send(half.hello().dropLast())
        let answered = try greet(broker, 1)
        let open = try SecurePeer(broker, client)
        try broker.advance(by: .milliseconds(10_300))
        for peer in [silent, half, answered[0], open] { #expect(peer.peer.sawEndOfOutput) }
        #expect(broker.nodes[0].server.outbox.counters.tlsFailures == 3)
        #expect(broker.nodes[0].server.callers.connections.unfinishedTotal.count == 0)
    }

    // MARK: Memory

    private static func head(contentByteCount: Int) -> String {
        """
        POST /v1/channels/a HTTP/1.1\r\nHost: localhost\r\n\
        Content-Length: \(contentByteCount)\r\n\r\n
        """
    }

    @Test("too many handshakes: the oldest are closed, and requests by halves are not")
    func bound() throws {
        let broker = try Broker(certificate: context) { $0.unfinishedByteLimit = 1 << 20 }
        let half = try broker.http()
        let head = Self.head(contentByteCount: 400_000)
        try half.send(head + "[" + String(repeating: " ", count: 399_990))
        let peers = try greet(broker, 40)
        try broker.crank()
        let server = { broker.nodes[0].server.outbox.counters }
        let places = (1 << 20 - 400_200) / TLSSession.Stage.handshake.byteCount
        #expect(peers.map(\.peer.isClosed) == (0..<40).map { $0 < 40 - places })
        #expect(server().inputsRefused == UInt64(40 - places))
        #expect(server().tlsFailures == UInt64(40 - places))
        #expect(broker.nodes[0].server.callers.connections.unfinishedTotal.count <= 1 << 20)
        try half.send("        ]")
        let answer = try #require(try half.read())
        #expect(answer.status != 503)
        let metrics = try broker.get("/metrics").text
        #expect(metrics.contains("belfry_unfinished_refused_total \(40 - places)\n"))
        for peer in peers where !peer.peer.isClosed {
            try peer.shakeHands()
            #expect(try peer.exchange(HTTPPeer.text("GET", "/livez")).hasSuffix("ok\n"))
        }
        #expect(broker.nodes[0].server.callers.connections.unfinishedTotal.count == 0)
    }

    @Test("where requests by halves have more than half, the largest of them goes")
    func largest() throws {
        let broker = try Broker(certificate: context) { $0.unfinishedByteLimit = 1 << 20 }
        let head = Self.head(contentByteCount: 900_000)
        let large = try broker.http()
        try large.send(head + String(repeating: " ", count: 899_000))
        let peers = try greet(broker, 8)
        try broker.crank()
        #expect(try large.read()?.status == 503)
        #expect(peers.allSatisfy { !$0.peer.isClosed })
    }

    @Test("a part of a record counts, and is refused when all send parts")
    func parts() throws {
        let broker = try Broker(certificate: context) { $0.unfinishedByteLimit = 1 << 20 }
        let peers = try (0..<70).map { _ in try SecurePeer(broker, client) }
        // The beginning of a record of 16,000 bytes.
        let part = [23, 3, 3, 0x3E, 0x80] + [UInt8](repeating: 1, count: 15_900)
        for peer in peers { peer.peer.send(part) }
        try broker.crank()
        #expect(broker.nodes[0].server.callers.connections.unfinishedTotal.count <= 1 << 20)
        // An eighth more than must go goes at once, and not all.
        let closedCount = peers.count { $0.peer.sawEndOfOutput }
        #expect((70 - (1 << 20) / part.count..<70).contains(closedCount))
    }

    @Test("open sessions count among connections, and past their share no handshake begins")
    func sessions() throws {
        let limit = 1 << 20
        let broker = try Broker(certificate: context) { $0.memory.connections = limit }
        let account = {
            broker.shared.memory(
                of: .connections, LoopSum([broker.nodes[0].server.outbox.counters]))
        }
        let early = try (0..<2).map { _ in try SecurePeer(broker, client, shakesHands: false) }
        var peers: [SecurePeer] = []
        while peers.count < 100 {
            let peer = try SecurePeer(broker, client, shakesHands: false)
            if peer.peer.isClosed { break }
            try peer.shakeHands()
            peers.append(peer)
        }
        let each = ServerConfiguration.connectionByteCount + TLSTable.entryByteCount
        let cost = each + TLSSession.Stage.open.byteCount
        #expect(peers.count == (limit - 2 * each + TLSTable.entryByteCount) / cost)
        let kernelByteCount =
            ServerConfiguration.connectionByteCount - ServerConfiguration.ownConnectionByteCount
        #expect(
            account() == peers.count * cost + 2 * each - (peers.count + 2) * kernelByteCount)
        // Those that came before have no session yet: for one at most there is room.
        for peer in early { peer.peer.send(peer.hello()) }
        try broker.crank()
        #expect(early.contains { $0.peer.isClosed && $0.peer.received.isEmpty })
        #expect(broker.nodes[0].server.outbox.counters.connectionsRefused >= 2)
        for peer in peers + early { peer.peer.close() }
        try broker.crank()
        #expect(broker.nodes[0].server.callers.entrance.tls?.sessionByteCount == 0)
        let next = try SecurePeer(broker, client)
        #expect(try next.exchange(HTTPPeer.text("GET", "/livez")).hasSuffix("ok\n"))
    }

    @Test("what is freed by many sessions is asked back from the allocator")
    func asksForTrims() throws {
        let broker = try Broker(certificate: context)
        let trims = Monitor(0)
        let thread = try broker.shared.trimmer.start(trim: { trims.change { $0 += 1 } })
        let peers = try greet(broker, 250)
        try broker.crank()
        #expect(broker.nodes[0].server.keptByteCount > PeakWatch.step)
        for peer in peers { peer.peer.close() }
        try broker.crank()
        // It is the next turn that finds them gone.
        #expect(try broker.get("/livez").status == 200)
        #expect(trims.take { $0 > 0 ? true : nil } == true)
        broker.shared.trimmer.close()
        thread.join()
        #expect(broker.nodes[0].server.keptByteCount < 1 << 20)
    }

    @Test(
        "what a session costs in each stage is as it is said to be",
        .enabled(if: HandshakeTests.allocatorIsTheSystems))
    func cost() async {
        await #expect(processExitsWith: .success) {
            let (context, client) = try HandshakeTests.contexts()
            for stage in TLSSession.Stage.allCases {
                let sessions = try HandshakeTests.sessions(500, in: stage, context, client)
                try #require(sessions.servers.allSatisfy { $0.stage == stage })
                let real = Double(sessions.byteCount) / 500
                // The object itself, its pipe and its part of an array are 400 bytes at most.
                let told = Double(stage.byteCount)
                #expect(real < 1.15 * told + 400 && real > 0.85 * told, "\(stage): \(real)")
            }
        }
    }

    @Test(
        "3,000 hellos come to nothing, and their memory goes back to the system",
        .enabled(if: HandshakeTests.allocatorIsTheSystems))
    func goesBack() async {
        await #expect(processExitsWith: .success) {
            let (context, client) = try HandshakeTests.contexts()
            _ = try HandshakeTests.sessions(10, in: .handshake, context, client)
            AllocatedMemory.trim()
            let before = try HandshakeTests.residentByteCount()
            var kept: [[UInt8]] = []
            var growth = 0
            do {
                let sessions = try HandshakeTests.sessions(3_000, in: .handshake, context, client)
                // Something that lies above all of it, as there always is.
                kept.append([UInt8](repeating: 1, count: 1_000))
                growth = try HandshakeTests.residentByteCount() - before
                #expect(sessions.servers.count == 3_000)
            }
            #expect(growth > 100 << 20)
            AllocatedMemory.trim()
            let rest = try HandshakeTests.residentByteCount() - before
            #expect(rest < growth / 5, "\(rest) of \(growth)")
            #expect(kept.count == 1)
        }
    }

    /// Whether the system's allocator is used: a sanitizer has its own (`Scripts/sanitize`).
    private static let allocatorIsTheSystems =
        ProcessInfo.processInfo.environment["SANITIZED"] == nil

    /// The resident size of this process.
    private static func residentByteCount() throws -> Int {
        let text = try WholeFile.read(path: "/proc/self/statm", byteLimit: 4_096)
        let words = String(decoding: text, as: UTF8.self).split(separator: " ")
        return try #require(Int(words[1])) * 4_096
    }

    /// Makes sessions of a server, brings them so far, and tells what they have allocated.
    private static func sessions(
        _ count: Int, in stage: TLSSession.Stage, _ context: TLSContext, _ client: TLSContext
    ) throws -> (servers: [TLSSession], byteCount: Int) {
        var room = [UInt8](repeating: 0, count: 16_384)
        func feed(_ bytes: [UInt8], to session: TLSSession) throws -> [UInt8] {
            var (output, cursor): ([UInt8], Int) = ([], 0)
            while try session.nextEvent(
                in: bytes.span, at: &cursor, into: &room, output: &output) != nil
            {}
            return output
        }
        let clients = (0..<count).map { _ in TLSSession(client, host: "localhost") }
        var toServer = clients.map { client in
            var bytes: [UInt8] = []
            client.begin(output: &bytes)
            return bytes
        }
        let first = try #require(AllocatedMemory.byteCount)
        let servers = (0..<count).map { _ in TLSSession(context) }
        var byteCount = try #require(AllocatedMemory.byteCount) - first
        for step in 0..<2 where stage != .waiting && (step == 0 || stage == .open) {
            var answers: [[UInt8]] = []
            answers.reserveCapacity(count)
            let before = try #require(AllocatedMemory.byteCount)
            for place in servers.indices {
                answers.append(try feed(toServer[place], to: servers[place]))
            }
            byteCount += try #require(AllocatedMemory.byteCount) - before
            byteCount -= answers.reduce(0) { $0 + $1.capacity + 48 }
            for place in servers.indices {
                toServer[place] = try feed(answers[place], to: clients[place])
            }
        }
        return (servers, byteCount)
    }
}
