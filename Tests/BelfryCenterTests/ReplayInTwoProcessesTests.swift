import TestSupport
import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: one log of commands, two processes (Architecture.md section 6)")
struct ReplayInTwoProcessesTests {
    private static let commandCount: UInt64 = 10_000

    /// Limits that all are met by so many commands.
    static var limits: CenterLimits {
        var limits = CenterLimits.ofGoldenFiles
        limits.tombstoneLimit = 500
        limits.fateLimit = 700
        limits.fateLifetime = .seconds(20)
        limits.askFateLifetime = .seconds(20)
        limits.unobservedNameLimit = 100
        limits.replayCountLimit = 200
        limits.queueEntryLimit = 40
        limits.queueModeLimit = 3
        limits.modeStackLimit = 4
        limits.clientHeldCountLimit = 60
        limits.clientHeldByteLimit = 1_500
        limits.unacknowledgedLimit = 4
        limits.flushByteLimit = 900
        limits.keyLimit = 30
        limits.keyLifetime = .seconds(9)
        limits.commonModes = [Mode.default, bytes("modal")]
        limits.isDurable = true
        return limits
    }

    /// Applies the recorded commands; returns every thousandth digest, and that of its snapshot.
    private static func digests(seed: HashSeed) -> [UInt64] {
        var source = CommandSource(seed: 2_026)
        var center = NotificationCenter(
            name: bytes("default"), epoch: bytes("k1"), limits: limits, seed: seed)
        var effects = Effects()
        var digests: [UInt64] = []
        for index in 1...commandCount {
            center.apply(source.next(), at: index, into: &effects)
            if index.isMultiple(of: 1_000) {
                digests.append(stateDigest(of: center))
                digests.append(sipHash(center.snapshot().span, seed: HashSeed(0, 0)))
            }
        }
        return digests
    }

    @Test("two processes that apply the same commands agree at every thousandth, byte for byte")
    func sameDigests() async throws {
        let here = Self.digests(seed: HashSeed(1, 2))
        #expect(here.count == 20 && Set(here).count == 20)
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) {
            // Swift's own hash tables have another seed in this process anyway.
            for digest in ReplayInTwoProcessesTests.digests(seed: HashSeed(0xdead, 0xbeef)) {
                print("digest \(digest)")
            }
        }
        let output = String(decoding: result.standardOutputContent, as: UTF8.self)
        let there = output.split(separator: "\n").compactMap { line in
            line.hasPrefix("digest ") ? UInt64(line.dropFirst("digest ".count)) : nil
        }
        #expect(there == here)
    }
}
