import BelfryCluster
import BelfryHistory
import SimulatedLog

/// A broker of a simulated cluster: a process that may die or pause, on a machine with a clock.
final class ClusterNode {
    let number: Int
    var name: [UInt8] { [UInt8]("n\(number)") }
    /// The highest rules that its program knows.
    var level: UInt64 = 1
    var process: ClusterProcess?
    /// The time when an absent process begins, and the end of a pause.
    var startsAt: Int64 = 0
    var standsStillUntil: Int64 = 0
    /// Until when a process dies again soon after it has begun, and begins again at once.
    var crashesUntil: Int64 = 0
    /// Whether all has been well with it since before its life began.
    var hasBeenWell = false
    /// Since when nothing of the engine and of the others gets through.
    var cutSince: Int64?
    var healsAt: Int64 = 0
    /// By how many millionths its clock is wrong, and by how much it has jumped.
    var drift: Int64
    var clockOffset: Int64

    init(number: Int, dice: inout Dice) {
        self.number = number
        drift = Int64(dice.below(200)) - 100
        clockOffset = Int64(dice.below(1_000_000)) * 1_000_000
    }

    /// Notes whether it runs, and the others can hear it.
    func noteHealth(at now: Int64) {
        guard let process, cutSince == nil, standsStillUntil <= now,
            process.journal.cutPeers.isEmpty
        else { return hasBeenWell = false }
        switch process.sequencer.stage {
        case .loading, .catchingUp: hasBeenWell = true
        // The others may know of its life before it does.
        case .comingUp, .up, .leaving, .left, .recovering, .stopped: break
        }
    }

    /// The time of its clock.
    func time(at now: Int64) -> Int64 { now + now / 1_000_000 * drift + clockOffset }
}
