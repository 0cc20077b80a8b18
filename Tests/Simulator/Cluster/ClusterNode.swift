import BelfryCenter
import BelfryCluster
import BelfryHistory
import SimulatedLog

/// A broker of a simulated cluster: a process that may die, stand still and begin again, on a machine with a clock.
final class ClusterNode {
    let number: Int
    var name: [UInt8] { [UInt8]("n\(number)") }
    /// The highest rules that its program knows.
    var level: UInt64 = 1
    var process: ClusterProcess?
    /// When a process that is not there begins; and until when one stands still.
    var startsAt: Int64 = 0
    var standsStillUntil: Int64 = 0
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

    /// What its clock shows.
    func time(at now: Int64) -> Int64 { now + now / 1_000_000 * drift + clockOffset }
}

/// One run of a broker, and the connections that it has.
final class ClusterProcess {
    let journal: SimulatedJournal
    let sequencer: ReplicatedSequencer
    var shard: Shard
    var effects = Effects()
    var connections: [UInt64: ClusterConnection] = [:]
    var requests: [CommandID: ClusterRequest] = [:]
    var lastConnection: UInt64 = 0
    /// How many steps of the entry that is applied have been taken.
    var stepCount = 0
    var steppedIndex: UInt64 = 0
    var judgedIndex: UInt64 = 0

    init(journal: SimulatedJournal, sequencer: ReplicatedSequencer, shard: Shard) {
        self.journal = journal
        self.sequencer = sequencer
        self.shard = shard
    }
}

/// A connection as its broker has it.
struct ClusterConnection {
    let program: Int
    /// Its client, when the log has said so.
    var client: UInt64?
    /// What was written to it and not yet read at its other end.
    var written: [ClusterFrame] = []
    /// How much of that was handed to the socket by the end of a turn: a kill within a turn loses the others.
    var handedCount = 0
    /// How far the broker was when the connection ended, if it has.
    var endedAt: UInt64?
}

/// What a program reads.
enum ClusterFrame {
    case notification(observer: UInt64, sequence: UInt64, isRedelivered: Bool)
    case gap(Gap)
}

/// What a process has asked the log for.
enum ClusterRequest {
    case connect(connection: UInt64)
    case resume(connection: UInt64)
    case post(ClusterPost, NotificationID)
    /// Nobody waits for it.
    case other
}

/// A post of a program, with all that was tried.
final class ClusterPost {
    let center: [UInt8]
    /// The identifiers of its attempts: a broker makes a new one each time.
    var ids: [NotificationID] = []
    let key: [UInt8]?
    var name: [UInt8] = []
    var options: PostOptions?
    /// Whether an attempt was answered as accepted.
    var isAnswered = false
    /// The number under which it was dispatched.
    var dispatchedAs: UInt64?
    /// The attempts that came to nothing, as was said.
    var refusedIDs: [NotificationID] = []
    /// The connection that it was posted on, and its place there, if its order counts.
    var line: (ClusterLine, place: Int)?

    init(center: [UInt8], key: [UInt8]?) {
        self.center = center
        self.key = key
    }
}

/// The posts of one connection, which are dispatched in their order.
final class ClusterLine {
    var count = 0
    /// The places that were dispatched, in that order.
    var dispatched: [Int] = []
}
