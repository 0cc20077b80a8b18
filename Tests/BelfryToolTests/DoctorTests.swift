import BelfryServer
import BelfrySystem
import Foundation
import Testing

@testable import belfry

@Suite("belfry doctor: what is said of facts")
struct DoctorTests {
    @Test("each limit has a border", arguments: [(4_095, Finding.State.warning), (4_096, .ok)])
    func descriptors(hard: Int, state: Finding.State) {
        #expect(Judgement.descriptors(hard: hard).state == state)
    }

    @Test("limits of memory that were lowered are named")
    func memory() {
        #expect(Judgement.memory(byteLimit: nil, lowered: []).state == .ok)
        #expect(Judgement.memory(byteLimit: 512 << 20, lowered: []).state == .ok)
        let lowered = Judgement.memory(byteLimit: 256 << 20, lowered: ["--hold-memory"])
        #expect(lowered.state == .warning)
        #expect(lowered.text.contains("256 MiB") && lowered.text.contains("--hold-memory"))
    }

    @Test(
        "waiting connections",
        arguments: [(128, Finding.State.warning), (1_024, .ok), (nil, .ok)]
            as [(Int?, Finding.State)])
    func backlog(limit: Int?, state: Finding.State) {
        #expect(Judgement.waitingConnections(limit: limit).state == state)
    }

    @Test(
        "the clock",
        arguments: [
            (0, true, Finding.State.fault), (1_780_000_000_000, true, .ok),
            (1_780_000_000_000, nil, .ok), (1_780_000_000_000, false, .warning),
        ] as [(Int64, Bool?, Finding.State)])
    func clock(milliseconds: Int64, isSynchronized: Bool?, state: Finding.State) {
        let finding = Judgement.clock(milliseconds: milliseconds, isSynchronized: isSynchronized)
        #expect(finding.state == state)
    }

    @Test(
        "where the data lie",
        arguments: [
            (FileSystem.Kind.disk, Finding.State.ok), (.network, .warning), (.memory, .warning),
            (.overlay, .warning),
        ])
    func place(kind: FileSystem.Kind, state: Finding.State) {
        let system = FileSystem(kind: kind, freeByteCount: 0)
        #expect(Judgement.place("data", system).state == state)
    }

    @Test(
        "how much room there is",
        arguments: [
            ((64 << 20) - 1, Finding.State.fault), (64 << 20, .warning), ((1 << 30) - 1, .warning),
            (1 << 30, .ok),
        ])
    func space(freeByteCount: Int, state: Finding.State) {
        #expect(Judgement.space(freeByteCount: freeByteCount).state == state)
    }

    @Test("how fast the disk is")
    func writing() {
        #expect(Judgement.writing(.milliseconds(50)).state == .ok)
        #expect(Judgement.writing(.milliseconds(51)).state == .warning)
    }

    @Test(
        "how long the certificate is good",
        arguments: [
            (0, Finding.State.fault), (-1, .fault), (1, .warning), (14 * 86_400 - 1, .warning),
            (14 * 86_400, .ok),
        ] as [(Int64, Finding.State)])
    func certificate(seconds: Int64, state: Finding.State) {
        let now: Int64 = 1_780_000_000
        let finding = Judgement.certificate(end: now + seconds, start: now - 10, now: now)
        #expect(finding.state == state)
        #expect(
            Judgement.certificate(end: now + 9_999_999, start: now + 1, now: now).state == .fault)
    }

    @Test("who may come from other machines")
    func exposure() {
        func states(_ isPlain: Bool, _ allowsAnonymous: Bool, _ hasKeys: Bool) -> [Finding.State] {
            Judgement.exposure(
                isPlain: isPlain, allowsAnonymous: allowsAnonymous, hasKeys: hasKeys
            ).map(\.state)
        }
        #expect(states(true, true, false) == [.warning, .warning])
        #expect(states(false, true, false) == [.warning])
        #expect(states(true, false, true) == [.warning])
        #expect(states(false, false, true) == [.ok])
        let own = Judgement.callers(grantsAll: nil, means: .netlink)
        #expect(own.state == .ok && own.text.contains("user \(SocketOwner.ownUser) and of root"))
        #expect(Judgement.callers(grantsAll: nil, means: .none).state == .warning)
        #expect(Judgement.callers(grantsAll: true, means: .none).text.contains("proxy"))
        #expect(Judgement.callers(grantsAll: false, means: .none).text.contains("credentials"))
        #expect(Judgement.secrecy("keys", isReadableByAll: false) == nil)
        #expect(Judgement.secrecy("keys", isReadableByAll: true)?.state == .warning)
    }

    @Test("whatever is not well says what to do")
    func advice() {
        let address = SocketAddress.loopback(port: 80)
        for finding in [
            Judgement.port(
                address, SystemCallError(call: "listen", errno: 13), isBroker: false),
            Judgement.port(
                address, SystemCallError(call: "listen", errno: 98), isBroker: false),
            Judgement.space(freeByteCount: 0), Judgement.descriptors(hard: 1),
        ] {
            #expect(finding.advice?.isEmpty == false)
            #expect(Finding.text([finding]).contains("\n"))
        }
        let broker = Judgement.port(
            address, SystemCallError(call: "listen", errno: 98), isBroker: true)
        #expect(broker.state == .ok)
    }

    @Test("what is found is lines for people, and JSON for programs")
    func shapes() {
        let findings = [
            Finding.ok("clock", "is right"), .fault("port", "taken", "use another"),
        ]
        #expect(
            Finding.text(findings) == """
                ok       clock  is right
                fault    port   taken
                                What to do: use another
                """)
        #expect(
            String(decoding: Finding.json(findings), as: UTF8.self)
                == #"{"findings":[{"state":"ok","subject":"clock","text":"is right"},"#
                + #"{"state":"fault","subject":"port","text":"taken","advice":"use another"}]}"#)
    }

    @Test("a directory is looked at and left as it was, and a taken port is a fault")
    func machine() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("belfry-doctor-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (listener, address) = try Socket.listen(at: .loopback(port: 0))
        defer { listener.close() }
        var settings = Settings()
        settings.dataDirectory = directory.path
        settings.server.listenAddresses = [address]
        let findings = try await Doctor.findings(settings)
        #expect(findings.contains { $0.subject == "disk" })
        #expect(findings.last?.state == .fault && findings.last?.subject == "port")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        settings.dataDirectory = "/proc/none/data"
        #expect(
            try await Doctor.findings(settings).contains {
                $0.subject == "data" && $0.state == .fault
            })
    }
}
