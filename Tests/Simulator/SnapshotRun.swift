import BelfryCenter
import BelfryHistory

/// Snapshots of random states: the written center and the restored one must do the same.
///
/// The hash tables of the restored one have another seed.
///
/// All commands come from ``MixedWorld``.
struct SnapshotRun {
    /// How many commands both get after the snapshot; the last step may make a few more.
    static let commandCount: UInt64 = 1_000

    private(set) var byteCount = 0
    /// FNV-1a of all snapshots: another process must come to the same.
    private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Makes a state by fewer steps than this in one or two lives, and continues twice from there.
    mutating func run(_ world: MixedWorld, stepLimit: Int) throws(Violation) {
        world.recorder.interval = nil
        if world.dice.oneIn(2) {
            for _ in 0..<world.dice.below(stepLimit) { try world.step() }
            try world.restart(isComplete: world.dice.oneIn(2))
        }
        for _ in 0..<world.dice.below(stepLimit) { try world.step() }
        if world.dice.oneIn(20) { try world.submit(.terminate) }
        note(try world.recorder.moveIntoSnapshot(of: world.center))
        let end = world.commandCount + Self.commandCount
        while world.commandCount < end { try world.step() }
        note(try world.recorder.compareStates(with: world.center))
    }

    private mutating func note(_ snapshot: [UInt8]) {
        byteCount += snapshot.count
        for byte in snapshot { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}

/// Takes the snapshot of one state a seed; the last line is the same in every process.
func runSnapshots(_ order: Order) -> Int32 {
    var snapshots = SnapshotRun()
    var violationCount = 0
    for seed in order.seeds {
        let world = MixedWorld(seed: seed)
        do throws(Violation) {
            try snapshots.run(world, stepLimit: order.stepCount)
        } catch {
            violationCount += 1
            print("seed \(seed), command \(world.commandCount): \(error.text)")
            for line in world.lastTold { print("    \(line)") }
            if violationCount >= order.violationLimit { break }
        }
    }
    print(
        """
        \(order.seeds.count) states, \(snapshots.byteCount) bytes of snapshots with the digest \
        \(String(snapshots.digest, radix: 16)): \(violationCount) violations
        """)
    return violationCount == 0 ? 0 : 1
}
