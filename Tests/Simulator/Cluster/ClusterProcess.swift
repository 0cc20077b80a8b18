import BelfryCenter
import BelfryCluster
import SimulatedLog

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
    /// After how many happenings it dies.
    var restOfLife = Int.max

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
    /// Whether it is about to have another client.
    var isResuming = false
    /// Whether its broker has found that its program does not read, and not yet that it does.
    var isSlow = false
    /// The frames that were written to it and not yet read at its other end.
    var written: [ClusterFrame] = [] {
        didSet { handedCount = min(handedCount, written.count) }
    }
    /// The count of those that were handed to the socket at a turn's end; a kill loses the others.
    var handedCount = 0
    /// How far the broker was when the connection ended, if it has.
    var endedAt: UInt64?
}

/// A frame for a program.
enum ClusterFrame {
    /// An observer that acknowledges is asked with the entry of that index.
    case notification(
        observer: UInt64, sequence: UInt64, isRedelivered: Bool, askedAt: UInt64?)
    case gap(Gap)
}

/// A request of a process to the log.
enum ClusterRequest {
    case connect(connection: UInt64)
    case resume(connection: UInt64)
    case post(ClusterPost, NotificationID)
    case makeTicket(UInt64)
    case ticket(UInt64)
    case goOn(connection: UInt64, suspensionCount: Int)
    /// The request has no waiter.
    case other
}
