import TestSupport
import Testing

@testable import BelfryCenter

@Suite("Snapshots of a center (Architecture.md section 6)")
struct SnapshotTests {
    /// A center behind so many commands of a list, with limits that all are met.
    private static func center(after count: UInt64, of source: inout CommandSource)
        -> NotificationCenter
    {
        var center = NotificationCenter(
            name: bytes("default"), epoch: bytes("k1"), limits: ReplayInTwoProcessesTests.limits,
            seed: HashSeed(1, 2))
        var effects = Effects()
        for index in 1...count { center.apply(source.next(), at: index, into: &effects) }
        return center
    }

    @Test(
        "a restored center has every field, and goes on as the one that was written",
        arguments: 1...8)
    func goesOn(seed: UInt64) throws {
        var source = CommandSource(seed: seed)
        var center = Self.center(after: 300 * seed, of: &source)
        let snapshot = center.snapshot()
        var restored = try NotificationCenter(snapshot: snapshot, seed: HashSeed(3, seed))
        #expect(firstDifference(center, restored) == nil)
        #expect(restored.snapshot() == snapshot)
        var (effects, others) = (Effects(), Effects())
        for index in center.appliedIndex + 1...center.appliedIndex + 1_000 {
            let command = source.next()
            center.apply(command, at: index, into: &effects)
            restored.apply(command, at: index, into: &others)
            try #require(String(describing: effects) == String(describing: others))
        }
        #expect(restored.snapshot() == center.snapshot())
        #expect(firstDifference(center, restored) == nil)
    }

    @Test("a center that did nothing yet is restored")
    func empty() throws {
        let center = NotificationCenter(
            name: bytes("a"), epoch: bytes("e"), limits: .ofGoldenFiles, seed: HashSeed(1, 2))
        let restored = try NotificationCenter(snapshot: center.snapshot(), seed: HashSeed(3, 4))
        #expect(firstDifference(center, restored) == nil)
    }

    @Test(
        "what versions 1 to 4 have written is restored, and goes on as version 5",
        arguments: ["center-1.txt", "center-2.txt", "center-3.txt", "center-4.txt"])
    func goldenOfEarlierVersions(file: String) throws {
        let golden = try Golden(file, writing: [])
        let restored = try NotificationCenter(
            snapshot: golden.lines[0], seed: HashSeed(5, 6))
        let again = try NotificationCenter(snapshot: restored.snapshot(), seed: HashSeed(7, 8))
        #expect(restored.appliedIndex == 400)
        #expect(firstDifference(restored, again) == nil)
    }

    @Test("what version 5 has written is restored, and written so again")
    func golden() throws {
        var source = CommandSource(seed: 97)
        let center = Self.center(after: 400, of: &source)
        let golden = try Golden("center-5.txt", writing: [center.snapshot()])
        let restored = try NotificationCenter(
            snapshot: golden.lines[0], seed: HashSeed(5, 6))
        #expect(restored.snapshot() == golden.lines[0])
        #expect(firstDifference(restored, center) == nil)
    }

    @Test("a snapshot that is not whole, or was changed, is refused")
    func damaged() {
        var source = CommandSource(seed: 5)
        let snapshot = Self.center(after: 200, of: &source).snapshot()
        var generator = SplitMix(seed: 5)
        for _ in 0..<300 {
            #expect(Self.error(of: Array(snapshot[..<generator.below(snapshot.count)])) != nil)
            var changed = snapshot
            changed[generator.below(snapshot.count)] ^= UInt8(1 + generator.below(255))
            #expect(Self.error(of: changed) != nil)
        }
        #expect(Self.error(of: snapshot + [0]) == .malformed)
        #expect(Self.error(of: [6] + snapshot.dropFirst()) == .unknownVersion(6))
        #expect(Self.error(of: [0] + snapshot.dropFirst()) == .unknownVersion(0))
    }

    private static func error(of snapshot: [UInt8]) -> CodeError? {
        do {
            _ = try NotificationCenter(snapshot: snapshot, seed: HashSeed(1, 2))
            return nil
        } catch {
            return error
        }
    }
}
